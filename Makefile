# Levee. `make run` to see it, `make test` to trust it; `make help` for the rest.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BIN         := $(CURDIR)/.cache/bin
PACKAGE     := github.com/levee-project/levee/internal/daemon
VERSION     := $(patsubst v%,%,$(shell git describe --tags 2>/dev/null))
COMMIT      := $(shell git describe --always --dirty --exclude='*' --abbrev=12 2>/dev/null)
BUILD       := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $(PACKAGE).version=$(VERSION) -X $(PACKAGE).commit=$(COMMIT)"
LINT        := $(BIN)/golangci-lint
GOTESTSUM   := $(BIN)/gotestsum

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

.PHONY: run
run: build bin/etcd ## a whole cluster on this machine, to try it (RUNFLAGS="--limiters=5")
	@bash test/setup.sh run
	@bash test/run.sh $(RUNFLAGS)

.PHONY: run-standalone
run-standalone: build ## a single limiter on 127.0.0.1:5454, with a file for its quotas
	@bash test/setup.sh run
	@bash test/run-standalone.sh

.PHONY: build
build: ## the static binaries, in bin/
	@mkdir -p bin
	@$(BUILD) -o bin/ ./cmd/...

# The etcd that a cluster to try needs, in the version that the tests use.
bin/etcd: test/go.mod
	@mkdir -p bin
	@cd test && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $(CURDIR)/$@ go.etcd.io/etcd/server/v3 && touch $(CURDIR)/$@

.PHONY: setup
setup: ## what the tests need from the distribution (asks for root or sudo only if something is missing)
	@bash test/setup.sh test

.PHONY: test
test: setup tools ## everything: lint, unit, black box, clusters, machines that boot, capacity, fuzzing
	@bash test/all.sh

.PHONY: check
check: setup tools ## the fast part of the tests, for the inner loop
	@bash test/all.sh lint unit

.PHONY: lint
lint: setup tools ## the linter alone
	@bash test/all.sh lint

.PHONY: fmt
fmt: tools ## format the code
	@$(LINT) fmt ./... && cd test && $(LINT) fmt -c ../.golangci.yml ./...

.PHONY: bench
bench: ## CPU per request: a limiter beside NGINX, HAProxy and net/http, and the cluster, to dist/bench (twenty minutes, on an idle machine)
	@bash test/bench/setup.sh
	@cd test && go run ./bench $(BENCHFLAGS)
	@cd test && go run ./bench/cluster $(CLUSTERFLAGS)

.PHONY: microbench
microbench: ## nanoseconds and allocations of a decision and its parts
	@go test -run '^$$' -bench . ./internal/gcra ./internal/keytable ./internal/hotkeys ./internal/quota ./internal/hrw ./internal/limiter ./internal/proxy ./internal/hpack ./internal/wire

.PHONY: generate
generate: ## the code that is made from protocol descriptions (installs protoc if it is missing)
	@bash test/generate.sh

.PHONY: tools
tools: $(LINT) $(GOTESTSUM)

# Built once from pinned versions in a module of their own, so that the
# product's go.mod stays small.
$(LINT): test/tools/go.mod
	@echo "building the linter; this takes a few minutes, once"
	@cd test/tools && go build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint && touch $@

$(GOTESTSUM): test/tools/go.mod
	@cd test/tools && go build -o $@ gotest.tools/gotestsum && touch $@

.PHONY: clean
clean: ## remove what was built
	@rm -rf bin dist .cache

.PHONY: packages
packages: ## deb and rpm of every program, in dist/packages (VERSION=1.2.3)
	@rm -rf dist/packages
	@bash packaging/build.sh '$(or $(VERSION),0.0.0-dev)' dist/packages
	@ls -1 dist/packages

.PHONY: repo
repo: packages ## signed apt and yum repositories of them, in dist/repo (SIGNING_KEY=ID REPO_URL=https://...)
	@bash test/setup.sh repo
	@bash packaging/repo.sh dist/packages dist/repo

.PHONY: release-snapshot
release-snapshot: $(BIN)/goreleaser $(BIN)/cyclonedx-gomod ## everything that a release consists of, in dist/release
	@VERSION='$(or $(VERSION),0.0.0-dev)' COMMIT=$(COMMIT) SOURCE_DATE=$$(git log -1 --format=%cI) \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PATH=$(BIN):$$PATH goreleaser release --snapshot --clean

# Built once from versions pinned in a module of their own.
$(BIN)/goreleaser: TOOL := github.com/goreleaser/goreleaser/v2
$(BIN)/cyclonedx-gomod: TOOL := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
$(BIN)/goreleaser $(BIN)/cyclonedx-gomod: packaging/tools/go.mod
	@echo "building $(@F); goreleaser takes some minutes, once"
	@cd packaging/tools && CGO_ENABLED=0 nice go build -o $@ $(TOOL) && touch $@
