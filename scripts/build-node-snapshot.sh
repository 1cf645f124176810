#!/bin/sh
# Builds meshdoctor for nodes: one static binary without any code that contacts a cluster, for x86-64 and, if the toolchain
# exists, arm64. It runs on any Linux, with any libc, and in an empty image.
#
#   scripts/build-node-snapshot.sh [PROFILE]     PROFILE is dist (the default), release or dev
#
# The binaries are put into target/node-snapshot/meshdoctor-<arch>. Skipped targets are listed with their requirements.
set -eu
cd "$(dirname "$0")/.."

profile=${1:-dist}
out=target/node-snapshot
mkdir -p "$out"
built=0

installed() { rustup target list --installed 2>/dev/null | grep -qx "$1" || rustc --print target-libdir --target "$1" 2>/dev/null | xargs -r test -d; }

# A static binary names no interpreter and needs no library.
static() {
    if command -v readelf >/dev/null; then
        ! readelf --program-headers "$1" | grep -q 'INTERP' && ! readelf --dynamic "$1" | grep -q '(NEEDED)'
    elif command -v file >/dev/null; then
        file "$1" | grep -Eq 'static-pie linked|statically linked'
    else
        ! ldd "$1" 2>/dev/null | grep -q '=>'
    fi
}

# build ARCH TARGET LINKER
build() {
    arch=$1 target=$2 linker=$3
    variable=CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_LINKER
    echo "== $arch: $target, profile $profile"
    # The flags go through a variable of the target alone: build scripts run here and stay as they are.
    flags=CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_RUSTFLAGS
    env ${linker:+"$variable=$linker" "CC_$(echo "$target" | tr - _)=$linker"} "$flags=-C target-feature=+crt-static" \
        cargo build --locked --no-default-features --bin meshdoctor --target "$target" --profile "$profile" --target-dir "$out/build"
    folder=$profile
    [ "$profile" = dev ] && folder=debug
    cp "$out/build/$target/$folder/meshdoctor" "$out/meshdoctor-$arch"
    if ! static "$out/meshdoctor-$arch"; then
        echo "$out/meshdoctor-$arch is not static" >&2
        exit 1
    fi
    built=$((built + 1))
    ls -l "$out/meshdoctor-$arch"
    ! command -v file >/dev/null || file "$out/meshdoctor-$arch"
}

host=$(rustc -vV | sed -n 's/^host: //p')

# pick ARCH PREFIX: musl before gnu, this machine's own linker before a cross one.
pick() {
    arch=$1 prefix=$2
    for libc in musl gnu; do
        target=$prefix-unknown-linux-$libc
        if ! installed "$target"; then
            [ $libc = musl ] || echo "skipped $arch: the target is not installed (rustup target add $prefix-unknown-linux-musl)"
            continue
        fi
        linker=
        case $host:$libc in
        "$prefix"-*:gnu) ;;
        "$prefix"-*:musl) linker=$(command -v musl-gcc || true) ;;
        *) linker=$(command -v "$prefix-linux-$libc-gcc" || true) ;;
        esac
        if [ -z "$linker" ] && [ "$host" != "$target" ]; then
            [ $libc = musl ] || echo "skipped $arch: no C compiler and linker for it ($prefix-linux-gnu-gcc)"
            continue
        fi
        build "$arch" "$target" "$linker"
        return
    done
}

pick x86_64 x86_64
pick arm64 aarch64

[ $built -gt 0 ] || { echo "nothing was built" >&2; exit 1; }
