package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/braid-search/braid/internal/httpapi"
)

// soakClient sends questions in good and in bad ways, one after the other.
type soakClient struct {
	base   string
	http   *http.Client
	rng    *rand.Rand
	truths *truths
	// huge is held by the one client that sends a body over the largest limit:
	// sixteen at once would test the machine's memory.
	huge *sync.Mutex
	// outcomes counts what happened, by delivery and status.
	outcomes map[string]int
}

// delivery is a way to send a question. It returns what happened, for the
// counts, and an error when that is wrong.
type delivery struct {
	name   string
	weight int
	send   func(c *soakClient, ctx context.Context, q question) (string, error)
}

func deliveries() []delivery {
	return []delivery{
		{"whole", 60, (*soakClient).whole},
		{"cancelled", 12, (*soakClient).cancelled},
		{"slow body", 6, (*soakClient).slowBody},
		{"half closed", 6, (*soakClient).halfClosed},
		{"cut short", 4, (*soakClient).cutShort},
		{"dropped", 4, (*soakClient).dropped},
		{"malformed", 4, (*soakClient).malformed},
		{"oversize", 3, (*soakClient).oversize},
		{"huge", 1, (*soakClient).oversizeHuge},
	}
}

// run sends until ctx ends and returns the first wrong answer.
func (c *soakClient) run(ctx context.Context) error {
	var turns []delivery
	for _, d := range deliveries() {
		for range d.weight {
			turns = append(turns, d)
		}
	}
	defer c.http.CloseIdleConnections()
	for ctx.Err() == nil {
		d, q := turns[c.rng.IntN(len(turns))], c.truths.ask(c.rng, 6)
		outcome, err := d.send(c, ctx, q)
		if ctx.Err() != nil {
			return nil // the end of the soak cut this one off
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", d.name, q.path, err)
		}
		c.outcomes[d.name+": "+outcome]++
	}
	return nil
}

func (c *soakClient) post(ctx context.Context, path string, body io.Reader) (int, []byte, error) {
	return send(ctx, c.http, http.MethodPost, c.base+path, body)
}

// whole is how a request should be sent.
func (c *soakClient) whole(ctx context.Context, q question) (string, error) {
	status, answer, err := c.post(ctx, q.path, bytes.NewReader(q.body))
	if err != nil {
		return "", err
	}
	return right(q, status, answer)
}

// right wants the right answer or an honest refusal of a full queue.
func right(q question, status int, answer []byte) (string, error) {
	switch status {
	case http.StatusOK:
		return "200", q.check(answer)
	case http.StatusTooManyRequests:
		return "429", nil
	}
	return "", fmt.Errorf("status %d: %s", status, answer)
}

// cancelled gives up within the time that answers take.
func (c *soakClient) cancelled(ctx context.Context, q question) (string, error) {
	patience, cancel := context.WithTimeout(ctx, time.Duration(c.rng.IntN(60))*time.Millisecond)
	defer cancel()
	status, answer, err := c.post(patience, q.path, bytes.NewReader(q.body))
	if err != nil && patience.Err() != nil {
		return "gave up", nil
	}
	if err != nil {
		return "", err
	}
	return right(q, status, answer)
}

// slowBody takes its time, and is answered.
func (c *soakClient) slowBody(ctx context.Context, q question) (string, error) {
	read, write := io.Pipe()
	var writer sync.WaitGroup
	writer.Go(func() {
		rest := q.body
		for len(rest) > 0 {
			n := min(1+len(q.body)/5, len(rest))
			if _, err := write.Write(rest[:n]); err != nil {
				return // the request ended first
			}
			rest = rest[n:]
			time.Sleep(30 * time.Millisecond)
		}
		_ = write.Close() // never fails
	})
	status, answer, err := c.post(ctx, q.path, read)
	_ = read.Close() // never fails; ends the writer if it still writes
	writer.Wait()
	if err != nil {
		return "", err
	}
	return right(q, status, answer)
}

// raw opens a connection and writes the request with the first n bytes of its
// body.
func (c *soakClient) raw(ctx context.Context, q question, n int) (*net.TCPConn, error) {
	address := strings.TrimPrefix(c.base, "http://")
	// To the end although the soak may be over: that is no fault of the server.
	conn, err := (&net.Dialer{}).DialContext(context.WithoutCancel(ctx), "tcp", address)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", q.path, address, len(q.body))
	if _, err := conn.Write(append([]byte(head), q.body[:n]...)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	tcp, _ := conn.(*net.TCPConn)
	return tcp, nil
}

// answerOn closes the writing half and reads what comes.
func answerOn(conn *net.TCPConn) (int, []byte, error) {
	if err := conn.CloseWrite(); err != nil {
		return 0, nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// halfClosed says that nothing more will come. The server may take that for
// the client's end, but what it answers must be right.
func (c *soakClient) halfClosed(ctx context.Context, q question) (string, error) {
	conn, err := c.raw(ctx, q, len(q.body))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	status, answer, err := answerOn(conn)
	switch {
	case err != nil:
		return "no answer", nil
	case status == http.StatusOK:
		return "200", q.check(answer)
	}
	return fmt.Sprint(status), nil
}

// cutShort ends in the middle of its body.
func (c *soakClient) cutShort(ctx context.Context, q question) (string, error) {
	conn, err := c.raw(ctx, q, c.rng.IntN(len(q.body)))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	status, answer, err := answerOn(conn)
	switch {
	case err != nil:
		return "no answer", nil
	case status != http.StatusBadRequest:
		return "", fmt.Errorf("status %d for half a body: %s", status, answer)
	}
	return "400", nil
}

// dropped resets the connection at any point of the request or the answer.
func (c *soakClient) dropped(ctx context.Context, q question) (string, error) {
	conn, err := c.raw(ctx, q, c.rng.IntN(len(q.body)+1))
	if err != nil {
		return "", err
	}
	time.Sleep(time.Duration(c.rng.IntN(40)) * time.Millisecond)
	return "reset", errors.Join(conn.SetLinger(0), conn.Close())
}

// malformed is JSON that breaks off.
func (c *soakClient) malformed(ctx context.Context, q question) (string, error) {
	status, answer, err := c.post(ctx, q.path, bytes.NewReader(q.body[:1+c.rng.IntN(len(q.body)-1)]))
	if err == nil && status != http.StatusBadRequest {
		err = fmt.Errorf("status %d for broken JSON: %s", status, answer)
	}
	return "400", err
}

// oversize is over the limit of the routes with small bodies.
func (c *soakClient) oversize(ctx context.Context, _ question) (string, error) {
	return c.tooLarge(ctx, "/v1/collections/soak/search", httpapi.MaxSearchBody)
}

// oversizeHuge is over the limit of the routes with large ones.
func (c *soakClient) oversizeHuge(ctx context.Context, _ question) (string, error) {
	if !c.huge.TryLock() {
		return "left out", nil
	}
	defer c.huge.Unlock()
	return c.tooLarge(ctx, "/embed", httpapi.MaxModelBody)
}

// tooLarge sends more than limit bytes. The server need not read them all: that
// it hangs up while they are written is right too.
func (c *soakClient) tooLarge(ctx context.Context, path string, limit int64) (string, error) {
	body := io.MultiReader(strings.NewReader(`{"inputs": "`), io.LimitReader(letters{}, limit))
	status, answer, err := c.post(ctx, path, body)
	switch {
	case err != nil:
		return "hung up on", nil
	case status != http.StatusRequestEntityTooLarge:
		return "", fmt.Errorf("status %d for more than %d bytes: %s", status, limit, answer)
	}
	return "413", nil
}

// letters never ends.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
