#!/usr/bin/env bash
# Fills in the templates of packaging/ for a release: fill.sh VERSION BASE SHA256SUMS INTO
# VERSION such as v0.1.0, BASE the URL of the folder of its archives, SHA256SUMS their checksums, INTO the output folder.
set -euo pipefail
[ $# = 4 ] || { echo "usage: fill.sh VERSION BASE SHA256SUMS INTO" >&2; exit 2; }
version=$1 base=$2 sums=$3 into=$4
mkdir -p "$into"
for template in "$(dirname "$0")"/krew/meshdoctor.yaml "$(dirname "$0")"/homebrew/meshdoctor.rb; do
  text=$(<"$template")
  while read -r sum file; do
    target=${file#"meshdoctor-$version-"}
    target=${target%.tar.gz}
    text=${text//"{{ SHA256 $target }}"/$sum}
  done < "$sums"
  text=${text//'{{ VERSION }}'/$version}
  text=${text//'{{ NUMBER }}'/${version#v}}
  text=${text//'{{ BASE }}'/$base}
  # Drop the comment lines at the top of the templates.
  printf '%s\n' "$text" | sed '1,2d' > "$into/$(basename "$template")"
  if grep -q '{{' "$into/$(basename "$template")"; then
    echo "$(basename "$template"): $(grep -o '{{[^}]*}}' "$into/$(basename "$template")" | head -1) was not filled: is its archive in $sums?" >&2
    exit 1
  fi
done
