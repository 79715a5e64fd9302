package main

import (
	"log/slog"

	"github.com/braid-search/braid/inference"
)

// logFallbacks says which models run on the CPU though a GPU was wanted, and why.
func logFallbacks(log *slog.Logger, info inference.Info) {
	if info.Fallback != "" {
		log.Info("models run on the CPU", "why", info.Fallback)
	}
	for _, m := range info.Models {
		switch {
		case m.Fallback != "":
			log.Warn("model runs on the CPU", "model", m.Name, "why", m.Fallback)
		case m.CPUNodes > 0:
			log.Info("a part of the model runs on the CPU", "model", m.Name, "nodes", m.CPUNodes)
		}
	}
}
