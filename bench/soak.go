package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Sample is the server's resident memory at one moment.
type Sample struct {
	Seconds  float64 `json:"s"`
	Resident float64 `json:"resident_mb"`
}

const (
	// mixClients is how many clients ask at the same time; mixRequests is how many
	// requests they share between two samples.
	mixClients  = 4
	mixRequests = 200
)

// soak asks for embeddings and reranks of mixed lengths and watches the server's
// memory.
func (r *run) soak(ctx context.Context) (err error) {
	s, err := startBraid(ctx, r.cfg, "data-servers", denseModel, "", pairModel)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	random := rand.New(rand.NewPCG(seed, 1))
	r.say("soak: %s of mixed lengths", r.cfg.SoakTime)
	for begun := time.Now(); time.Since(begun) < r.cfg.SoakTime; {
		if _, err := s.load(ctx, mixClients, r.mixed(random)); err != nil {
			return err
		}
		now, _, err := s.resident()
		if err != nil {
			return err
		}
		r.report.Soak = append(r.report.Soak, Sample{time.Since(begun).Seconds(), now})
	}
	return r.remember(s.process, "soak of mixed lengths", s.started.Seconds())
}

// mixed is requests of all kinds: single queries, lists of 1 to 32 passages, and
// reranks of 1 to 20.
func (r *run) mixed(random *rand.Rand) []request {
	requests := make([]request, mixRequests)
	for i := range requests {
		at := random.IntN(len(r.texts.passages))
		switch random.IntN(4) {
		case 0:
			list := r.texts.passages[at:min(at+1+random.IntN(32), len(r.texts.passages))]
			requests[i] = embeddings(list)
		case 1:
			requests[i] = rerankOf(r.texts.queries[0], r.texts.reranked[:1+random.IntN(rerankPassages)])
		default:
			requests[i] = embeddings(r.texts.prefixed[at%len(r.texts.prefixed):][:1])
		}
	}
	return requests
}
