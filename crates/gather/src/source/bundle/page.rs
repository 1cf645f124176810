//! Fast reader for list pages in the exact format that this program writes: each object is decoded in place, without
//! searching for its end first. Any other format is left to [`super::super::json`], which accepts every format and
//! reports errors.

use crate::archive::spool::Blob;

/// Maximum page size: pages end with the object that makes them larger than 2 MiB.
const MAX_PAGE: u64 = 4 << 20;

/// Result of reading a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Number of objects read, from the first on.
    pub(super) objects: usize,
    /// Whether these are all, and the page ends correctly after them.
    pub(super) whole: bool,
}

/// Calls `take` with the text from the start of each object, until it declines; `buffer` is reused for the bytes.
pub(super) fn take(blob: &Blob, buffer: &mut Vec<u8>, take: &mut dyn FnMut(&str) -> Option<usize>) -> Taken {
    let mut taken = Taken::default();
    if blob.len() > MAX_PAGE || blob.reader().and_then(|mut page| page.at(0, blob.len(), buffer)).is_err() {
        return taken;
    }
    let Some(mut rest) = std::str::from_utf8(buffer).ok().and_then(items) else { return taken };
    while let Some(behind) = take(rest).and_then(|length| rest.get(length..)) {
        taken.objects += 1;
        match behind.strip_prefix(",\n") {
            Some(next) => rest = next,
            None => {
                taken.whole = behind == "\n]}\n";
                break;
            }
        }
    }
    taken
}

/// The text after the head of a list in this format: kind, version, no metadata, items.
fn items(page: &str) -> Option<&str> {
    let (kind, rest) = page.strip_prefix("{\"kind\":\"")?.split_once("\",\"apiVersion\":\"")?;
    let (version, rest) = rest.split_once("\",\"metadata\":{},\"items\":[\n")?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./-".contains(&byte));
    (plain(kind) && plain(version)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::archive::spool::Spool;

    const HEAD: &str = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[\n";

    /// Accepts objects of one digit, `{1}`, and declines others.
    fn taken(page: &[u8]) -> Taken {
        let mut spool = Spool::new();
        spool.write_all(page).unwrap();
        let digit = |text: &str| {
            let bytes = text.as_bytes();
            (bytes.len() > 2 && bytes[0] == b'{' && bytes[1].is_ascii_digit() && bytes[2] == b'}').then_some(3)
        };
        take(&spool.finish(), &mut Vec::new(), &mut |text| digit(text))
    }

    #[test]
    fn own_page_is_read_completely() {
        assert_eq!(taken(format!("{HEAD}{{1}},\n{{2}}\n]}}\n").as_bytes()), Taken { objects: 2, whole: true });
    }

    #[test]
    fn other_page_format_is_left_to_the_json_reader() {
        let of = |page: &str| taken(page.as_bytes());
        assert_eq!(of(&format!("{HEAD}{{1}},\n{{no}},\n{{3}}\n]}}\n")), Taken { objects: 1, whole: false });
        assert_eq!(of(&format!("{HEAD}{{1}}\n],\"items\":[{{2}}]}}\n")), Taken { objects: 1, whole: false });
        assert_eq!(of(&format!("{HEAD}{{1}},\n")), Taken { objects: 1, whole: false });
        assert_eq!(of(&format!("{HEAD}{{1}}")), Taken { objects: 1, whole: false });
        assert_eq!(of(&format!(" {HEAD}{{1}}\n]}}\n")), Taken::default());
        assert_eq!(of(&HEAD.replace("PodList", "Pod\\u004cist")), Taken::default());
        assert_eq!(taken(&[HEAD.as_bytes(), b"{1},\n\xFF\n]}\n"].concat()), Taken::default());
    }
}
