package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search"
)

// Client speaks to a running server. It is safe for concurrent use. Errors of
// the server come back as *braid.Error with the server's code and text.
type Client struct {
	base string
	key  string
	http *http.Client
}

// NewClient returns a client of the server at base, for example
// "http://127.0.0.1:8080".
func NewClient(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, braid.Errorf(braid.InvalidArgument, "server address %q: want http://HOST:PORT", base)
	}
	return &Client{base: strings.TrimRight(base, "/"), http: &http.Client{}}, nil
}

// WithKey returns the client with an API key, "" for none.
func (c *Client) WithKey(key string) *Client {
	with := *c
	with.key = key
	return &with
}

// Create makes a collection or finds that it exists already.
func (c *Client) Create(ctx context.Context, name string) (index.Info, error) {
	var info index.Info
	return info, c.call(ctx, http.MethodPut, collectionPath(name), nil, &info)
}

// CreateWith makes the collection with these settings or finds that it is there with
// them.
func (c *Client) CreateWith(ctx context.Context, name string, settings search.Settings) (index.Info, error) {
	var info index.Info
	return info, c.call(ctx, http.MethodPut, collectionPath(name), settings, &info)
}

// Collection describes one collection.
func (c *Client) Collection(ctx context.Context, name string) (index.Info, error) {
	var info index.Info
	return info, c.call(ctx, http.MethodGet, collectionPath(name), nil, &info)
}

// Ingest stores documents; they must fit into one request (MaxDocumentsBody).
func (c *Client) Ingest(ctx context.Context, name string, docs []braid.Document) (search.IngestResult, error) {
	var result search.IngestResult
	return result, c.call(ctx, http.MethodPost, collectionPath(name)+"/documents", docs, &result)
}

// Search answers one query.
func (c *Client) Search(ctx context.Context, name string, req search.Request) (*search.Response, error) {
	var answer search.Response
	if err := c.call(ctx, http.MethodPost, collectionPath(name)+"/search", req, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

// Profile returns the search defaults of a collection.
func (c *Client) Profile(ctx context.Context, name string) (search.VersionedProfile, error) {
	var p search.VersionedProfile
	return p, c.call(ctx, http.MethodGet, collectionPath(name)+"/profile", nil, &p)
}

// SetProfile replaces the search defaults of a collection.
func (c *Client) SetProfile(ctx context.Context, name string, profile search.Profile) (search.VersionedProfile, error) {
	var p search.VersionedProfile
	return p, c.call(ctx, http.MethodPut, collectionPath(name)+"/profile", profile, &p)
}

// ClearProfile leaves a collection without search defaults of its own.
func (c *Client) ClearProfile(ctx context.Context, name string) (search.VersionedProfile, error) {
	var p search.VersionedProfile
	return p, c.call(ctx, http.MethodDelete, collectionPath(name)+"/profile", nil, &p)
}

// Info says what the server runs.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	return info, c.call(ctx, http.MethodGet, "/info", nil, &info)
}

// Snapshot writes a snapshot of the server's data folder to w.
func (c *Client) Snapshot(ctx context.Context, w io.Writer) error {
	resp, err := c.do(ctx, http.MethodGet, "/v1/snapshot", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if _, err := io.Copy(w, resp.Body); err != nil {
		return braid.Errorf(braid.CodeOf(err), "GET /v1/snapshot: the answer ends early: %w", err)
	}
	return nil
}

// Close drops idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

func collectionPath(name string) string { return "/v1/collections/" + url.PathEscape(name) }

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var payload io.Reader
	if in != nil {
		var data bytes.Buffer
		e := json.NewEncoder(&data)
		e.SetEscapeHTML(false) // payloads are sent as they are
		if err := e.Encode(in); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		payload = &data
	}
	resp, err := c.do(ctx, method, path, payload)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return braid.Errorf(braid.Internal, "%s %s: the answer is not the JSON expected: %w", method, path, err)
	}
	return nil
}

// do sends a request and returns an answer that is none of an error; the caller
// closes its body.
func (c *Client) do(ctx context.Context, method, path string, payload io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, ctx.Err())
		}
		return nil, braid.Errorf(braid.Unavailable, "no answer from %s: %w: is the server running?", c.base, errors.Unwrap(err))
	}
	if resp.StatusCode >= 300 {
		defer func() { _ = resp.Body.Close() }() // it was only read
		return nil, remoteError(resp)
	}
	return resp, nil
}

// remoteError turns an error answer back into the error it was made of.
func remoteError(resp *http.Response) error {
	var shape errorBody
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxSearchBody))
	if err == nil {
		err = json.Unmarshal(data, &shape)
	}
	if err != nil || shape.Error.Code == "" {
		return braid.Errorf(braid.Unavailable, "%s answered %s, which is not an answer of braid: is this its address?", resp.Request.URL, resp.Status)
	}
	return &braid.Error{Code: shape.Error.Code, Message: shape.Error.Message, Field: shape.Error.Field}
}
