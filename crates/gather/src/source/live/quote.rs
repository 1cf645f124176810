//! Quotes text of servers and plugins in messages: on one line, shortened, and without possible credentials.

use crate::redact;

/// Shorter words are never credentials.
const OPAQUE: usize = 32;

/// The text on one line, at most `longest` characters, without possible credentials.
pub(super) fn quote(text: &str, longest: usize) -> String {
    let text = hide_markers(&redact::text(text));
    let line = text.split_whitespace().map(hide).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Like [`quote`], for responses of programs in the cluster, which may contain anything: keeps only text known to be
/// harmless.
pub(super) fn quote_answer(text: &str, longest: usize) -> String {
    quote(&redact::free_text(text), longest)
}

/// The length of a credential is not useful in a sentence.
fn hide_markers(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for marker in redact::markers(text.as_bytes()).iter().filter(|marker| marker.sha256_prefix.is_none()) {
        shown.push_str(&text[done..marker.start]);
        shown.push_str("[hidden]");
        done = marker.end;
    }
    shown.push_str(&text[done..]);
    shown
}

/// Programs describe errors in their last lines.
pub(super) fn quote_end(text: &str, longest: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    quote(&lines[lines.len().saturating_sub(3)..].join(" "), longest)
}

/// Replaces random-looking parts of a word: long runs of letters and digits without separators.
fn hide(word: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-' | '.');
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !belongs(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        shown.push_str(if is_opaque(run) { "[hidden]" } else { run });
        let stop = after.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&after[..stop]);
        rest = &after[stop..];
    }
    shown
}

fn is_opaque(run: &str) -> bool {
    // Paths and host names are long, but their parts are short.
    let longest = run.split(['/', '.']).map(str::len).max().unwrap_or_default();
    let has = |test: fn(&char) -> bool| run.chars().any(|c| test(&c));
    longest >= OPAQUE
        && has(char::is_ascii_digit)
        && (has(char::is_ascii_uppercase) || has(|c| matches!(c, '+' | '=')) || is_hex(run))
}

fn is_hex(run: &str) -> bool {
    run.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_and_words_are_not() {
        let token = "k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtd2VzdC0xLmFtYXpvbmF3cy5jb20vP0FjdGlvbj1HZXQ";
        assert_eq!(quote(&format!("signed {token}, again"), 200), "signed k8s-aws-v1.[hidden], again");
        assert_eq!(quote("sha d0a1f6e2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9 end", 200), "sha [hidden] end");
        for kept in [
            "pods is forbidden: User \"system:serviceaccount:linkerd:meshdoctor\" cannot list resource \"pods\"",
            "open /home/somebody/.config/gcloud/application_default_credentials.json: no such file",
            "https://oidc.eks.eu-west-1.amazonaws.com/id refused",
        ] {
            assert_eq!(quote(kept, 200), kept);
        }
    }

    #[test]
    fn quotes_are_one_short_line() {
        assert_eq!(quote("a\n  b\tc", 100), "a b c");
        assert_eq!(quote("äöü and more", 3), "äöü…");
        assert_eq!(quote_end("Traceback\n1\n2\n\nlast but one\nlast\n", 100), "2 last but one last");
    }
}
