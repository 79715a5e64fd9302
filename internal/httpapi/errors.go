package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
)

// statusClientClosedRequest is the de-facto status (from nginx) for a caller
// that went away; nobody reads it but the log.
const statusClientClosedRequest = 499

// Status returns the HTTP status of an error code.
func Status(code braid.Code) int {
	switch code {
	case braid.InvalidArgument:
		return http.StatusBadRequest
	case braid.TooLarge:
		return http.StatusRequestEntityTooLarge
	case braid.Unauthenticated:
		return http.StatusUnauthorized
	case braid.Forbidden:
		return http.StatusForbidden
	case braid.NotFound:
		return http.StatusNotFound
	case braid.Conflict:
		return http.StatusConflict
	case braid.Overloaded:
		return http.StatusTooManyRequests
	case braid.Unavailable:
		return http.StatusServiceUnavailable
	case braid.DeadlineExceeded:
		return http.StatusGatewayTimeout
	case braid.Canceled:
		return statusClientClosedRequest
	case braid.StorageFull:
		return http.StatusInsufficientStorage
	}
	// Corrupt and Internal: nothing the caller can do differently.
	return http.StatusInternalServerError
}

// errorBody is the one shape of an error.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    braid.Code `json:"code"`
	Message string     `json:"message"`
	Field   string     `json:"field,omitempty"`
	// Stored is how many documents of the request are stored all the same.
	Stored    *int   `json:"stored,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// fail answers with err and leaves it in the context for the request log.
func fail(c *gin.Context, err error) {
	_ = c.Error(err)
	failWith(c, Status(braid.CodeOf(err)), err)
}

// failStored is fail for a request of which some documents are stored.
func failStored(c *gin.Context, err error, stored int) {
	_ = c.Error(err)
	detail := describeError(c, err)
	detail.Stored = &stored
	c.AbortWithStatusJSON(Status(detail.Code), errorBody{detail})
}

// maxRetryAfter bounds what a client is told to wait: the pace may pick up.
const maxRetryAfter = time.Minute

// retryAfter is when a refused request is likely to be admitted, in seconds.
func retryAfter(err error) int {
	wait := time.Second
	var full *inference.QueueFull
	if errors.As(err, &full) {
		wait = min(max(wait, full.Wait), maxRetryAfter)
	}
	return int(math.Ceil(wait.Seconds()))
}

func failWith(c *gin.Context, status int, err error) {
	c.AbortWithStatusJSON(status, errorBody{describeError(c, err)})
}

// describeError is what the client sees of err; it sets Retry-After.
func describeError(c *gin.Context, err error) errorDetail {
	shown := braid.Public(err)
	if shown.Code == braid.Overloaded {
		c.Header("Retry-After", strconv.Itoa(retryAfter(err)))
	}
	return errorDetail{Code: shown.Code, Message: shown.Message, Field: shown.Field, RequestID: requestID(c)}
}
