//! Characters that must not be written to a terminal: control characters, hidden and reordering ones.

/// Whether a character could control a terminal, or hide or reorder text: control and direction characters,
/// default-ignorable code points (Unicode's `Default_Ignorable_Code_Point`), and noncharacters, which YAML rejects.
/// Line breaks and tabs are included: a value must stay on one line.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_code_points_are_hostile() {
        for c in ['\u{ad}', '\u{34f}', '\u{3164}', '\u{115f}', '\u{fe0f}', '\u{e0100}', '\u{fffe}', '\u{10ffff}'] {
            assert!(is_hostile(c), "{:x}", c as u32);
        }
        for c in ['a', 'ü', '…', '한', '\u{301}', '✓', '\u{fffd}', '\u{1f600}'] {
            assert!(!is_hostile(c), "{:x}", c as u32);
        }
    }
}
