//! Log texts: only the lines that speak of CNI, the last ones, redacted.

use super::files::{MAX_LOG, MAX_LOG_LINES, MAX_RAW_LOG};
use crate::redact;

/// What makes a line worth keeping, in lower case.
const WORDS: [&str; 3] = ["cni", "nsenter", "iptables"];

/// A filtered log, and whether something was cut for its size.
pub(super) struct Filtered {
    pub bytes: Vec<u8>,
    pub cut: bool,
}

/// Redacts first (a key spans lines that a filter would tear apart), then filters, then cuts.
pub(super) fn filter(raw: &[u8]) -> Filtered {
    let mut cut = false;
    let mut tail = raw;
    if raw.len() > MAX_RAW_LOG {
        cut = true;
        tail = &raw[raw.len() - MAX_RAW_LOG..];
        // Not from the middle of a line.
        tail = tail.iter().position(|byte| *byte == b'\n').map_or(&[], |at| &tail[at + 1..]);
    }
    let clean = redact::bytes(tail);
    let lines: Vec<&[u8]> = clean.split(|byte| *byte == b'\n').filter(|line| speaks_of_cni(line)).collect();
    let mut kept = Vec::new();
    let mut size = 0;
    for line in lines.iter().rev() {
        size += line.len() + 1;
        if kept.len() == MAX_LOG_LINES || size > MAX_LOG {
            cut = true;
            break;
        }
        kept.push(*line);
    }
    let mut bytes = Vec::with_capacity(size);
    for line in kept.into_iter().rev() {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    Filtered { bytes, cut }
}

fn speaks_of_cni(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    WORDS.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()))
}

/// The lines of a kept log.
pub(super) fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_about_cni_stay_and_the_last_ones_win() {
        let filtered = filter(b"hello\nCNI config load failed\nnsenter: failed\nbye\n");
        assert_eq!(filtered.bytes, b"CNI config load failed\nnsenter: failed\n");
        assert!(!filtered.cut);
        let long: String = (0..3000).map(|n| format!("cni {n}\n")).collect();
        let filtered = filter(long.as_bytes());
        assert!(filtered.cut);
        assert!(filtered.bytes.starts_with(b"cni 1000\n"));
        assert_eq!(filter(&filtered.bytes).bytes, filtered.bytes);
    }
}
