#!/usr/bin/env bash
# Starts a private Docker engine without networks, firewall rules or systemd, and prints its DOCKER_HOST.
# Usage, as root: start-docker-engine.sh STATE_DIRECTORY      To stop it: kill "$(cat STATE_DIRECTORY/pid)"
set -euo pipefail
state=${1:?usage: start-docker-engine.sh STATE_DIRECTORY}
socket=unix://$state/socket
mkdir -p "$state"
setsid dockerd --host "$socket" --data-root "$state/data" --exec-root "$state/exec" --pidfile "$state/pid" \
  --bridge none --iptables=false --ip6tables=false --ip-forward=false \
  >"$state/log" 2>&1 </dev/null &
for _ in {1..150}; do
  if docker --host "$socket" version >/dev/null 2>&1; then
    echo "$socket"
    exit 0
  fi
  sleep 0.2
done
tail -n 20 "$state/log" >&2
exit 1
