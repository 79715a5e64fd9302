package hnsw

import "math"

// scored is a node with its score as one number: the greater, the better, and
// among equal scores the lower node. The upper half is the score, made
// comparable as an unsigned integer, the lower half the node's complement.
type scored uint64

func newScored(score float32, node uint32) scored {
	bits := math.Float32bits(score)
	if bits>>31 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 31
	}
	return scored(bits)<<32 | scored(^node)
}

func (s scored) node() uint32 { return ^uint32(s) }

func (s scored) score() float32 {
	bits := uint32(s >> 32)
	if bits>>31 != 0 {
		bits &^= 1 << 31
	} else {
		bits = ^bits
	}
	return math.Float32frombits(bits)
}

// best is a heap with the best at its root.
type best []scored

func (h *best) push(x scored) {
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

// pop removes the root of a heap that is not empty.
func (h *best) pop() scored {
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

// worst is a heap with the worst at its root.
type worst []scored

func (h *worst) push(x scored) {
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

// replace puts x in place of the root of a heap that is not empty.
func (h worst) replace(x scored) {
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

// pop removes the root of a heap that is not empty.
func (h *worst) pop() {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	if last > 0 {
		h.replace(x)
	}
}
