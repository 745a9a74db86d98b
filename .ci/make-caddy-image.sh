#!/usr/bin/env bash
# Makes a stand-in for the image of Caddy from this machine's own Caddy, where no registry of images is reached.
# Usage: make-caddy-image.sh NAME:TAG
set -euo pipefail
tag=${1:?usage: make-caddy-image.sh NAME:TAG}
root=$(mktemp -d)
trap 'rm -rf "$root" "$root.tar"' EXIT

caddy=$(command -v caddy)
mkdir -p "$root"/{config,data,etc/caddy,tmp,usr/bin}
# Linked to the C library in Debian, to nothing elsewhere.
for file in $(ldd "$caddy" 2>/dev/null | grep -oE '/[^ :]+ ' | sort -u); do
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
done
cp -L "$caddy" "$root/usr/bin/caddy"
tar -C "$root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$root.tar" .
docker import --change 'ENV XDG_CONFIG_HOME=/config' --change 'ENV XDG_DATA_HOME=/data' \
  --change 'CMD ["/usr/bin/caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]' \
  "$root.tar" "$tag" >/dev/null
