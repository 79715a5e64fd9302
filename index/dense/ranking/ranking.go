package ranking

import "math"

// Scored is an ordinal with its score as one number: the greater, the better, and
// among equal scores the lower ordinal. The upper half is the score, made
// comparable as an unsigned integer, the lower half the ordinal's complement.
type Scored uint64

// New returns ord with its score, which is a number.
func New(score float32, ord uint32) Scored {
	bits := math.Float32bits(score)
	if bits>>31 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 31
	}
	return Scored(bits)<<32 | Scored(^ord)
}

// Ord is the ordinal.
func (s Scored) Ord() uint32 { return ^uint32(s) }

// Score is the score, to the bit.
func (s Scored) Score() float32 {
	bits := uint32(s >> 32)
	if bits>>31 != 0 {
		bits &^= 1 << 31
	} else {
		bits = ^bits
	}
	return math.Float32frombits(bits)
}

// Best is a heap with the best at its root.
type Best []Scored

// Push adds x.
func (h *Best) Push(x Scored) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent] >= x {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = x
}

// Pop removes the root of a heap that is not empty.
func (h *Best) Pop() Scored {
	s := *h
	root, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return root
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1] > s[child] {
			child++
		}
		if s[child] <= last {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
	return root
}

// Worst is a heap with the worst at its root.
type Worst []Scored

// Push adds x.
func (h *Worst) Push(x Scored) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent] <= x {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = x
}

// Replace puts x in place of the root of a heap that is not empty.
func (h Worst) Replace(x Scored) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[child] >= x {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}

// Pop removes the root of a heap that is not empty.
func (h *Worst) Pop() {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	if last > 0 {
		h.Replace(x)
	}
}
