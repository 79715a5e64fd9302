package detect

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// proto reads protocol buffers from a stream, one field at a time, so that a
// file of weights costs no memory.
type proto struct {
	in    *bufio.Reader
	left  int64 // bytes to the end of the innermost message
	depth int
}

// field is one field of a message as it is met.
type field struct {
	number protowire.Number
	wire   protowire.Type
	value  uint64 // of a number
	size   int64  // of a string, message or packed list, which has not been read
}

const longestHeader = 20 // a tag and a length or number, 10 bytes each at most

func newProto(r io.Reader, size int64) *proto {
	return &proto{in: bufio.NewReaderSize(r, 64<<10), left: size}
}

// message calls visit for each field of the message that the next size bytes
// hold. visit reads the content of a field with message, text or integers, or
// leaves it alone.
func (p *proto) message(size int64, visit func(field) error) error {
	if p.depth == maxNesting {
		return fmt.Errorf("messages are nested more than %d deep", maxNesting)
	}
	outer := p.left - size
	p.left = size
	p.depth++
	for p.left > 0 {
		f, err := p.next()
		if err != nil {
			return err
		}
		after := p.left - f.size
		if err := visit(f); err != nil {
			return err
		}
		if err := p.skip(p.left - after); err != nil {
			return err
		}
	}
	p.left = outer
	p.depth--
	return nil
}

// next reads a field up to its content.
func (p *proto) next() (field, error) {
	head, err := p.in.Peek(int(min(p.left, longestHeader)))
	if err != nil && len(head) == 0 {
		return field{}, fmt.Errorf("it ends %d bytes early", p.left)
	}
	number, wire, n := protowire.ConsumeTag(head)
	if n < 0 {
		return field{}, protowire.ParseError(n)
	}
	f := field{number: number, wire: wire}
	switch wire {
	case protowire.VarintType, protowire.BytesType:
		value, m := protowire.ConsumeVarint(head[n:])
		if m < 0 {
			return field{}, protowire.ParseError(m)
		}
		n += m
		if f.value = value; wire == protowire.BytesType {
			if value > uint64(p.left-int64(n)) {
				return field{}, fmt.Errorf("a field has %d bytes where %d are left", value, p.left-int64(n))
			}
			f.value, f.size = 0, int64(value)
		}
	case protowire.Fixed32Type:
		n += 4
	case protowire.Fixed64Type:
		n += 8
	default: // groups, which ONNX has none of
		return field{}, fmt.Errorf("field %d has the unknown wire type %d", number, wire)
	}
	return f, p.skip(int64(n))
}

// skip passes over n bytes of the message.
func (p *proto) skip(n int64) error {
	if n > p.left {
		return io.ErrUnexpectedEOF
	}
	for n > 0 {
		step := int(min(n, 1<<30))
		done, err := p.in.Discard(step)
		p.left -= int64(done)
		n -= int64(done)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it ends %d bytes early", p.left)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text reads a string of size bytes.
func (p *proto) text(size int64) (string, error) {
	if size > maxNameBytes {
		return "", fmt.Errorf("a name has %d bytes, the limit is %d", size, maxNameBytes)
	}
	b := make([]byte, size)
	n, err := io.ReadFull(p.in, b)
	p.left -= int64(n)
	if err != nil {
		return "", fmt.Errorf("it ends %d bytes early", p.left)
	}
	return string(b), nil
}

// integers appends the numbers of a repeated field, packed or not, to list.
func (p *proto) integers(f field, list []int64) ([]int64, error) {
	if f.wire == protowire.VarintType {
		if len(list) == maxRank {
			return list, fmt.Errorf("a tensor has more than %d dimensions", maxRank)
		}
		return append(list, int64(f.value)), nil
	}
	packed, err := p.text(f.size)
	if err != nil {
		return list, err
	}
	for rest := []byte(packed); len(rest) > 0; {
		value, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return list, protowire.ParseError(n)
		}
		if len(list) == maxRank {
			return list, fmt.Errorf("a tensor has more than %d dimensions", maxRank)
		}
		list = append(list, int64(value))
		rest = rest[n:]
	}
	return list, nil
}
