package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mark is the newest commit that was acknowledged. It is written in place
// after each commit and not synced: a killed process leaves it exact, and after
// a power cut it may be older than the database, never newer. So a database
// that is older than its mark has lost something it had promised to keep.
type mark struct {
	sequence   uint64
	collection uint32
	upserts    uint32
	deletes    uint32
}

const markBytes = 8 + 3*4 + 4

// markFile holds one mark.
type markFile struct {
	vfs.File
	path string
}

func openMark(fs vfs.FS, path string) (*markFile, error) {
	file, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &markFile{file, path}, nil
}

// errNoMark says that the file holds no mark, as in a new folder.
var errNoMark = errors.New("no mark")

func (f *markFile) read() (mark, error) {
	var b [markBytes]byte
	n, err := f.ReadAt(b[:], 0)
	switch {
	case errors.Is(err, io.EOF) && n == 0:
		return mark{}, errNoMark
	case errors.Is(err, io.EOF):
		return mark{}, fmt.Errorf("it has %d bytes, want %d", n, markBytes)
	case err != nil:
		return mark{}, err
	case binary.LittleEndian.Uint32(b[20:]) != crc32.ChecksumIEEE(b[:20]):
		return mark{}, errors.New("its checksum is wrong")
	}
	return mark{
		sequence:   binary.LittleEndian.Uint64(b[0:]),
		collection: binary.LittleEndian.Uint32(b[8:]),
		upserts:    binary.LittleEndian.Uint32(b[12:]),
		deletes:    binary.LittleEndian.Uint32(b[16:]),
	}, nil
}

func (f *markFile) write(m mark) error {
	_, err := f.WriteAt(m.encode(), 0)
	return err
}

func (m mark) encode() []byte {
	b := make([]byte, 0, markBytes)
	b = binary.LittleEndian.AppendUint64(b, m.sequence)
	b = binary.LittleEndian.AppendUint32(b, m.collection)
	b = binary.LittleEndian.AppendUint32(b, m.upserts)
	b = binary.LittleEndian.AppendUint32(b, m.deletes)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func (f *markFile) close() error { return errors.Join(f.Sync(), f.Close()) }
