# What people and CI run. `just` lists it.

default:
    @just --list

# The tests: everything, the real API server included where Go is installed.
test:
    cargo test

# Write again what is generated: docs, completions, expectations of cards.
update:
    UPDATE=1 cargo test --test suite

# The documentation as a book, in target/site; its sources are written into target/book.
book:
    cargo test --test suite book::
    mdbook build

# What CI checks beside the tests.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy --workspace --no-default-features --all-targets -- -D warnings
    cargo deny check licenses bans sources
    cargo vet --locked

# Known vulnerabilities; needs a network.
advisories:
    cargo deny check advisories

# What a check costs beside a bare read of the same lists; writes the table into docs/cost.md.
bench:
    UPDATE=1 cargo bench --profile dist --bench live

# The small, fast binary for a release.
dist:
    cargo build --profile dist

# The static binary that takes node snapshots, for x86-64 and, with the toolchain, arm64.
node-snapshot:
    scripts/build-node-snapshot.sh
