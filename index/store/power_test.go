package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPowerCut takes the state a disk may have after a power cut (what was
// synced, and none, half or all of the rest) after each step of a busy life,
// and asserts that it opens with every acknowledged document.
func TestPowerCut(t *testing.T) {
	for _, percent := range []int{0, 50, 100} {
		t.Run(fmt.Sprintf("%d%% of unsynced data", percent), func(t *testing.T) {
			random := rand.New(rand.NewPCG(61, uint64(percent)))
			disk := vfs.NewCrashableMem()
			cut := func() *vfs.MemFS {
				return disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: random})
			}
			s := openStore(t, "/a/b/data", Options{ReserveBytes: 1 << 10, fs: disk})
			c := create(t, s, "a")
			var acknowledged []string
			for i := range 60 {
				var err error
				switch id := fmt.Sprintf("%02d", i); {
				case i%7 == 6:
					err = s.Commit(c.Number, nil, acknowledged[:1])
					acknowledged = acknowledged[1:]
				case i%20 == 19:
					err = s.db.Flush()
				default:
					err = commit(s, c, id)
					acknowledged = append(acknowledged, id)
				}
				if err != nil {
					t.Fatal(err)
				}
				checkPowerCut(t, cut(), c, acknowledged)
			}
		})
	}
}

func checkPowerCut(t *testing.T, disk *vfs.MemFS, c Collection, acknowledged []string) {
	t.Helper()
	s, err := Open("/a/b/data", Options{ReserveBytes: 1 << 10, fs: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Loss() != nil {
		t.Fatalf("loss %+v", s.Loss())
	}
	if got := contents(t, s, c); !slices.Equal(got, acknowledged) {
		t.Fatalf("holds %v, want %v", got, acknowledged)
	}
}
