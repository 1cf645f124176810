//! Redacts errors of decoders, which quote invalid values: removes the quotation and keeps the reason.

use serde::{Deserialize, Deserializer};

/// An error's text without quoted values and line positions.
pub fn error(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let text = text.rfind(" at line ").map_or(text.as_str(), |at| &text[..at]);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '`']) {
        let (before, quoted) = rest.split_at(at);
        let quote = &quoted[..1];
        // Names of fields and types are constants.
        let ours = ["field ", "expected ", "one of ", ", "].iter().any(|word| before.ends_with(word)) && quote == "`";
        let end = closing(quoted, quote);
        if ours {
            kept.push_str(before);
            kept.push_str(&quoted[..end]);
        } else {
            kept.push_str(before.trim_end());
        }
        rest = &quoted[end..];
    }
    kept.push_str(rest);
    super::text(&kept).into_owned()
}

/// End of a quotation, including the closing quote.
fn closing(quoted: &str, quote: &str) -> usize {
    let mut escaped = false;
    for (at, c) in quoted.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if quote.starts_with(c) => return at + 1,
            _ => {}
        }
    }
    quoted.len()
}

/// Deserializes a text of another program, redacted.
///
/// # Errors
/// It is not a text.
pub fn sanitized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(super::free_text(&String::deserialize(deserializer)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_loses_quotes_and_keeps_the_reason() {
        for (said, kept) in [
            (
                "invalid type: string \"a \\\" b\", expected u16 at line 1 column 5",
                "invalid type: string, expected u16",
            ),
            ("invalid type: integer `77`, expected a string", "invalid type: integer, expected a string"),
            ("missing field `name` at line 3 column 9", "missing field `name`"),
            ("failed to parse \"open", "failed to parse"),
        ] {
            assert_eq!(error(&said), kept);
        }
    }
}
