//! Normalizes characters that disguise text: removes invisible ones, and converts full-width ones.

use std::borrow::Cow;

/// A text as it is displayed.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|c| plain(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(plain).collect())
}

fn plain(c: char) -> Option<char> {
    match c {
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
        | '\u{ffa0}' | '\u{feff}' => None,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => None,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' => None,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        // They replace known parts of messages.
        c if super::templates::is_place(c) => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        c => Some(c),
    }
}
