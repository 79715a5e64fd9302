package simd

import "unsafe"

// ahead is how many bytes before they are needed the rows of a matrix are asked
// for. The processor's own look-ahead ends with the page of 4 KiB; on the
// machine this was measured on (Zen 5), asking for what comes two pages later
// takes a tenth off the time of float32 rows and half off that of int8 rows.
const ahead = 8 << 10

// Dot returns the inner product of a and the first len(a) components of b. Of
// nothing it is 0.
func Dot(a, b []float32) float32 {
	if len(a) == 0 {
		return 0
	}
	_ = b[len(a)-1]
	return dot(&a[0], &b[0], len(a))
}

// DotBlock scores the consecutive rows of a matrix: out[i] is the inner product
// of query and row i. The matrix has at least len(out) rows of len(query)
// components, one after the other.
func DotBlock(query, matrix, out []float32) {
	dim := len(query)
	if dim == 0 || len(out) == 0 {
		clear(out)
		return
	}
	_ = matrix[len(out)*dim-1]
	var four [4]float32
	for len(out) >= 4 {
		if len(matrix) > ahead/4+4*dim {
			prefetch(unsafe.Pointer(&matrix[ahead/4]), 4*dim*4)
		}
		dot4(&query[0], &matrix[0], &matrix[dim], &matrix[2*dim], &matrix[3*dim], dim, &four)
		copy(out, four[:])
		out, matrix = out[4:], matrix[4*dim:]
	}
	for i := range out {
		out[i] = dot(&query[0], &matrix[i*dim], dim)
	}
}

// DotRows scores chosen rows of a matrix that lies in blocks of 1<<shift rows:
// out[i] is the inner product of query and row rows[i], which is row
// rows[i]&(1<<shift-1) of block rows[i]>>shift. A row has len(query)
// components. A matrix in one piece is a single block and shift 31.
//
// Four rows are read at a time, so that waiting for memory overlaps; fetching
// the next four beforehand as well was measured and gained nothing.
func DotRows(query []float32, blocks [][]float32, shift uint, rows []uint32, out []float32) {
	dim := len(query)
	if dim == 0 || len(rows) == 0 {
		clear(out[:len(rows)])
		return
	}
	_ = out[len(rows)-1]
	m := matrix{blocks: blocks, shift: shift, dim: dim}
	var four [4]float32
	for len(rows) >= 4 {
		dot4(&query[0], m.row(rows[0]), m.row(rows[1]), m.row(rows[2]), m.row(rows[3]), dim, &four)
		copy(out, four[:])
		out, rows = out[4:], rows[4:]
	}
	for i, r := range rows {
		out[i] = dot(&query[0], m.row(r), dim)
	}
}

// matrix finds the rows of a matrix in blocks.
type matrix struct {
	blocks [][]float32
	shift  uint
	dim    int
}

// row returns where row r begins; that all of it is there is checked.
func (m *matrix) row(r uint32) *float32 {
	at := int(r&(1<<m.shift-1)) * m.dim
	block := m.blocks[r>>m.shift]
	_ = block[at+m.dim-1]
	return &block[at]
}

// DotInt8 returns the inner product of a and the first len(a) components of b.
// It is exact for up to 131,071 components, and beyond as long as the product
// itself fits. Of nothing it is 0.
func DotInt8(a, b []int8) int32 {
	if len(a) == 0 {
		return 0
	}
	_ = b[len(a)-1]
	return dotInt8(&a[0], &b[0], len(a))
}

// DotInt8Block is DotBlock for int8, as exact as DotInt8.
func DotInt8Block(query, matrix []int8, out []int32) {
	dim := len(query)
	if dim == 0 || len(out) == 0 {
		clear(out)
		return
	}
	_ = matrix[len(out)*dim-1]
	var four [4]int32
	for len(out) >= 4 {
		if len(matrix) > ahead+4*dim {
			prefetch(unsafe.Pointer(&matrix[ahead]), 4*dim)
		}
		dot4Int8(&query[0], &matrix[0], &matrix[dim], &matrix[2*dim], &matrix[3*dim], dim, &four)
		copy(out, four[:])
		out, matrix = out[4:], matrix[4*dim:]
	}
	for i := range out {
		out[i] = dotInt8(&query[0], &matrix[i*dim], dim)
	}
}

// rowsAhead is how many rows before they are needed DotInt8Rows asks for them.
const rowsAhead = 32

// DotInt8Rows is DotRows for int8, as exact as DotInt8. Rows of int8 are short
// enough that asking for them beforehand pays: a tenth to a fifth of the time of
// rows scattered over 23 MB.
func DotInt8Rows(query []int8, blocks [][]int8, shift uint, rows []uint32, out []int32) {
	dim := len(query)
	if dim == 0 || len(rows) == 0 {
		clear(out[:len(rows)])
		return
	}
	_ = out[len(rows)-1]
	row := func(r uint32) *int8 {
		at := int(r&(1<<shift-1)) * dim
		block := blocks[r>>shift]
		_ = block[at+dim-1]
		return &block[at]
	}
	for _, r := range rows[:min(rowsAhead, len(rows))] {
		prefetch(unsafe.Pointer(row(r)), dim)
	}
	var four [4]int32
	for len(rows) >= 4 {
		if len(rows) >= rowsAhead+4 {
			for _, r := range rows[rowsAhead:][:4] {
				prefetch(unsafe.Pointer(row(r)), dim)
			}
		}
		dot4Int8(&query[0], row(rows[0]), row(rows[1]), row(rows[2]), row(rows[3]), dim, &four)
		copy(out, four[:])
		out, rows = out[4:], rows[4:]
	}
	for i, r := range rows {
		out[i] = dotInt8(&query[0], row(r), dim)
	}
}

// Prefetch asks for words to be brought near before they are read. It has no
// other effect.
func Prefetch(words []uint32) {
	if len(words) > 0 {
		prefetch(unsafe.Pointer(&words[0]), 4*len(words))
	}
}
