//! Quotes words for POSIX shells and fish. The result is one word on one line (except for line breaks at the end), has
//! no terminal control characters, and represents the text byte by byte. In single quotes, fish treats `\'` and `\\` as
//! escapes, so they are avoided. PowerShell splits words at quotes: there, a text with `'` or `\` can become several
//! arguments, but never a command.

use std::fmt::Write;

/// The text as one word for `sh`, bash, dash, zsh or fish.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+".contains(c) || c == '=';
    // zsh expands a leading = to a program's path, and older fish a leading % to a process.
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with(['=', '%']) {
        return text.to_owned();
    }
    if text.chars().all(|c| !crate::terminal::is_hostile(c)) {
        return single(text);
    }
    // A substitution would drop line breaks at the end.
    let inner = text.trim_end_matches('\n');
    let breaks = &text[inner.len()..];
    let mut quoted = String::new();
    if !inner.is_empty() {
        quoted.push_str("\"$(printf '");
        for (at, c) in inner.char_indices() {
            match c {
                // A format with a leading dash would be an option.
                '-' if at == 0 => quoted.push_str("\\055"),
                '%' => quoted.push_str("%%"),
                '\\' => quoted.push_str("\\134"),
                '\'' => quoted.push_str("\\047"),
                c if crate::terminal::is_hostile(c) => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        _ = write!(quoted, "\\{byte:03o}");
                    }
                }
                c => quoted.push(c),
            }
        }
        quoted.push_str("')\"");
    }
    if !breaks.is_empty() {
        quoted.push_str(&single(breaks));
    }
    quoted
}

/// A text in single quotes with its line breaks; quotes, and backslashes that fish would treat as escapes, are in
/// double quotes.
pub(super) fn single(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\'', _) => quoted.push_str(r#"'"'"'"#),
            ('\\', None | Some('\'' | '\\')) => quoted.push_str(r#"'"\\"'"#),
            (c, _) => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// The value of a word in a shell.
    fn taken(shell: &str, text: &str) -> String {
        let script = format!("printf '%s' {}", shell_word(text));
        let ran = Command::new(shell).arg("-c").arg(script).output().expect("a shell");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    }

    #[test]
    fn plain_words_are_not_quoted() {
        for plain in ["kubectl", "-n", "shop", "a=b", "spec.nodeName=x", "metadata.name!=y", "v1.6.2"] {
            assert_eq!(shell_word(plain) == plain, !plain.contains('!'), "{plain}");
        }
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's"), r#"'it'"'"'s'"#);
        assert_eq!(shell_word("=ls"), "'=ls'");
        assert_eq!(shell_word("%self"), "'%self'");
        assert_eq!(shell_word(r"{.data.ca\.crt}"), r"'{.data.ca\.crt}'");
        // Escapes of fish.
        assert_eq!(shell_word(r"\';touch P;#"), r#"''"\\"''"'"';touch P;#'"#);
        assert_eq!(shell_word(r"a\\b\"), r#"'a'"\\"'\b'"\\"''"#);
        assert_eq!(shell_word("a\nb"), "\"$(printf 'a\\012b')\"");
    }

    #[cfg(unix)]
    #[test]
    fn shell_reads_each_word_as_its_text() {
        let texts = [
            "$(id)",
            "`id`",
            "a b",
            "a\tb",
            "'",
            "\"",
            "\\",
            "a\nb",
            "a\n",
            "\n\n",
            "\n",
            "-rf",
            "*",
            "~",
            "!!",
            "a;b",
            "#x",
            "%s",
            "\u{1b}]52;c;x\u{7}",
            "\u{202e}x",
            "ünï",
            "\\012",
            "a'b\nc'd\n",
            "<NAME>",
            "{a,b}",
            "x\\\n",
            "\u{9b}2J",
            "-\u{200b}",
            "--\nx",
            "\\';touch P;#",
            "\\\\';\\\\\\",
            "a\\'\n\\\\\u{200b}",
            "%self",
        ];
        for text in texts {
            for shell in ["sh", "bash"] {
                assert_eq!(taken(shell, text), text, "{shell}: {}", shell_word(text));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[cfg(unix)]
        #[test]
        fn any_text_survives_quoting(text in "[^\0]{0,40}") {
            prop_assert_eq!(taken("sh", &text), text);
        }

        #[test]
        fn no_word_controls_a_terminal(text in "[^\0]{0,40}") {
            let word = shell_word(text.trim_end_matches('\n'));
            prop_assert!(!word.contains(crate::terminal::is_hostile), "{}", word);
        }
    }
}
