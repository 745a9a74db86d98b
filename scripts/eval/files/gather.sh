#!/bin/sh
# Gathers files to measure how well they are read: pages of manuals from Debian packages, and the test files of other
# projects. Usage: sh scripts/eval/files/gather.sh <folder>. Needs apt-get, dpkg and git. Nothing is installed.
set -eu
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

# The same files each time: the first by the hash of their path.
take() { # take <name> <count> <directory> <pattern>
  name=$1 count=$2 directory=$3
  (cd "$directory" && find . -type f -name "$4") |
    while read -r path; do echo "$(printf %s "$path" | sha1sum | cut -c1-40) $path"; done |
    sort | head -n "$count" | cut -d' ' -f2- |
    while read -r path; do
      cp "$directory/$path" "$folder/$name-$(printf %s "${path#./}" | tr '/ ' '__')"
    done
}

cd "$work"
for package in debian-policy debian-reference-en developers-reference git-doc postgresql-doc-15 \
  python3.11-doc python-django-doc python-pandas-doc python-sqlalchemy-doc sqlite3-doc; do
  apt-get download -q "$package"
  dpkg -x "$package"_*.deb "$package"
  take "$package" 40 "$package" '*.html'
  rm -rf "$package" "$package"_*.deb
done

for repository in docling-project/docling jgm/pandoc microsoft/markitdown python-openxml/python-docx \
  scanny/python-pptx SheetJS/test_files Unstructured-IO/unstructured; do
  git clone -q --depth 1 "https://github.com/$repository" repository
  for type in docx pptx xlsx odt ods odp rtf csv pdf; do
    take "$(basename "$repository")" 40 repository "*.$type"
  done
  rm -rf repository
done
