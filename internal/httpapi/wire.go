package httpapi

import (
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// Info is the answer of /info: what is running, with which models, on what.
type Info struct {
	Version string           `json:"version"`
	Models  map[string]Model `json:"models"` // by role: dense, sparse, reranker
	Runtime inference.Info   `json:"runtime"`
	Limits  map[string]int   `json:"limits"`
	Uptime  float64          `json:"uptime_s"`
	Data    DataFolder       `json:"data"`
}

// Model is where a loaded model comes from; Runtime.Models says how it runs.
type Model struct {
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Licence string `json:"licence"`
	Source  string `json:"source"`
}

// DataFolder counts what is stored.
type DataFolder struct {
	Collections int `json:"collections"`
	Documents   int `json:"documents"`
}

// collectionList is the answer of GET /v1/collections.
type collectionList struct {
	Collections []index.Info `json:"collections"`
}

// deleted is the answer of the DELETE routes.
type deleted struct {
	Deleted string `json:"deleted"`
}
