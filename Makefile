# Bare `make` lists the targets. Everything fetched or built lands in .local/
# and bin/, which git ignores.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LINT    := .local/bin/golangci-lint

.DEFAULT_GOAL := help
.PHONY: help demo test check setup build bench bench-full gobench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## index a small corpus and search it in every mode
	@scripts/demo

test: setup ## all tests, with the race detector
	go test -race -timeout 20m ./...

check: $(LINT) setup ## format, lint, vet, tidy go.mod, then test
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not formatted, run gofmt -w on: $$unformatted"; exit 1; }
	go vet ./...
	for module in bench/plot bench/peers/coderhnsw; do go -C $$module vet ./... || exit 1; done # modules of their own
	$(LINT) run ./...
	go mod tidy -diff
	@$(MAKE) --no-print-directory test

setup: ## fetch and build what is needed, once, into .local/
	@command -v python3 >/dev/null || { echo "setup: python3 is missing: install Python 3.11 or later with venv (Debian, Ubuntu: apt install python3 python3-venv)"; exit 1; }
	@scripts/setup

build: setup ## bin/braid
	go build -ldflags "-X main.version=$(VERSION)" -o bin/braid ./cmd/server

bench: build ## braid beside its peers, ten minutes; then see bench/results/latest.md
	bench/peers/install onnxruntime fastembed
	go build -o bin/bench ./bench/cmd
	bin/bench -quick -out bench/results/latest

bench-full: build ## all of it at full length, an hour, by steps that are not repeated; CORPORA="DIR..." to search in
	bench/peers/install onnxruntime fastembed qdrant vectrixdb
	go build -o bin/bench ./bench/cmd
	scripts/bench-full bench/results/full $(CORPORA)

gobench: setup ## the Go benchmarks of every package
	go test -run '^$$' -bench . -benchmem ./...

clean: ## remove bin/ (to set up anew, remove .local/ too)
	rm -rf bin

# Pinned in tools/go.mod, apart from go.mod so that its dependencies stay out of
# the program's.
$(LINT): tools/go.mod tools/go.sum
	cd tools && go build -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
