//! Files that are generated and checked in. A plain run compares and shows what differs; `UPDATE=1 cargo test` writes.

use std::path::Path;

/// Compares a generated text with the checked-in file of that name (relative to the repository's root).
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    if held == text {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let (line, (old, new)) = held
        .lines()
        .map(Some)
        .chain(std::iter::repeat(None))
        .zip(text.lines().map(Some).chain(std::iter::repeat(None)))
        .enumerate()
        .find(|(_, (old, new))| old != new)
        .expect("the texts differ, so a line or the ending does");
    panic!(
        "{name} is out of date from line {}:\n  has   {}\n  wants {}\nUPDATE=1 cargo test writes it; read the diff before you commit",
        line + 1,
        old.unwrap_or("(end of file)"),
        new.unwrap_or("(end of file)"),
    );
}
