#!/usr/bin/env bash
# Makes a stand-in for the Dockerfile's base image from this machine's own files, where no registry of images is reached:
# the project's Node.js, npm, a shell, a few tools, their libraries, the certificates, and the user that the real one has.
# Usage: make-base-image.sh NAME:TAG      after npm ci
set -euo pipefail
tag=${1:?usage: make-base-image.sh NAME:TAG}
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

certificates=/etc/ssl/certs/ca-certificates.crt
tools=(/bin/sh /bin/cat /bin/chown /bin/ls /bin/mkdir /bin/rm /bin/true /usr/bin/env /usr/bin/find /usr/bin/id /usr/bin/setpriv)
node=node_modules/node/bin/node
# The C library's other parts, which the real image has, too, and native packages link to.
library=$(dirname "$(ldd "$node" | grep -oE '/[^ ]+/libc\.so\.6')")
parts=("$library"/lib{dl.so.2,m.so.6,pthread.so.0,resolv.so.2,rt.so.1})
npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")

mkdir -p "$root"/{etc,home/node,lib,proc,sys,dev,usr/local/bin,usr/local/lib/node_modules}
mkdir -m 1777 "$root/tmp"
for file in "${tools[@]}" "${parts[@]}" "$certificates" $(ldd "$node" "${tools[@]}" | grep -oE '/[^ :]+ ' | sort -u); do
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
done
cp -L "$node" "$root/usr/local/bin/node"
cp -R "$npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
printf 'root:x:0:0::/:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nnode:x:1000:\n' >"$root/etc/group"

# The user `node` must own its home, as in the real image.
tar -C "$root" --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 --exclude=./home/node -cf "$root.tar" .
tar -C "$root" --mtime=@0 --numeric-owner --owner=1000 --group=1000 -rf "$root.tar" ./home/node
trap 'rm -rf "$root" "$root.tar"' EXIT
docker import --change "ENV NODE_EXTRA_CA_CERTS=$certificates" \
  --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' --change 'CMD ["node"]' "$root.tar" "$tag" >/dev/null
