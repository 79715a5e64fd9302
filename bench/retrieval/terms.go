package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/braid-search/braid/index/lexical"
)

// termFiles writes what the peers index: for tantivy a line of terms a passage,
// for bm25s the arrays that its index consists of, computed as its method
// "lucene" does, since its own way of making them takes more memory than there
// is for a million passages.
type termFiles struct {
	folder  string
	file    *os.File
	lines   *bufio.Writer
	numbers map[string]uint32
	terms   []uint32 // of all passages, each once a passage
	counts  []uint16 // how often it is there
	ends    []int    // of each passage's terms
	lengths []float64
}

const (
	linesFile   = "terms.txt"
	bm25sFolder = "bm25s"
)

func newTermFiles(folder string) (*termFiles, error) {
	file, err := os.Create(filepath.Join(folder, linesFile))
	if err != nil {
		return nil, err
	}
	return &termFiles{folder: folder, file: file, lines: bufio.NewWriterSize(file, 1<<20), numbers: map[string]uint32{}}, nil
}

func (f *termFiles) add(terms []lexical.Term) {
	var numbers []uint32
	length := 0
	for i, t := range terms {
		if i > 0 {
			_ = f.lines.WriteByte(' ') // the writer keeps its error
		}
		_, _ = f.lines.WriteString(t.Text)
		n, ok := f.numbers[t.Text]
		if !ok {
			n = uint32(len(f.numbers))
			f.numbers[t.Text] = n
		}
		numbers = append(numbers, n)
		if t.Kind == lexical.Word || t.Kind == lexical.Whole { // what BM25 in braid counts
			length++
		}
	}
	_ = f.lines.WriteByte('\n')
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && n == numbers[i-1] {
			f.counts[len(f.counts)-1]++
			continue
		}
		f.terms, f.counts = append(f.terms, n), append(f.counts, 1)
	}
	f.ends = append(f.ends, len(f.terms))
	f.lengths = append(f.lengths, float64(length))
}

// close writes the arrays.
func (f *termFiles) close() error {
	if err := errors.Join(f.lines.Flush(), f.file.Close()); err != nil {
		return err
	}
	starts := make([]int32, len(f.numbers)+1)
	for _, t := range f.terms {
		starts[t+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	var total float64
	for _, length := range f.lengths {
		total += length
	}
	n := float64(len(f.lengths))
	next := slices.Clone(starts)
	passages, scores := make([]int32, len(f.terms)), make([]float32, len(f.terms))
	first := 0
	for passage, end := range f.ends {
		norm := lexical.DefaultK1 * (1 - lexical.DefaultB + lexical.DefaultB*f.lengths[passage]*n/total)
		for i := first; i < end; i++ {
			t, tf := f.terms[i], float64(f.counts[i])
			holders := float64(starts[t+1] - starts[t])
			idf := math.Log1p((n - holders + 0.5) / (holders + 0.5))
			passages[next[t]], scores[next[t]] = int32(passage), float32(idf*tf/(tf+norm))
			next[t]++
		}
		first = end
	}
	folder := filepath.Join(f.folder, bm25sFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	vocabulary, err := json.Marshal(f.numbers)
	if err != nil {
		return err
	}
	parameters, err := json.Marshal(map[string]any{
		"k1": lexical.DefaultK1, "b": lexical.DefaultB, "delta": 0.5, "method": "lucene", "idf_method": "lucene",
		"dtype": "float32", "int_dtype": "int32", "num_docs": len(f.lengths), "version": "0.3.16", "backend": "numba",
	})
	if err != nil {
		return err
	}
	return errors.Join(
		writeArray(filepath.Join(folder, "data.csc.index.npy"), "<f4", scores),
		writeArray(filepath.Join(folder, "indices.csc.index.npy"), "<i4", passages),
		writeArray(filepath.Join(folder, "indptr.csc.index.npy"), "<i4", starts),
		os.WriteFile(filepath.Join(folder, "vocab.index.json"), vocabulary, 0o644),
		os.WriteFile(filepath.Join(folder, "params.index.json"), parameters, 0o644),
	)
}

// writeArray writes values in the format of NumPy's .npy files, version 1.
func writeArray[T int32 | float32](path, kind string, values []T) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", kind, len(values))
	const magic = "\x93NUMPY\x01\x00"
	for (len(magic)+2+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	_, _ = w.WriteString(magic) // w keeps its error
	_ = binary.Write(w, binary.LittleEndian, uint16(len(header)))
	_, _ = w.WriteString(header)
	_ = binary.Write(w, binary.LittleEndian, values)
	return errors.Join(w.Flush(), file.Close())
}
