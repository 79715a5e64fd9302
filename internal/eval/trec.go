package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/braid-search/braid"
)

// Run is what a system answered: for each query id the ids of its ranking, best
// first.
type Run map[string][]string

// WriteRun writes a run in the format of TREC, "query Q0 document rank score
// tag", over a file that is there; queries in the order of the dataset. Scores
// count down to 1, so that a reader that sorts by them keeps the order. It fails
// with braid.InvalidArgument, and writes nothing, when an id or the tag holds
// white space, which the format cannot say.
func (d *Dataset) WriteRun(path string, run Run, tag string) error {
	var b strings.Builder
	for _, q := range d.Queries {
		ranked := run[q.ID]
		for i, id := range ranked {
			for _, name := range []string{q.ID, id, tag} {
				if len(strings.Fields(name)) != 1 || strings.Fields(name)[0] != name {
					return braid.Errorf(braid.InvalidArgument, "write run: %q is empty or holds white space, which a run file cannot hold", name)
				}
			}
			fmt.Fprintf(&b, "%s Q0 %s %d %d %s\n", q.ID, id, i+1, len(ranked)-i, tag)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return braid.Errorf(braid.Internal, "write run: %w", err)
	}
	return nil
}

// ReadRun reads a run in the format of TREC. Documents stand in the order of
// RankByScore, as trec_eval has them; ranks and tags are ignored. It fails with
// braid.NotFound when there is no file and with braid.InvalidArgument when a
// line is malformed or a query has a document twice.
func ReadRun(path string) (Run, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, braid.Errorf(braid.NotFound, "read run: %s does not exist", path)
	}
	if err != nil {
		return nil, braid.Errorf(braid.Internal, "read run: %w", err)
	}
	defer file.Close()
	src := source{bufio.NewReader(file), path}
	scores := map[string]map[string]float64{}
	for line, err := range src.lines {
		if err != nil {
			return nil, err
		}
		columns := strings.Fields(string(line.text))
		if len(columns) != 6 {
			return nil, src.fault(line.number, "%d columns, want query, Q0, document, rank, score and tag", len(columns))
		}
		query, id := columns[0], columns[2]
		score, err := strconv.ParseFloat(columns[4], 64)
		if err != nil || math.IsNaN(score) {
			return nil, src.fault(line.number, "score %q is not a number", columns[4])
		}
		if _, twice := scores[query][id]; twice {
			return nil, src.fault(line.number, "query %q has document %q twice", query, id)
		}
		if scores[query] == nil {
			scores[query] = map[string]float64{}
		}
		scores[query][id] = score
	}
	if len(scores) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "read run: %s holds no ranking", path)
	}
	run := make(Run, len(scores))
	for query, s := range scores {
		run[query] = RankByScore(s)
	}
	return run, nil
}

// Answers returns how many queries of the dataset the run answers.
func (d *Dataset) Answers(run Run) int {
	n := 0
	for _, q := range d.Queries {
		if len(run[q.ID]) > 0 {
			n++
		}
	}
	return n
}
