package corpus

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/modelset"
)

const (
	// Dim is the number of components of a dense vector.
	Dim = 384
	// embedBatch is how many texts are embedded between two writes.
	embedBatch = 64
	// fewestWords is what a sentence has at least to be a text of its own.
	fewestWords = 6
)

// denseCollections hold the texts, in this order.
var denseCollections = []string{"scifact", "cppdocs-errors", "rustsec-ids", "nq-utd"}

// texts are what is embedded.
type texts struct {
	passages  []string // all documents of all collections
	sentences []string // of the passages, each once
	queries   []string // of all collections
	questions int      // how many queries are SciFact's: they come first
}

// readTexts reads the collections in folder.
func readTexts(folder string) (*texts, error) {
	var t texts
	seen := map[string]bool{}
	for _, name := range denseCollections {
		dataset, err := eval.Open(filepath.Join(folder, name), "")
		if err != nil {
			return nil, err
		}
		for doc, err := range dataset.Corpus() {
			if err != nil {
				return nil, err
			}
			passage := doc.Passage()
			t.passages = append(t.passages, passage)
			for _, sentence := range strings.Split(passage, ". ") {
				if sentence = strings.TrimSpace(sentence); !seen[sentence] && len(strings.Fields(sentence)) >= fewestWords {
					seen[sentence] = true
					t.sentences = append(t.sentences, sentence)
				}
			}
		}
		for _, q := range dataset.Queries {
			t.queries = append(t.queries, q.Text)
		}
		if name == denseCollections[0] {
			t.questions = len(t.queries)
		}
	}
	return &t, nil
}

// textSet is one list of texts and the file of its vectors.
type textSet struct {
	name  string
	texts []string
	role  inference.Role
}

func (t *texts) sets() []textSet {
	return []textSet{
		{"queries", t.queries, inference.RoleQuery},
		{"passages", t.passages, inference.RolePassage},
		{"sentences", t.sentences, inference.RolePassage},
	}
}

// path names the file after what its vectors were made of.
func (s textSet) path(folder string) string {
	sum := fnv.New64a()
	for _, text := range append([]string{denseModel, string(rune(s.role))}, s.texts...) {
		_, _ = io.WriteString(sum, text)
		_, _ = sum.Write([]byte{0})
	}
	return filepath.Join(folder, fmt.Sprintf("%s-%016x.f32", s.name, sum.Sum64()))
}

// embed makes the vectors that are not there yet. When ctx ends, what was made
// is kept and a later call goes on from there.
func (t *texts) embed(ctx context.Context, f Folder, folder string) (err error) {
	runtime, err := inference.Open(inference.Options{Library: filepath.Join(f.Root, ".local", "lib", "libonnxruntime.so")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	models, err := modelset.Load(runtime, filepath.Join(f.Root, ".local", "models"), modelset.Names{Dense: []string{denseModel}})
	if err != nil {
		return err
	}
	for _, s := range t.sets() {
		if err := s.embed(ctx, folder, models.Dense[0].Head, f.Log); err != nil {
			return fmt.Errorf("embed %s: %w", s.name, err)
		}
	}
	return nil
}

func (s textSet) embed(ctx context.Context, folder string, head *inference.Dense, log func(string, ...any)) error {
	path := s.path(folder)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // what counts is closed below
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	done := int(end / (4 * Dim))
	if _, err := file.Seek(int64(done)*4*Dim, io.SeekStart); err != nil {
		return err
	}
	for done < len(s.texts) {
		batch := s.texts[done:min(len(s.texts), done+embedBatch)]
		out, _, err := head.Embed(ctx, inference.Request{Texts: batch, Role: s.role, Lane: inference.LaneIngest})
		if err != nil {
			return err
		}
		buffer := make([]byte, 0, len(batch)*4*Dim)
		for _, e := range out {
			for _, x := range e.Vector {
				buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(x))
			}
		}
		if _, err := file.Write(buffer); err != nil {
			return err
		}
		done += len(batch)
		log("%s: %d of %d", s.name, done, len(s.texts))
	}
	return file.Close()
}

// Matrix is vectors of Dim components, one after the other.
type Matrix []float32

// Rows is the number of vectors.
func (m Matrix) Rows() int { return len(m) / Dim }

// Row is a vector of the matrix.
func (m Matrix) Row(i int) []float32 { return m[i*Dim:][:Dim:Dim] }

// Part is rows a to b-1.
func (m Matrix) Part(a, b int) Matrix { return m[a*Dim : b*Dim] }

// read returns the vectors of the set.
func (s textSet) read(folder string) (Matrix, error) {
	m, err := readMatrix(s.path(folder))
	if err == nil && m.Rows() != len(s.texts) {
		err = braid.Errorf(braid.NotFound, "%s: %d of %d vectors are made", s.path(folder), m.Rows(), len(s.texts))
	}
	return m, err
}

func readMatrix(path string) (Matrix, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	m := make(Matrix, info.Size()/4)
	if err := binary.Read(bufio.NewReaderSize(file, 1<<20), binary.LittleEndian, m); err != nil {
		return nil, fmt.Errorf("read vectors %s: %w", path, err)
	}
	return m, nil
}
