package postings

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/braid-search/braid/index/snapshot"
)

// Decode appends the terms of a record, each once, and their codes. It reports
// false for what is no record: then Score would fail. It may be called from
// several goroutines at once.
type Decode func(record []byte, terms []uint32, codes []uint8) (_ []uint32, _ []uint8, ok bool)

// pieceBytes is how long the arrays are that records are saved in, or longer by
// one record.
const pieceBytes = 64 << 20

// Save writes the live documents' records. It only reads the index.
//
// The form is the number of windows, and for each of them a bitset of the
// offsets of its documents and their records by ascending offset, each after
// its length as a varint, in pieces: their number, then the pieces.
func (x *Index) Save(w *snapshot.Writer) {
	w.Uint64(uint64(len(x.windows)))
	for _, win := range x.windows {
		if win == nil {
			win = &window{}
		}
		w.Uint64s(win.alive)
		pieces := win.pieces(pieceBytes)
		w.Uint64(uint64(len(pieces)))
		var piece []byte
		for _, offsets := range pieces {
			piece = piece[:0]
			for _, offset := range offsets {
				record := win.get(offset)
				piece = append(binary.AppendUvarint(piece, uint64(len(record))), record...)
			}
			w.Uint8s(piece)
		}
	}
}

// pieces divides the live documents so that the records of each part take about
// size bytes.
func (w *window) pieces(size int) [][]uint32 {
	var pieces [][]uint32
	room := 0
	for offset := range w.alive.all {
		if room <= 0 {
			pieces = append(pieces, nil)
			room = size
		}
		last := len(pieces) - 1
		pieces[last] = append(pieces[last], offset)
		room -= len(w.get(offset))
	}
	return pieces
}

// Load reads what Save has written, an index whose ordinals are all below end,
// and builds its lists. It fails with r's error, or with braid.Corrupt when
// what was read is not such an index.
func Load(r *snapshot.Reader, end uint64, decode Decode) (*Index, error) {
	x := New()
	var building sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var mu sync.Mutex // guards damaged
	damaged := -1     // a window that is not one
	windows := r.Uint64()
	if most := uint64(1) << (32 - x.bits); windows > most {
		r.Fail("%d windows of documents, at most %d are possible", windows, most)
	}
	for number := range windows {
		w := x.readWindow(r, number<<x.bits, end)
		if r.Err() != nil {
			break
		}
		x.windows = append(x.windows, w)
		if w == nil {
			continue
		}
		x.live += w.live
		places <- struct{}{}
		building.Go(func() {
			if !w.build(decode) {
				mu.Lock()
				damaged = int(number)
				mu.Unlock()
			}
			<-places
		})
	}
	building.Wait()
	if damaged >= 0 {
		r.Fail("window %d has a record that is none", damaged)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	x.filling = max(len(x.windows)-1, 0)
	return x, nil
}

// readWindow reads a window without its lists, nil if it is empty. Its first
// ordinal is first.
func (x *Index) readWindow(r *snapshot.Reader, first, end uint64) *window {
	w := &window{alive: r.Uint64s()}
	w.live = w.alive.count()
	length := w.alive.length()
	switch {
	case r.Err() != nil:
	case length > 1<<x.bits:
		r.Fail("a window of %d documents, at most %d are possible", length, 1<<x.bits)
	case length > 0 && first+uint64(length) > end:
		r.Fail("there is a document %d, want none from %d on", first+uint64(length)-1, end)
	}
	w.alive = w.alive[:(length+63)/64]
	for range r.Uint64() {
		if w.chunks = append(w.chunks, r.Uint8s()); r.Err() != nil {
			break
		}
	}
	if r.Err() != nil || !w.locate(length) {
		r.Fail("the records of documents %d to %d are not whole", first, first+uint64(length))
		return nil
	}
	if w.live == 0 {
		return nil
	}
	return w
}

// locate finds the records of all live documents in the chunks.
func (w *window) locate(length int) bool {
	w.at = make([]uint64, length)
	chunk, place := 0, 0
	for offset := range w.alive.all {
		if chunk < len(w.chunks) && place == len(w.chunks[chunk]) {
			chunk, place = chunk+1, 0
		}
		if chunk == len(w.chunks) || uint64(place) != uint64(uint32(place)) {
			return false
		}
		rest := w.chunks[chunk][place:]
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return false
		}
		w.at[offset] = 1 + uint64(chunk)<<32 + uint64(place)
		place += n + int(size)
	}
	return len(w.chunks) == 0 || chunk == len(w.chunks)-1 && place == len(w.chunks[chunk])
}

// length is one more than the largest offset, or 0.
func (b bitset) length() int {
	for i, word := range slices.Backward(b) {
		if word != 0 {
			return i*64 + bits.Len64(word)
		}
	}
	return 0
}

// build makes the lists of the records, all of which are live. It reports
// whether all of them are records.
func (w *window) build(decode Decode) bool {
	// Twice over all records: to count, and to put every posting in its place.
	var s slots
	var counts []int // by slot
	var terms []uint32
	var codes []uint8
	total := 0
	for offset := range w.alive.all {
		var ok bool
		if terms, codes, ok = decode(w.get(offset), terms[:0], codes[:0]); !ok {
			return false
		}
		for _, term := range terms {
			slot := s.take(term)
			if int(slot) == len(counts) {
				counts = append(counts, 0)
			}
			counts[slot]++
		}
		total += len(terms)
	}
	w.terms = slices.Clone(s.terms)
	slices.Sort(w.terms)
	w.ends = make([]int, len(w.terms))
	place := 0
	for i, term := range w.terms {
		slot, _ := s.find(term)
		place += counts[slot]
		w.ends[i] = place
		counts[slot] = place - counts[slot] // from now on, where its next posting goes
	}
	w.offsets, w.codes = make([]uint16, total), make([]uint8, total)
	for offset := range w.alive.all {
		terms, codes, _ = decode(w.get(offset), terms[:0], codes[:0])
		for i, term := range terms {
			slot, _ := s.find(term)
			place := counts[slot]
			w.offsets[place], w.codes[place] = uint16(offset), codes[i]
			counts[slot] = place + 1
		}
	}
	return true
}
