//! Literal blocks (`|`): a new text in the layout of the old one. Lines that do not change stay as they are.

/// The block with another text; `None` if its layout does not show which lines are those of the text.
pub(super) fn replaced(block: &str, old: &str, new: &str) -> Option<String> {
    let (header, body) = block.split_once('\n')?;
    let written: Vec<&str> = body.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let filled = old.iter().position(|line| !line.trim().is_empty())?;
    let indent = blanks(written.get(filled)?).checked_sub(blanks(old[filled]))?;
    // Blank lines at the end are no part of the block.
    if old.len() < written.len() || old[written.len()..].iter().any(|line| !line.is_empty()) {
        return None;
    }
    let old = &old[..written.len()];
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let indented = |line: &&str| match line.is_empty() {
        true => String::new(),
        false => format!("{}{line}", " ".repeat(indent)),
    };
    let mut lines = vec![header.strip_suffix('\r').unwrap_or(header).to_owned()];
    lines.extend(written[..first].iter().map(|line| (*line).to_owned()));
    lines.extend(new[first..new.len() - last].iter().map(indented));
    lines.extend(written[written.len() - last..].iter().map(|line| (*line).to_owned()));
    Some(lines.join("\n"))
}

/// The number of blanks at the start of a line.
fn blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
