package selfbench

import (
	"math/rand/v2"
	"strings"
)

const (
	seed        = 20
	queryWords  = 8
	fewestWords = 30 // of a passage; the mean is about 130 tokens
	mostWords   = 175
)

// words are common ones, most of them one token of every vocabulary.
const words = `the of and a to in is was it for on are as with his they at be this
from have or by one had not but what all were when we there can an your which
their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been
its who now people my made over did down only way find use may water long little
very after words called just where most know`

// made makes up n texts of so many words each, from fewest to most.
func made(random *rand.Rand, n, fewest, most int) []string {
	list := strings.Fields(words)
	texts := make([]string, n)
	for i := range texts {
		text := make([]string, fewest+random.IntN(most-fewest+1))
		for j := range text {
			text[j] = list[random.IntN(len(list))]
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}
