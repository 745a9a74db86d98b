#!/usr/bin/env bash
# Makes a stand-in for packages/sandbox-image/ from this machine's own Python, where no registry of images is reached.
# Usage: make-python-image.sh NAME:TAG
set -euo pipefail
tag=${1:?usage: make-python-image.sh NAME:TAG}
root=$(mktemp -d)
trap 'rm -rf "$root" "$root.tar"' EXIT

python=$(realpath /usr/bin/python3)
library=/usr/lib/$(basename "$python")
programs=("$python" /bin/sh /bin/cat)
mkdir -p "$root"/{bin,dev,etc,lib,lib64,proc,sys,tmp,work,usr/bin,usr/lib}
for file in "${programs[@]}" $(ldd "${programs[@]}" "$library"/lib-dynload/*.so 2>/dev/null | grep -oE '/[^ :]+ ' | sort -u); do
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
done
cp -a "$library" "$root/usr/lib/"
rm -rf "$root$library"/{test,idlelib,turtledemo,ensurepip,lib2to3,tkinter} "$root$library"/config-*
find "$root" -name __pycache__ -prune -exec rm -rf {} +
ln -s "$(basename "$python")" "$root/usr/bin/python3"
printf 'root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/work:/bin/sh\n' >"$root/etc/passwd"
chmod 1777 "$root/tmp"
tar -C "$root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$root.tar" .
docker import "$root.tar" "$tag" >/dev/null
