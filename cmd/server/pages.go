package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search/split"
)

// page is a file that is a document.
type page struct {
	path   string
	format braid.Format
	size   int64
}

// formatOf returns the format of a page by the extension of its name, "" for a file
// that is no page.
func formatOf(path string) braid.Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".markdown":
		return braid.FormatMarkdown
	case ".html", ".htm", ".xhtml":
		return braid.FormatHTML
	case ".txt", ".text":
		return braid.FormatText
	}
	return ""
}

// openSources opens what the arguments of `braid index` name: one file of documents,
// or any number of pages and folders of them. Every document is checked.
func openSources(ctx context.Context, paths []string, stdin io.Reader, stderr io.Writer) (*input, error) {
	if len(paths) == 1 && formatOf(paths[0]) == "" {
		if info, err := os.Stat(paths[0]); paths[0] == "-" || err != nil || !info.IsDir() {
			return openInput(ctx, paths[0], stdin, stderr)
		}
	}
	in := &input{}
	for _, path := range paths {
		pages, err := findPages(path)
		if err != nil {
			return nil, err
		}
		in.pages = append(in.pages, pages...)
	}
	for _, p := range in.pages {
		in.size += p.size
	}
	if err := in.check(ctx, stderr); err != nil {
		return nil, fmt.Errorf("%s: %w (nothing was stored)", strings.Join(paths, ", "), err)
	}
	return in, nil
}

// findPages returns the page at path, or those in the folder there, by name. What
// begins with a dot in a folder is left out.
func findPages(path string) ([]page, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, braid.Errorf(braid.NotFound, "open documents: %w", err)
	}
	if !info.IsDir() {
		if formatOf(path) == "" {
			return nil, braid.Errorf(braid.InvalidArgument, "%s is no page (.md, .html, .txt): a file of documents is stored by itself", path)
		}
		return []page{{path: path, format: formatOf(path), size: info.Size()}}, nil
	}
	var pages []page
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch hidden := at != path && strings.HasPrefix(entry.Name(), "."); {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || !entry.Type().IsRegular() || formatOf(at) == "":
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			pages = append(pages, page{path: at, format: formatOf(at), size: info.Size()})
		}
		return err
	})
	if err != nil {
		return nil, braid.Errorf(braid.NotFound, "look for pages: %w", err)
	}
	return pages, nil
}

// document reads the page: its id is its path, its title what it is headed by, or
// else its name.
func (p page) document() (braid.Document, error) {
	file, err := os.Open(p.path)
	if err != nil {
		return braid.Document{}, braid.Errorf(braid.NotFound, "open page: %w", err)
	}
	defer file.Close()
	// One byte more than there may be, so that Validate can say so.
	text, err := io.ReadAll(io.LimitReader(file, braid.MaxTextBytes+1))
	if err != nil {
		return braid.Document{}, braid.Errorf(braid.Unavailable, "read page: %w", err)
	}
	d := braid.Document{ID: filepath.ToSlash(filepath.Clean(p.path)), Text: strings.TrimPrefix(string(text), "\ufeff"), Format: p.format}
	if d.Title = split.Title(d); d.Title == "" {
		name := filepath.Base(p.path)
		d.Title = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return d, d.Validate()
}

// eachPage yields the documents of pages, of one that is named twice the first.
func (in *input) eachPage(yield func(braid.Document, error) bool) {
	seen := map[string]bool{}
	for _, p := range in.pages {
		d, err := p.document()
		if err == nil && seen[d.ID] {
			continue
		}
		seen[d.ID] = true
		if !yield(d, err) || err != nil {
			return
		}
	}
}
