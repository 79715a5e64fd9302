// Package httpapi puts the search service on HTTP: routes, wire formats, limits
// and the mapping of errors to statuses.
//
// Every error has one shape, {"error": {"code", "message", "field",
// "request_id"}}, and every code one status (see Status). The routes of this
// project are strict: an unknown field is an error; those in the wire formats of
// others are not. Handlers hold no state of their own; the Server is safe for
// concurrent use.
//
// openapi.yaml describes every route and is served as it is. The tests hold each
// request they send, and its answer, to it.
//
// Client is the Go side of the same routes, used by the command line.
package httpapi
