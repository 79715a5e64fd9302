package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// key names what was asked.
type key struct {
	Stage string `json:"stage"`
	Row   string `json:"row"`
	Set   string `json:"set"`
	Query string `json:"query"` // its id
}

// observation is one search.
type observation struct {
	key
	IDs      []string          `json:"ids"` // of the first ten documents
	MS       float64           `json:"ms"`
	Reranked int               `json:"reranked"` // pairs that the cross-encoder scored
	Tokens   float64           `json:"tokens"`   // that it read
	Syntax   search.QueryUsage `json:"syntax"`
}

// answers are observations; those of measureAll are in a file, too.
type answers struct {
	all     []observation
	asked   map[key]bool
	file    *os.File // nil: none
	program string   // digest of the program
}

// openAnswers reads what the program that is measured was asked before.
func (p *program) openAnswers() (*answers, error) {
	program := p.cfg.Program
	if program == "" {
		program = filepath.Join("bin", "braid")
	}
	digest, err := digestOf(program)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(p.cfg.Scratch(p.folder), "answers-"+digest+".jsonl")
	a := &answers{asked: map[key]bool{}, program: digest}
	if err := a.read(path); err != nil {
		return nil, err
	}
	if len(a.all) > 0 {
		p.say("%d answers are in %s already", len(a.all), path)
	}
	a.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return a, err
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)[:6]), nil
}

// read reads a file of observations. What a stopped run left of a last line is cut
// off.
func (a *answers) read(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var whole int64
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return file.Truncate(whole)
		}
		if err != nil {
			return err
		}
		whole += int64(len(line))
		var o observation
		if err := json.Unmarshal(line, &o); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.all, a.asked[o.key] = append(a.all, o), true
	}
}

// add keeps what was not asked before.
func (a *answers) add(list []observation) error {
	for _, o := range list {
		if a.asked[o.key] {
			continue
		}
		a.all, a.asked[o.key] = append(a.all, o), true
		if a.file == nil {
			continue
		}
		data, err := json.Marshal(o)
		if err != nil {
			return err
		}
		if _, err := a.file.Write(append(data, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (a *answers) close() error { return a.file.Close() }

// rounds asks the first queries of each set, at most most, in every way of the stage:
// the first of all sets, then the second of all. It ends after the round in which
// until, if it is not zero, has passed.
func (p *program) rounds(ctx context.Context, s stage, most int, until time.Time, kept *answers) error {
	if err := p.warm(ctx, s); err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(seed, 2))
	for i := range most {
		if !until.IsZero() && time.Now().After(until) {
			p.say("%s: %d queries of each set", s.name, i)
			return nil
		}
		for _, from := range p.sets {
			if i >= len(from.Queries) {
				continue
			}
			if err := p.askAll(ctx, s, from, i, order, kept); err != nil {
				return err
			}
		}
		if i%10 == 9 {
			p.say("%s: %d queries of each set", s.name, i+1)
		}
	}
	return nil
}

// warm asks a query of each set in all ways, as what comes first takes longer.
func (p *program) warm(ctx context.Context, s stage) error {
	none := &answers{asked: map[key]bool{}}
	for _, from := range p.sets {
		if err := p.askAll(ctx, s, from, len(from.Queries)-1, rand.New(rand.NewPCG(seed, 3)), none); err != nil {
			return err
		}
	}
	return nil
}

// attempts is how often a query is asked before a run gives up: a machine that stands
// still for other work lets answers run into the server's deadline.
const attempts = 5

// askAll asks the i-th query of a set in all ways of a stage, in random order. Its
// answers are kept together or not at all, since their times are compared.
func (p *program) askAll(ctx context.Context, s stage, from set, i int, order *rand.Rand, kept *answers) error {
	for n := 1; ; n++ {
		list, err := p.askOnce(ctx, s, from, i, order, kept)
		if err == nil {
			return kept.add(list)
		}
		if n == attempts || braid.CodeOf(err) != braid.DeadlineExceeded || ctx.Err() != nil {
			return err
		}
		p.say("asked again: %v", err)
	}
}

func (p *program) askOnce(ctx context.Context, s stage, from set, i int, order *rand.Rand, kept *answers) ([]observation, error) {
	q := from.Queries[i]
	var list []observation
	for _, j := range order.Perm(len(s.rows)) {
		k := key{s.name, s.rows[j].name, from.name, q.ID}
		if kept.asked[k] {
			continue
		}
		o, err := p.ask(ctx, k, from.collection(), s.request(s.rows[j], q.Text))
		if err != nil {
			return nil, fmt.Errorf("%s, %s: query %q of %s: %w", s.name, k.Row, q.ID, from.name, err)
		}
		list = append(list, o)
	}
	return list, nil
}

func (p *program) ask(ctx context.Context, k key, collection string, req search.Request) (observation, error) {
	answer, ms, err := p.server.Ask(ctx, collection, req)
	if err != nil {
		return observation{}, err
	}
	if len(answer.Degraded) > 0 {
		d := answer.Degraded[0]
		return observation{}, braid.Errorf(d.Code, "answered without %s: %s", d.Stage, d.Message)
	}
	o := observation{key: k, MS: ms, Reranked: answer.Reranked, Syntax: answer.Query}
	for _, h := range answer.Hits {
		o.IDs = append(o.IDs, h.ID)
	}
	if answer.Reranked > 0 {
		before := p.tokens
		if p.tokens, err = p.server.TokensRead(ctx); err != nil {
			return observation{}, err
		}
		o.Tokens = p.tokens - before
	}
	return o, nil
}
