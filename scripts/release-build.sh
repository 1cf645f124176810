#!/usr/bin/env bash
# Builds the binary of a release: release-build.sh TARGET [cargo options]. It contains no path of the machine that builds
# it, so that others get the same bytes from the same commit and target.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1; shift
# The Rust release of the Dockerfile.
rust=$(sed -n 's/^FROM rust:\([0-9.]*\)-slim.*/\1/p' Dockerfile).0
rustup toolchain list | grep -q "^$rust-" || rustup toolchain install "$rust" --profile minimal
rustup target add --toolchain "$rust" "$target"
cargo=${CARGO_HOME:-$HOME/.cargo}
RUSTFLAGS="--remap-path-prefix=$PWD=/meshdoctor --remap-path-prefix=$cargo=/cargo"
CFLAGS="-ffile-prefix-map=$PWD=/meshdoctor -ffile-prefix-map=$cargo=/cargo"
export RUSTFLAGS
# The compiler of Windows has other options.
case $target in *-windows-*) ;; *) export CFLAGS ;; esac
exec cargo "+$rust" build --profile dist --locked --target "$target" "$@"
