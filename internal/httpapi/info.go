package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

func (s *Server) info(c *gin.Context) {
	info, err := s.opts.Info(c.Request.Context())
	if err != nil {
		fail(c, err)
		return
	}
	if err := s.tellCaller(c, &info); err != nil {
		fail(c, err)
		return
	}
	set := s.opts.Models
	info.Models = []Model{}
	info.Models = describe(info.Models, set.Dense)
	info.Models = describe(info.Models, set.Sparse)
	info.Models = describe(info.Models, set.Pair)
	info.teiInfo = teiInfo{MaxClientBatchSize: MaxInputs, AutoTruncate: true}
	if len(set.Dense) > 0 {
		m := set.Dense[0]
		info.ModelID, info.ModelSHA = m.Manifest.Name, m.Digest
		info.ModelType = map[string]any{"embedding": map[string]any{"pooling": m.Manifest.Pooling}}
		info.MaxInputLength = m.Manifest.MaxTokens
	}
	info.Limits = map[string]int{
		"documents_body_bytes": MaxDocumentsBody,
		"search_body_bytes":    MaxSearchBody,
		"model_body_bytes":     MaxModelBody,
		"inputs":               MaxInputs,
		"input_bytes":          MaxInputText,
		"query_bytes":          search.MaxQueryBytes,
		"id_bytes":             braid.MaxIDBytes,
		"title_bytes":          braid.MaxTitleBytes,
		"text_bytes":           braid.MaxTextBytes,
		"payload_bytes":        braid.MaxPayloadBytes,
		"limit":                search.MaxLimit,
		"candidates":           search.MaxCandidates,
		"rerank_depth":         search.MaxRerankDepth,
		"page":                 search.MaxPage,
		"filter_depth":         braid.MaxFilterDepth,
		"filter_clauses":       braid.MaxFilterClauses,
		"filter_values":        braid.MaxFilterValues,
	}
	c.PureJSON(http.StatusOK, info)
}

func describe[H any](list []Model, loaded []modelset.Loaded[H]) []Model {
	for i, l := range loaded {
		m := l.Manifest
		list = append(list, Model{
			Name: m.Name, Kind: m.Kind, Default: i == 0, Digest: l.Digest,
			Dimensions: m.Dimensions, MaxTokens: m.MaxTokens, Licence: m.Licence, Source: m.Source.Model,
		})
	}
	return list
}
