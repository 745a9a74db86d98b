#!/usr/bin/env bash
# Starts a private PostgreSQL server on the loopback, and prints the URL of one of its databases.
# Usage, as root: start-postgres.sh STATE_DIRECTORY      To stop it: kill "$(head -n 1 STATE_DIRECTORY/data/postmaster.pid)"
set -euo pipefail
state=${1:?usage: start-postgres.sh STATE_DIRECTORY}
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort --version-sort | tail -n 1)
port=${POSTGRES_PORT:-54329}
mkdir -p "$state"
chown postgres "$state"
# The way there must be open to the user postgres.
chmod o+x "$(dirname "$state")"
cd "$state"
runuser -u postgres -- "$programs/initdb" --pgdata "$state/data" --username agent --auth trust --encoding UTF8 \
  --no-locale --no-sync >"$state/setup.log" 2>&1
# Nobody cuts the power of a test: what the operating system has is safe.
runuser -u postgres -- "$programs/pg_ctl" --pgdata "$state/data" --log "$state/log" --wait --silent start --options \
  "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=300" ||
  { tail -n 20 "$state/log" >&2 && exit 1; }
echo "postgres://agent@127.0.0.1:$port/postgres"
