package httpapi

import (
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
)

// Info is the answer of /info: what is running, with which models, on what. The
// caller of New gives Version, Runtime, Uptime and Data; the server adds the rest.
type Info struct {
	Version string         `json:"version"`
	Models  []Model        `json:"models"`
	Runtime inference.Info `json:"runtime"`
	Limits  map[string]int `json:"limits"`
	Uptime  float64        `json:"uptime_s"`
	Data    DataFolder     `json:"data"`
	teiInfo
}

// Model is a loaded model.
type Model struct {
	Name       string      `json:"name"`
	Kind       models.Kind `json:"kind"`
	Default    bool        `json:"default"` // of its kind
	Digest     string      `json:"digest"`
	Dimensions int         `json:"dimensions,omitempty"`
	MaxTokens  int         `json:"max_tokens"`
	Licence    string      `json:"licence"`
	Source     string      `json:"source"`
}

// teiInfo are the fields that clients of text-embeddings-inference read. They
// speak of the default dense model; that server has one model only.
type teiInfo struct {
	ModelID            string         `json:"model_id,omitempty"`
	ModelSHA           string         `json:"model_sha,omitempty"`
	ModelType          map[string]any `json:"model_type,omitempty"`
	MaxInputLength     int            `json:"max_input_length,omitempty"`
	MaxClientBatchSize int            `json:"max_client_batch_size"`
	AutoTruncate       bool           `json:"auto_truncate"`
}

// DataFolder counts what is stored.
type DataFolder struct {
	Collections int `json:"collections"`
	Documents   int `json:"documents"`
	// LostCommits is how many acknowledged writes the folder had lost when it was
	// opened; above 0 the log says which.
	LostCommits uint64 `json:"lost_commits"`
}

// collectionList is the answer of GET /v1/collections.
type collectionList struct {
	Collections []index.Info `json:"collections"`
}

// counted is the answer of the count route.
type counted struct {
	Count int `json:"count"`
}

// deletedCount is the answer of the route that deletes by filter.
type deletedCount struct {
	Deleted int `json:"deleted"`
}

// deleted is the answer of the DELETE routes.
type deleted struct {
	Deleted string `json:"deleted"`
}
