#!/usr/bin/env bash
# Builds the release twice, each in a folder of its own, and compares the bytes: reproducible.sh [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-x86_64-unknown-linux-musl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in first second/deeper; do
  mkdir -p "$work/$name"
  git archive HEAD | tar -x -C "$work/$name"
  CARGO_TARGET_DIR="$work/$name/target" "$work/$name/scripts/release-build.sh" "$target"
  sha256sum < "$work/$name/target/$target/dist/meshdoctor" >> "$work/sums"
done
cat "$work/sums"
[ "$(sort -u "$work/sums" | wc -l)" = 1 ] || { echo "the two builds differ" >&2; exit 1; }
