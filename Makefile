# make test is what the CI runs. SETUP=no keeps it from installing anything.

GO       ?= go
SETUP    ?= yes
PREFIX   ?= /usr/local
DESTDIR  ?=
FUZZTIME ?= 10s
BENCH    ?= .
SOAK     ?= ./internal/house ./ledger ./learn/network ./learn ./learn/leakage ./noise ./engine/duckdb ./internal/render ./accountant ./internal/release ./internal/cli ./internal/siege ./internal/attack ./collect/... ./serve/postgres/pgcatalog ./verify ./verify/internal/exact ./verify/internal/sensitivity
RACE     ?= ./ledger/... ./budget/... ./dataset ./internal/entropy/...
# What edits books and reads them again does nothing at once; nor does the detector see what other processes do.
ALONE    ?= Edited(Ledgers|Rules|Repetitions)|LongLedger|ForeignTables|J[0-9]|RecomputedChain|ChangedAnswer|ProcessesOnOneBudget|KilledAtRandom|CreateKilled|TestDiskFull
# Of others what works at once does so in tests that say it in their names.
ATONCE   ?= ./internal/attack ./internal/release ./sandbox ./verify/internal/sensitivity

# Of some packages the tests wait: for children, browsers, solvers. Two more than there are
# processors keep these at work.
PACKAGES ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))

# Packages whose tests run one after another for a minute begin first, or the last of them would
# end alone: those that wait among those that compute.
LONG     ?= ./internal/siege ./verify ./ledger ./accountant ./serve/web ./internal/release ./internal/cli ./internal/attack

# What is compiled does not hang on where the clone lies: all clones of a machine share it.
GOFLAGS := $(strip $(GOFLAGS) -trimpath)
# A collection of garbage for each sixteenfold heap, not for each doubled one, is a fifth of the
# processor time of tests that compute; the limit keeps that from the few that hold much.
GOGC ?= 1600
GOMEMLIMIT ?= 1500MiB
# What DuckDB frees stays mapped: else a quarter of its time in tests goes into pages that are
# given back to the kernel, and are zeroed and mapped again a moment later.
DUCKDB_JE_MALLOC_CONF ?= dirty_decay_ms:-1,muzzy_decay_ms:-1
export GOFLAGS GOGC GOMEMLIMIT DUCKDB_JE_MALLOC_CONF

# Thirty test binaries link DuckDB. Without tables for debuggers each takes half of the time, by
# mold a quarter less again than by gold.
LINKER ?= -ldflags="-s -w$(if $(shell command -v ld.mold), -extldflags=-fuse-ld=mold,$(if $(shell command -v ld.gold), -extldflags=-fuse-ld=gold))"

SHELL       := bash
.SHELLFLAGS := -eo pipefail -c

# Debian keeps PostgreSQL's server programs off the PATH.
PATH := $(CURDIR)/bin:$(PATH)$(addprefix :,$(lastword $(wildcard /usr/lib/postgresql/*/bin)))
export PATH SETUP

# Only the packages of a list that have Go files by now.
existing = $(shell $(GO) list -e -f '{{if or .GoFiles .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $(1) 2>/dev/null)

.PHONY: help
help: ## say what the targets do
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

.PHONY: demo
demo: ## make a synthetic data set, ask five questions, show the budget falling
	$(GO) run ./cmd/discreet demo

.PHONY: install
install: ## the command, manual pages and completions into PREFIX (/usr/local), below DESTDIR
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; umask 022; to='$(DESTDIR)$(PREFIX)'; \
	$(GO) build $(LINKER) -o "$$work/discreet" ./cmd/discreet; \
	$(GO) run $(LINKER) ./internal/cli/manual "$$work"; \
	install -d "$$to/bin" "$$to/share/man/man1" "$$to/share/bash-completion/completions" "$$to/share/zsh/site-functions" "$$to/share/fish/vendor_completions.d"; \
	install -m 755 "$$work/discreet" "$$to/bin/"; \
	install -m 644 "$$work"/man/man1/*.1 "$$to/share/man/man1/"; \
	install -m 644 "$$work/bash-completion/discreet" "$$to/share/bash-completion/completions/"; \
	install -m 644 "$$work/zsh/_discreet" "$$to/share/zsh/site-functions/"; \
	install -m 644 "$$work/fish/discreet.fish" "$$to/share/fish/vendor_completions.d/"; \
	echo "installed $$to/bin/discreet"

.PHONY: release
release: ## reproducible archives, checksums, notices and parts lists into dist (packaging/README.md)
	packaging/release dist

.PHONY: setup
setup: ## install the tools that the tests use, where that is possible
	@.ci/setup

.PHONY: test
test: setup ## format, vet, lint, all without cgo, race of the small packages, all tests
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not gofmt-clean:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	@$(MAKE) --no-print-directory --jobs --output-sync=target lint pure race oracles & beside=$$!; \
	ok=true; $(MAKE) --no-print-directory whole || ok=false; wait $$beside && $$ok

# Beside it run the stages that would leave a core idle; each says what it found when it ends.
.PHONY: whole
whole: ## all tests
	umask 022; .ci/scratch $(GO) test -vet=off $(LINKER) -p $(PACKAGES) -timeout 20m -json $(LONG) ./... | $(GO) run ./internal/testreport

.PHONY: pure
pure: ## all without cgo, and the processor that has no assembly of ours
	CGO_ENABLED=0 $(GO) list -export -f '{{""}}' ./...
	CGO_ENABLED=0 $(GO) test -vet=off -run 'TestScripts/noengine' ./internal/cli
	CGO_ENABLED=0 GOARCH=arm64 $(GO) vet ./learn/internal/gemm ./learn/network

.PHONY: race
race: ## the concurrent packages under the race detector, -short
	umask 022; .ci/scratch $(GO) test -vet=off $(LINKER) -race -short -skip '$(ALONE)' -timeout 15m -json $(call existing,$(RACE)) | $(GO) run ./internal/testreport
	umask 022; .ci/scratch $(GO) test -vet=off $(LINKER) -race -short -run 'AtOnce|Concurrent|Parallel' -json $(ATONCE) | $(GO) run ./internal/testreport

# Test-only modules of their own keep heavy references out of go.mod.
.PHONY: oracles
oracles: ## the tests that compare with other implementations, in modules of their own
	@for dir in $$(git ls-files -- '*/go.mod' ':!tools/go.mod' | xargs -r dirname); do \
		echo "$$dir: go test ./..."; \
		$(GO) -C "$$dir" test -vet=off $(LINKER) -timeout 15m -json ./... | $(GO) run ./internal/testreport || exit 1; \
	done

# The sweeps of tests that DISCREET_SOAK makes long.
.PHONY: soak
soak: ## the sweeps with large counts, of the packages in SOAK (hours)
	DISCREET_SOAK=1 $(GO) test -timeout 24h $(SOAK)

# Other versions than the machine's own: bench/peers/setup postgres installs them. Root's servers run under
# an account that cannot look into root's cache, so they are copied, and so is what tests keep of them.
.PHONY: postgresql
postgresql: ## the tests over PostgreSQL with each of bench/peers/postgres
	@test -d bench/peers/postgres || { echo "no other PostgreSQL here: bench/peers/setup postgres has not been run"; exit 1; }
	@umask 022; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; chmod 755 "$$work"; cp -a bench/peers/postgres/. "$$work"; \
	export GOCACHE=$$($(GO) env GOCACHE) XDG_CACHE_HOME=$$work/cache; \
	for bin in "$$work"/1*/bin; do \
		PATH=$$bin:$${PATH#"$$work"/*/bin:}; postgres --version; \
		$(GO) test -count=1 -vet=off $(LINKER) -timeout 60m ./engine/postgres ./ledger ./people ./internal/pgsql ./internal/bind || exit 1; \
		$(GO) test -count=1 -vet=off $(LINKER) -timeout 60m -run 'Postgres|EnginesAgree|AreBounded|Halves|ThreeServers|OtherCatalog|Rolling' ./internal/render ./internal/release ./internal/siege ./internal/cli || exit 1; \
	done

.PHONY: lint
lint: ## golangci-lint with the short list of .golangci.yml
	@if command -v golangci-lint >/dev/null; then echo golangci-lint run; golangci-lint run; \
	else echo "skip: missing tool golangci-lint ('make setup' builds it)"; fi

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s)
	@for dir in $$($(GO) list -f '{{.Dir}}' ./...); do \
		for f in $$(cat "$$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
			echo "$$dir $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s "$$dir" || exit 1; \
		done; done

.PHONY: mappers
mappers: ## build the WebAssembly modules of sandbox/testdata anew (needs clang with wasm-ld, and rustc with wasm32-unknown-unknown)
	for language in c rust go; do sandbox/testdata/build $$language sandbox/testdata/$$language/mapper.wasm; done
	sandbox/testdata/build c sandbox/testdata/c/above.wasm

.PHONY: bench
bench: ## the benchmarks that match BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -timeout 60m ./...

.PHONY: golden
golden: ## write golden files anew; read the diff before you commit it
	$(GO) test $$(grep -rlE --include='*_test.go' '^\s*"github.com/cockroachdb/datadriven"|Bool\("rewrite"' . | xargs -r dirname | sort -u) -rewrite
