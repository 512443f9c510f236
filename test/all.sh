#!/usr/bin/env bash
# Runs the tiers of tests named on the command line, or all of them, quick ones
# first, and ends with one line: how many passed and failed. A tier that fails
# does not stop the next ones; its fault is not hidden by theirs.
set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
bin=$top/.cache/bin
results=$top/.cache/results
rm -rf "$results"
mkdir -p "$results"
failed_steps=()

step() { # NAME, COMMAND...
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if ! "$@"; then
    failed_steps+=("$name")
    printf '== %s FAILED\n' "$name"
  fi
  printf '== %s took %d s\n' "$name" $((SECONDS - began))
}

gotest() { # NAME, DIRECTORY, ARGUMENTS OF GO TEST...
  local name=$1 directory=$2
  shift 2
  (cd "$directory" && "$bin/gotestsum" --format pkgname-and-test-fails --hide-summary skipped \
    --jsonfile "$results/$name.json" -- "$@")
}

lint() {
  step 'lint: product' "$bin/golangci-lint" run ./...
  step 'lint: tests' env -C "$top/test" "$bin/golangci-lint" run -c "$top/.golangci.yml" ./...
  step 'lint: modules' modules_tidy
  step 'lint: generated code' bash "$top/test/generate.sh" check
}

modules_tidy() {
  go mod tidy -diff && (cd "$top/test" && go mod tidy -diff)
}

unit() {
  step 'unit tests' gotest unit "$top" -race -timeout 5m ./...
}

blackbox() {
  step 'the limiter from outside, its stores, its clients, its tool' gotest blackbox "$top/test" -race -timeout 15m \
    ./storage/... ./limiter/... ./harness/... ./etcdtest/... ./clients/... ./h2spec/... ./bench/... ./leveectl/... ./docs/...
}

# Whole clusters, alone and without the race detector: they are loaded, and bounds
# from below need a machine that has time for it.
cluster() {
  step 'whole clusters' gotest cluster "$top/test" -count 1 -timeout 15m ./cluster/...
}

# Those who look at it: a Prometheus and a carbon, beside whole clusters. Alone and
# without the race detector, as they are loaded.
metrics() {
  step 'metrics: what they need' bash "$top/test/setup.sh" metrics
  step 'metrics, and who collects them' gotest metrics "$top/test" -count 1 -timeout 15m ./metrics/...
}

# The console in a real browser, alone as well: a killed member is to be red in time.
console() {
  step 'the console in a browser' gotest console "$top/test" -p 1 -count 1 -timeout 10m ./console/...
}

# Machines that boot, with what users install: takes root.
packages() {
  step 'packages: what they need' bash "$top/test/setup.sh" packages
  step 'packages, on machines' gotest packages "$top/test" -p 1 -count 1 -timeout 30m ./lab/... ./packages/...
}

# From bare machines to a cluster, and through an upgrade: takes root, too.
ansible() {
  step 'ansible: what it needs' bash "$top/test/setup.sh" ansible
  step 'ansible, on machines' gotest ansible "$top/test" -p 1 -count 1 -timeout 30m ./ansible/...
}

# A pair of machines with a virtual address: its bounds need a machine that has time
# for it.
vrrp() {
  step 'the virtual address: what it needs' bash "$top/test/setup.sh" vrrp
  step 'the virtual address, on machines' gotest vrrp "$top/test" -p 1 -count 1 -timeout 20m ./vrrp/...
}

instructions() {
  step 'instructions a request takes' gotest instructions "$top/test" -count 1 -timeout 10m ./instructions/...
}

# One after another and without the race detector: these measure what the
# machine can do.
capacity() {
  step 'capacity' gotest capacity "$top/test" -p 1 -parallel 1 -count 1 -timeout 10m ./capacity/...
  step 'capacity: fifty members' gotest members "$top" -count 1 -timeout 5m -run '^TestScale' ./internal/gossip
}

# Each fuzz target runs for a while and is then interrupted. With -fuzztime, Go
# 1.26 sometimes calls the end of that time a failure (golang.org/issue/75804).
fuzz() {
  local directory targets target binary
  for directory in $(grep -rlE '^func Fuzz' --include='*_test.go' internal | xargs -n1 dirname | sort -u); do
    targets=$(grep -hoE '^func Fuzz\w+' "$directory"/*_test.go | sed 's/func //' | sort)
    binary=$results/${directory//\//-}.test
    step "fuzz $directory: build" go test -c -fuzz=. -o "$binary" "./$directory"
    for target in $targets; do
      step "fuzz $directory $target" fuzz_one "$binary" "$directory" "$target"
    done
  done
}

fuzz_one() { # BINARY DIRECTORY TARGET
  local seconds=5 result=pass
  case $3 in FuzzHTTP*) seconds=30 ;; esac # what strangers send
  seconds=${FUZZ_SECONDS:-$seconds}
  (cd "$2" && timeout --preserve-status -s INT -k 60 "$seconds" "$1" -test.run '^$' -test.fuzz "^$3\$" \
    -test.fuzzcachedir "$results/corpus/$3" -test.parallel 2) | tail -n 40 || result=fail
  printf '{"Action":"%s","Test":"%s"}\n' "$result" "$3" >>"$results/fuzz.json"
  [ "$result" = pass ]
}

# count prints how many tests, with their subtests, ended in a way.
count() { # pass | fail | skip
  cat "$results"/*.json 2>/dev/null | grep -E "\"Action\":\"$1\"" | grep -c '"Test":"' || true
}

cd "$top" || exit 1
tiers=("$@")
[ ${#tiers[@]} -gt 0 ] || tiers=(lint unit blackbox cluster metrics console packages ansible vrrp instructions capacity fuzz)
for tier in "${tiers[@]}"; do
  "$tier"
done

echo
if [ ${#failed_steps[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed_steps[@]}"
fi
passed=$(count pass) failed=$(count fail) skipped=$(count skip)
if [ ${#failed_steps[@]} -gt 0 ] && [ "$failed" -eq 0 ]; then
  failed=${#failed_steps[@]} # lint, or a package that did not compile
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ ${#failed_steps[@]} -eq 0 ]
