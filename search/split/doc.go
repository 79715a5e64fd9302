// Package split cuts documents into passages that a model can read whole.
//
// A document is read as plain text, Markdown or HTML into blocks (paragraphs,
// lists, tables, code) under headings. Blocks are put together into pieces of at
// most a number of tokens. A piece ends at the strongest border there is near its
// end: a heading, else a paragraph, else a line of a list, table or code, else a
// sentence (UAX #29), else a word, else a character.
//
// Invariants:
//   - A piece is never larger than Options.Tokens by Options.Count, title and
//     headings included, unless it is a single character.
//   - Pieces stand in the order of the document; both their ends are borders of
//     characters in Document.Text as it was sent.
//   - Every character of a plain text but white space is in a piece. Of Markdown
//     the headings with something under them are in Piece.Section instead; of HTML
//     what is markup or no prose is left out.
//   - A piece lies under one heading, and what is under other headings has no
//     influence on it. So a change in one section changes no piece of another one
//     (short of the last case of MaxSections).
//   - The same document and options give the same pieces.
//
// Whatever the input, time and memory grow with its length, not faster: markup is
// never nested on the stack, and what is deeper than a reader would follow is read
// as plain text.
//
// The package knows no model: it is given a function that counts.
package split
