module github.com/braid-search/braid

go 1.26
