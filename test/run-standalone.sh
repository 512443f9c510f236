#!/usr/bin/env bash
# Starts one limiter with the quotas of configs/storage.yaml, and says what to
# try. Ctrl-C ends it.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
addr=${LISTEN_ADDR:-127.0.0.1:5454}
metrics=${METRICS_ADDR:-127.0.0.1:9454}

# In a session of its own, or Ctrl-C would reach the limiter by two ways, and it
# takes a second signal for a wish to stop at once.
setsid "$top/bin/levee-limiter" --standalone --listen-addr "$addr" --metrics-addr "$metrics" \
  --storage-addrs "file://$top/configs/storage.yaml" &
limiter=$!
trap 'trap "" INT TERM; kill -TERM "$limiter" 2>/dev/null || true' INT TERM

for _ in $(seq 100); do
  curl -fs -o /dev/null "http://$addr/healthz" && break
  kill -0 "$limiter" 2>/dev/null || { wait "$limiter"; exit; }
  sleep 0.1
done

cat <<TEXT

A limiter answers on $addr. In another terminal:

  # accepted: 200
  curl -i -X POST -H 'X-Resource: photos' -H 'X-Prefix: albums' -H 'X-Method: GET' http://$addr/attempt

  # rejected: the sixth of these in a row is a 429, and says when to come back
  for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\n' -X POST -H 'X-Resource: demo' http://$addr/attempt; done

  # the same over HTTP/2
  curl -i --http2-prior-knowledge -X POST -H 'X-Resource: demo' http://$addr/attempt

Change a quota while it runs: edit configs/storage.yaml, for example the rate of
"demo", and save. Metrics: http://$metrics/metrics. Ctrl-C ends.

TEXT
while kill -0 "$limiter" 2>/dev/null; do
  wait "$limiter" && code=0 || code=$?
done
exit "${code:-0}"
