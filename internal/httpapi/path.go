package httpapi

import (
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
)

// collapseSlashes makes one slash of several, which some clients send when they
// join a base URL and a path; it returns u itself when there are none. Nothing
// else is cleaned: "." and ".." are never resolved, so that no request is for
// another resource than the one named.
func collapseSlashes(u *url.URL) *url.URL {
	escaped := u.EscapedPath()
	if !strings.Contains(escaped, "//") {
		return u
	}
	for strings.Contains(escaped, "//") {
		escaped = strings.ReplaceAll(escaped, "//", "/")
	}
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return u // no route will match it
	}
	collapsed := *u
	collapsed.Path = path
	if u.RawPath != "" {
		collapsed.RawPath = escaped
	}
	return &collapsed
}

// unescape makes the path parameters what the client meant by them.
func unescape(c *gin.Context) {
	if c.Request.URL.RawPath == "" {
		return // net/url has done it
	}
	for i, p := range c.Params {
		value, err := url.PathUnescape(p.Value)
		if err != nil {
			fail(c, braid.Errorf(braid.InvalidArgument, "path parameter %q: %w", p.Value, err).In(p.Key))
			return
		}
		c.Params[i].Value = value
	}
}
