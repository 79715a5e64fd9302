package split

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// sentences returns where the sentences of text begin, after the first one. The
// end of a line is white space here: texts are often wrapped.
func sentences(text string) []int {
	unwrapped := strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
	var starts []int
	state := -1
	for rest := unwrapped; ; {
		_, rest, state = uniseg.FirstSentenceInString(rest, state)
		if rest == "" {
			return starts
		}
		starts = append(starts, len(text)-len(rest))
	}
}

// lines returns where the lines of text begin, after the first one.
func lines(text string) []int {
	var starts []int
	for at := lineLen(text); at < len(text); at += lineLen(text[at:]) {
		starts = append(starts, at)
	}
	return starts
}

// fragments returns where to cut text, which counts n tokens, for parts that
// should count at most room, at least two parts. A single character has none.
func fragments(text string, n, room int) []int {
	parts := max(2, (n*10+room*9-1)/(room*9)) // a tenth of air: tokens are not spread evenly
	size := max(1, (len(text)+parts-1)/parts)
	var starts []int
	for at := 0; len(text)-at > size; {
		at += borderBefore(text[at:], size)
		if at >= len(text) {
			break
		}
		starts = append(starts, at)
	}
	return starts
}

// borderBefore returns the best place to cut text at or shortly before size bytes,
// which is more than 0 and less than len(text): the end of a line or a word in the
// second half, else any border of a word, else of a grapheme, else of a character.
// It is more than size only if the first character is. It looks at no more than
// size bytes and a few.
func borderBefore(text string, size int) int {
	size = runeBefore(text, size)
	if size == 0 {
		_, size = utf8.DecodeRuneInString(text)
		return size
	}
	half := runeBefore(text, size/2)
	if i := strings.LastIndexByte(text[half:size], '\n'); i >= 0 {
		return half + i + 1
	}
	if i := strings.LastIndexFunc(text[half:size], unicode.IsSpace); i >= 0 {
		_, n := utf8.DecodeRuneInString(text[half+i:])
		return half + i + n
	}
	window := text[:runeBefore(text, min(len(text), size+64))]
	if at := lastBorder(window, size, uniseg.FirstWordInString); at > 0 {
		return at
	}
	if at := lastBorder(window, size, firstGrapheme); at > 0 {
		return at
	}
	return size
}

// runeBefore returns the last border of characters in text that is not after at.
func runeBefore(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// lastBorder returns the last border that next finds within size bytes, or 0.
func lastBorder(text string, size int, next func(string, int) (string, string, int)) int {
	at, state := 0, -1
	for rest := text; rest != ""; {
		_, rest, state = next(rest, state)
		if len(text)-len(rest) > size {
			break
		}
		at = len(text) - len(rest)
	}
	return at
}

func firstGrapheme(text string, state int) (first, rest string, newState int) {
	first, rest, _, newState = uniseg.FirstGraphemeClusterInString(text, state)
	return first, rest, newState
}
