package httpapi

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid/inference"
)

// cost is what a request to a model route took.
type cost struct {
	begun      time.Time
	timing     inference.Timing
	characters int
	tokens     int
	truncated  int // texts cut to fit the model
}

func (k *cost) count(list []string) {
	for _, text := range list {
		k.characters += utf8.RuneCountInString(text)
	}
}

func (k *cost) use(u inference.Usage) {
	k.tokens += u.Tokens
	if u.Truncated {
		k.truncated++
	}
}

// tell leaves the cost for the log and puts it into the headers: Server-Timing (milliseconds, W3C) and
// those of text-embeddings-inference (whole milliseconds).
func (k *cost) tell(c *gin.Context) {
	c.Set(spentKey, spent{tokens: k.tokens, queue: k.timing.Queue})
	total := time.Since(k.begun)
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	c.Header("Server-Timing", fmt.Sprintf("tokenise;dur=%.3f, queue;dur=%.3f, compute;dur=%.3f, total;dur=%.3f",
		milliseconds(k.timing.Tokenise), milliseconds(k.timing.Queue), milliseconds(k.timing.Compute), milliseconds(total)))
	c.Header("X-Compute-Characters", strconv.Itoa(k.characters))
	c.Header("X-Compute-Tokens", strconv.Itoa(k.tokens))
	c.Header("X-Compute-Truncated", strconv.Itoa(k.truncated))
	c.Header("X-Total-Time", ms(total))
	c.Header("X-Tokenization-Time", ms(k.timing.Tokenise))
	c.Header("X-Queue-Time", ms(k.timing.Queue))
	c.Header("X-Inference-Time", ms(k.timing.Compute))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
