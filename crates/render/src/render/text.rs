//! Text output: escapes control characters, wraps words, formats lists and numbers. Pure functions on
//! strings; `look` adds colors.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::terminal::is_hostile;

/// Escapes all control and direction characters, so that evidence from a cluster cannot control the reader's
/// terminal. Line breaks and tabs are escaped too, so that a value stays on one line.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => cleaned.push_str("\\n"),
            '\r' => cleaned.push_str("\\r"),
            '\t' => cleaned.push_str("\\t"),
            c if is_hostile(c) => _ = write!(cleaned, "\\u{{{:x}}}", c as u32),
            c => cleaned.push(c),
        }
    }
    Cow::Owned(cleaned)
}

/// Escapes command words of CI systems: GitHub's `::error::` and GitLab's `section_start:` at the start of a
/// line, whatever the wrapping and blanks, and `##[` and `##vso[` anywhere. The last step for all text
/// output.
pub fn escape_ci_commands(text: &str) -> Cow<'_, str> {
    if !["::", "##", "section_"].iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let words = beginning(line);
        let (blank, words) = line.split_at(line.len() - words.len());
        harmless.push_str(blank);
        let words = match words.split_once(':') {
            Some(("", rest)) if rest.starts_with(':') && is_command(&rest[1..]) => {
                harmless.push_str("\\u{3a}");
                rest
            }
            Some((word @ ("section_start" | "section_end"), rest)) => {
                harmless.push_str(word);
                harmless.push_str("\\u{3a}");
                rest
            }
            _ => words,
        };
        harmless.push_str(&without_hashes(words, "\\u{23}"));
    }
    Cow::Owned(harmless)
}

/// Whether the text after the two colons is a command of GitHub: `error file=x::message`.
fn is_command(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains("::")
}

/// A line from its first word on, without color codes.
fn beginning(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(colour) = rest.strip_prefix("\u{1b}[") {
        let end = colour.find(|c: char| c.is_ascii_alphabetic()).map_or(colour.len(), |at| at + 1);
        rest = colour[end..].trim_start();
    }
    rest
}

/// `##[`, `##vso[` and the like with the second `#` written as `escape`.
pub(super) fn without_hashes<'a>(text: &'a str, escape: &str) -> Cow<'a, str> {
    let is_command = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[');
    if !text.match_indices("##").any(|(at, _)| is_command(&text[at + 2..])) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find("##") {
        let after = &rest[at + 2..];
        out.push_str(&rest[..=at]);
        if is_command(after) {
            out.push_str(escape);
            rest = after;
        } else {
            // The second one may be the first of another pair.
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The same for lines to paste, which keep their line breaks.
pub fn clean_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.trim_end().split('\n').map(clean)
}

/// Escapes the remaining control and direction characters of JSON or YAML text as `\uXXXX`. In both formats
/// they only occur inside quoted strings here, so the values do not change.
pub fn escape_json(text: String) -> String {
    let left_alone = |c: char| is_hostile(c) && c != '\n';
    // Some CI systems search for their commands anywhere in a line. The sign only occurs in strings.
    let text = without_hashes(&text, "\\u0023").into_owned();
    if !text.contains(left_alone) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if left_alone(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Display width of a text.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Breaks a text at spaces into lines of at most `columns`; the first line has `first` columns. A longer word
/// stays whole on a line of its own, so that paths and commands can be copied.
pub fn wrap_from(text: &str, first: usize, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut room = first;
    for word in text.split(' ') {
        let needed = width(word) + usize::from(!line.is_empty());
        if width(&line) + needed > room && !(line.is_empty() && room >= columns) {
            lines.push(std::mem::take(&mut line));
            room = columns;
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    // Doubled spaces at a break would leave trailing blanks.
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    lines
}

/// A space at which no line breaks. Replace it after wrapping.
pub const BOUND: &str = "\u{a0}";

/// [`wrap_from`] with all lines of one width.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_from(text, columns, columns)
}

/// Wraps to at most `lines` lines, with `end` after the last word. A longer text ends with its last sentence
/// or clause that fits, or else between two words, and with `…`.
pub fn wrapped_to(text: &str, columns: usize, lines: usize, end: &str) -> Vec<String> {
    let whole = wrap(&format!("{text}{end}"), columns);
    if whole.len() <= lines {
        return whole;
    }
    let fitting = |at: usize| {
        let cut = text[..at].trim_end_matches([' ', ',', ';', ':', '.', '(']);
        let wrapped = wrap(&format!("{cut} …{end}"), columns);
        (wrapped.len() <= lines).then_some(wrapped)
    };
    let clauses = [". ", "; ", ": ", " ("].iter().flat_map(|end| text.match_indices(end)).map(|(at, _)| at);
    let mut clauses: Vec<usize> = clauses.filter(|&at| width(&text[..at]) > columns / 2).collect();
    clauses.sort_unstable();
    let words = || text.match_indices(' ').map(|(at, _)| at).rev().find_map(fitting);
    clauses.into_iter().rev().find_map(fitting).or_else(words).unwrap_or_else(|| whole[..lines].to_vec())
}

/// Adds a text after a head of `columns`, painted or not; its further lines begin below it. `room`: the columns of all.
pub fn write_hanging(text: &mut String, (head, columns): (&str, usize), said: &str, room: usize) {
    let blank = " ".repeat(columns);
    for (at, line) in wrap(&clean(said), room.saturating_sub(columns).max(20)).iter().enumerate() {
        let head = if at == 0 { head } else { &blank };
        _ = writeln!(text, "{}", format!("{head}{line}").trim_end());
    }
}

/// Spaces up to a width.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `1 pod`, `17 pods`, `1,834 objects`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// A number of seconds: `2 min`, `3 h`, `5 days`.
pub fn lasting(seconds: i64) -> String {
    match seconds {
        ..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", seconds / 60),
        5400..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// `1,834`.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a, b, c and 4 more`: the first `most` items. One more item is printed, because `and 1 more` saves no
/// space.
pub fn some_of<T: AsRef<str>>(items: &[T], most: usize) -> String {
    let shown = if items.len() <= most + 1 { items.len() } else { most };
    let text = items[..shown].iter().map(|item| item.as_ref()).collect::<Vec<_>>().join(", ");
    match items.len() - shown {
        0 => text,
        more => format!("{text} and {} more", thousands(more)),
    }
}

/// As many items as fit into `columns`, at least one: `a, b and 4 more`.
pub fn some_fitting<T: AsRef<str>>(items: &[T], columns: usize) -> String {
    let shown = |most: usize| {
        let text = items[..most].iter().map(|item| item.as_ref()).collect::<Vec<_>>().join(", ");
        match items.len() - most {
            0 => text,
            more => format!("{text} and {} more", thousands(more)),
        }
    };
    let fitting = (1..=items.len()).rev().map(shown).find(|text| width(text) <= columns);
    fitting.unwrap_or_else(|| shown(items.len().min(1)))
}

/// Truncates a long text in the middle, because messages have their content at the start and at the end.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let characters = text.chars().count();
    if characters <= most {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(most / 2).collect();
    let tail: String = text.chars().skip(characters - most / 2).collect();
    Cow::Owned(format!("{head} … {tail}"))
}

/// Number of digits from which a container or image identifier is shortened.
const LONG_ID: usize = 40;

/// Shortens long hexadecimal identifiers (sandboxes, digests) to a comparable prefix.
pub fn with_short_ids(text: &str) -> Cow<'_, str> {
    let long = |word: &str| word.len() >= LONG_ID && word.bytes().all(|b| b.is_ascii_hexdigit());
    let is_end = |c: char| !c.is_ascii_alphanumeric();
    if !text.split(is_end).any(long) {
        return Cow::Borrowed(text);
    }
    let short = |piece: &str| {
        let word = piece.trim_end_matches(is_end);
        if long(word) { format!("{}…{}", &word[..12], &piece[word.len()..]) } else { piece.to_owned() }
    };
    Cow::Owned(text.split_inclusive(is_end).map(short).collect())
}

/// Lines in a Markdown fence that is longer than any fence in them.
pub(super) fn fenced(lines: &[String], language: &str) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_broken_and_long_ones_stay_whole() {
        let text = "the file /etc/cni/net.d/05-cilium.conflist names a plugin that is gone";
        assert_eq!(wrap(text, 24), ["the file", "/etc/cni/net.d/05-cilium.conflist", "names a plugin that is", "gone"]);
        assert_eq!(wrap_from("aaa bbb ccc", 4, 8), ["aaa", "bbb ccc"]);
        assert_eq!(wrap_from("aaaaaa bbb", 4, 8), ["", "aaaaaa", "bbb"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn long_text_ends_with_its_last_clause_that_fits() {
        let text = "Restart the workload; new pods get the bundle of the control plane, which is current";
        assert_eq!(wrapped_to(text, 100, 1, " [1]"), [format!("{text} [1]")]);
        assert_eq!(wrapped_to(text, 30, 1, " [1]"), ["Restart the workload … [1]"]);
        assert_eq!(wrapped_to("aaaa bbbb cccc dddd", 12, 1, ""), ["aaaa bbbb …"]);
        assert_eq!(wrapped_to("aaaa bbbb cccc dddd", 10, 2, ""), ["aaaa bbbb", "cccc dddd"]);
    }

    #[test]
    fn evidence_cannot_drive_a_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc\u{202e}d\u{9b}"), "a\\u{1b}[2Jb\\r\\nc\\u{202e}d\\u{9b}");
        assert_eq!(clean_lines("a\n  b\u{7}\n").collect::<Vec<_>>(), ["a", "  b\\u{7}"]);
        let json = escape_json("\"\u{9b}\u{e0041}\"\n".to_owned());
        assert_eq!(json, "\"\\u009b\\udb40\\udc41\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).expect("it is JSON"), "\u{9b}\u{e0041}");
    }

    #[test]
    fn no_line_is_a_command_of_a_ci_system() {
        for (text, shown) in [
            ("::error::x\n", "\\u{3a}:error::x\n"),
            ("a\n \u{a0} ::set-output name=a::b", "a\n \u{a0} \\u{3a}:set-output name=a::b"),
            ("\u{1b}[31m  ::warning file=x::y\u{1b}[0m", "\u{1b}[31m  \\u{3a}:warning file=x::y\u{1b}[0m"),
            ("x ##[error]y ##vso[task.complete]", "x #\\u{23}[error]y #\\u{23}vso[task.complete]"),
            ("####[group]", "###\\u{23}[group]"),
            ("  section_start:1:x", "  section_start\\u{3a}1:x"),
        ] {
            assert_eq!(escape_ci_commands(text), shown);
        }
        for text in ["::1 and ::ffff:10.0.0.1", "::/0", "x ::error::", "## heading", "a section_end:1", "# [x]"] {
            assert_eq!(escape_ci_commands(text), text);
        }
        let json = escape_json("[\"##[error]x\",\"## [y]\"]".to_owned());
        assert_eq!(json, "[\"#\\u0023[error]x\",\"## [y]\"]");
        assert_eq!(serde_json::from_str::<[String; 2]>(&json).expect("JSON")[0], "##[error]x");
    }

    #[test]
    fn numbers_and_lists_are_written_out() {
        assert_eq!(count(1, "pod", "pods"), "1 pod");
        assert_eq!(count(1_234_567, "pod", "pods"), "1,234,567 pods");
        assert_eq!(some_of(&["a", "b", "c"], 2), "a, b, c");
        assert_eq!(some_of(&["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(shortened("abcdefghij", 4), "ab … ij");
        assert_eq!(some_fitting(&["aaa", "bbb", "ccc"], 13), "aaa, bbb, ccc");
        assert_eq!(some_fitting(&["aaa", "bbb", "ccc"], 12), "aaa and 2 more");
        assert_eq!(some_fitting::<&str>(&[], 12), "");
        let id = "7c5b09ed63175a6e8dbf2b92a154d8b9b095fb8d9e82417837d92d7db49a9e78";
        assert_eq!(with_short_ids(&format!("sandbox \"{id}\": {id}")), "sandbox \"7c5b09ed6317…\": 7c5b09ed6317…");
        assert_eq!(with_short_ids("deadbeef, and so on"), "deadbeef, and so on");
    }
}
