package inference

import (
	"fmt"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/braid-search/braid"
)

// Arena says where models keep the memory of their runs on the CPU between two
// runs.
type Arena string

const (
	// ArenaShared has all models share memory that grows to the largest runs and
	// stays: the default.
	ArenaShared Arena = "shared"
	// ArenaModel gives each model such memory of its own.
	ArenaModel Arena = "model"
	// ArenaOff gives memory back to the C library after each step of a run.
	ArenaOff Arena = "off"
)

// ParseArena reads the name of an arena; "" is the default.
func ParseArena(name string) (Arena, error) {
	switch a := Arena(strings.ToLower(name)); a {
	case "":
		return ArenaShared, nil
	case ArenaShared, ArenaModel, ArenaOff:
		return a, nil
	}
	return "", braid.Errorf(braid.InvalidArgument, "arena %q is unknown: use %s, %s or %s", name, ArenaShared, ArenaModel, ArenaOff)
}

// openArena prepares the environment for sessions that share memory.
func openArena(a Arena) error {
	if a != ArenaShared {
		return nil
	}
	where, err := ort.GetMemoryInfo()
	if err != nil {
		return fmt.Errorf("find the shared arena's memory: %w", err)
	}
	const asDefault = -1
	config, err := ort.NewArenaCfg(0, asDefault, asDefault, asDefault)
	if err != nil {
		return fmt.Errorf("configure the shared arena: %w", err)
	}
	defer config.Destroy()
	if err := ort.CreateAndRegisterAllocator(where, config); err != nil {
		return fmt.Errorf("make the shared arena: %w", err)
	}
	return nil
}

// apply makes a session's options follow a.
func (a Arena) apply(options *ort.SessionOptions) error {
	switch a {
	case ArenaShared:
		return options.AddSessionConfigEntry("session.use_env_allocators", "1")
	case ArenaOff:
		return options.SetCpuMemArena(false)
	}
	return nil
}
