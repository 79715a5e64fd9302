package split_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search/split"
)

// shown is a piece in one line: "section | text".
func shown(pieces []split.Piece) []string {
	lines := make([]string, len(pieces))
	for i, p := range pieces {
		lines[i] = p.Section + " | " + p.Text
	}
	return lines
}

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"headings", "intro\n\n# A\n\none\n\n## B *x* [y](z) `c`\n\ntwo\n\nC\n=\nthree\n\n# D\n# E\n\n### F\n\nfour",
			[]string{" | intro", "A | one", "A > B x y c | two", "C | three", " | # D", "E > F | four"}},
		{"no heading in code", "# A\n\n```sh\n# not one\n```\n", []string{"A | ```sh\n# not one\n```"}},
		{"front matter", "---\ntitle: A page\n---\n\n# A\n\none", []string{" | ---\ntitle: A page\n---", "A | one"}},
		{"comment", "# A\n\n<!-- not shown -->\n\none", []string{"A | one"}},
		{"code is kept whole", "One two three four five six seven eight nine ten.\n\n```\na b c d\n\ne f g h\n```",
			[]string{" | One two three four five six seven eight nine ten.", " | ```\na b c d\n\ne f g h\n```"}},
		{"a long table is cut at rows", "| a | b |\n|---|---|\n| one | two |\n| three | four |\n| five | six |\n",
			[]string{" | | a | b |\n|---|---|\n| one | two |\n| three | four |", " | | five | six |"}},
		{"a long list is cut at items", "- one two three\n  four five\n- one two three four five six\n- one two three four",
			[]string{" | - one two three\n  four five\n- one two three four five six", " | - one two three four"}},
		{"a paragraph by mistake", strings.Repeat("word ", 120) + "\n---\n", nil},
		{"no end", "```\nopen", []string{" | ```\nopen"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := shown(splitText(t, braid.Document{Text: tt.text, Format: braid.FormatMarkdown}, split.Options{Tokens: 16}))
			if tt.want == nil {
				if strings.HasPrefix(got[0], "word") || len(got) < 8 {
					t.Errorf("got %q", got)
				}
				return
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestHTML(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"page", "<!DOCTYPE html><html><head><title>Page</title><style>p{}</style></head><body><nav><a>Home</a></nav><h1>Top</h1><p>One <b>bo</b>ld&nbsp;&amp;  two</p><script>x()</script><h2>Sub</h2>text</body></html>",
			[]string{"Page > Top | One bold & two", "Page > Top > Sub | text"}},
		{"only a title", "<title>Page</title>", []string{" | Page"}},
		{"a heading in blocks", "<h2><div>A</div><span>b</span></h2>c", []string{"A b | c"}},
		{"breaks", "a<br>b<div>c</div>d", []string{" | a\nb\n\nc\n\nd"}},
		{"table", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", []string{" | a\tb\n1\t2"}},
		{"list", "<ul><li>a<li><p>b</p><ul><li>c</ul></ul>d", []string{" | a\nb\nc\n\nd"}},
		{"pre", "<pre>\n a\n  b\n</pre>", []string{" | a\n  b"}},
		{"never closed", "a<nav>b<h1>C</h1>d", []string{" | a\n\nb", "C | d"}},
		{"menu", "a<nav>b<nav>c</nav>d</nav>e", []string{" | a\n\ne"}},
		{"broken", "<p>a < b & c <i>d</p", []string{" | a < b & c d"}},
		{"nothing", "<script>x</script>", []string{" | "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := shown(splitText(t, braid.Document{Text: tt.text, Format: braid.FormatHTML}, split.Options{Tokens: 16}))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Pieces of HTML say where in the source their text stands.
func TestHTMLOffsets(t *testing.T) {
	source := "<h1>R&amp;D</h1>\n<p>Caf&eacute; costs &pound;5. </p><p>It <em>really</em>   does.</p><h2>More</h2><p>&ldquo;Quoted.&rdquo;</p>"
	var got []string
	for _, p := range splitText(t, braid.Document{Text: source, Format: braid.FormatHTML}, split.Options{Tokens: 16}) {
		got = append(got, p.Section+" | "+p.Text+" | "+source[p.Start:p.End])
	}
	want := []string{
		"R&D | Café costs £5.\n\nIt really does. | Caf&eacute; costs &pound;5. </p><p>It <em>really</em>   does.",
		"R&D > More | “Quoted.” | &ldquo;Quoted.&rdquo;",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// The title and the headings are read before the text, each once.
func TestContext(t *testing.T) {
	for _, tt := range []struct{ title, text, want string }{
		{"Manual", "# Use\n\n## Start\n\nPress.", "Manual Use > Start Press."},
		{"Manual", "# manual\n\n## Start\n\nPress.", "Manual Start Press."},
		{"", "# Use\n\n## Use\n\nPress.", "Use Press."},
		{strings.Repeat("long ", 30), "Press.", strings.Repeat("long ", 8) + "Press."},
	} {
		pieces := splitText(t, braid.Document{Title: tt.title, Text: tt.text, Format: braid.FormatMarkdown}, split.Options{Tokens: 16})
		if got := pieces[0].Passage(); len(pieces) != 1 || got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
