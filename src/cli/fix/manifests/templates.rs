//! Edits of documents with template expressions (`{{ }}`), which are not YAML: words replace the expressions during the
//! edit.

use crate::yaml;

/// Start and end of an expression.
const MARKS: [&str; 2] = ["{{", "}}"];

/// A document with an edit, which sees it without template expressions if it cannot be read with them.
///
/// # Errors
/// The edit cannot be made, with the reason.
pub(super) fn edited(document: &str, edit: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let first = edit(document);
    let is_template = document.contains(MARKS[0]) && yaml::parse::<serde_json::Value>(document).is_err();
    if first.is_ok() || !is_template {
        return first;
    }
    let Some((masked, expressions)) = masked(document) else { return first };
    let edited = edit(&masked).map_err(|why| format!("{why} (the file is a template)"))?;
    let restored = expressions.iter().fold(edited, |text, (word, expression)| text.replacen(word, expression, 1));
    // Each expression must be at its place again.
    let is_whole = |text: &str| MARKS.map(|mark| text.matches(mark).count());
    match is_whole(&restored) == is_whole(document) {
        true => Ok(restored),
        false => Err("the edit changes a template expression".to_owned()),
    }
}

/// The document with a word in place of each expression. A line of expressions alone becomes a comment. `None` if an
/// expression has several lines.
fn masked(document: &str) -> Option<(String, Vec<(String, String)>)> {
    let mut masked = String::with_capacity(document.len());
    let mut expressions = Vec::new();
    for line in document.split_inclusive('\n') {
        let content = line.trim();
        let is_alone = content.starts_with(MARKS[0]) && content.ends_with(MARKS[1]);
        if is_alone {
            let indent = &line[..line.len() - line.trim_start().len()];
            let end = &line[line.trim_end().len()..];
            let word = word(expressions.len());
            masked.push_str(&format!("{indent}#{word}{end}"));
            expressions.push((format!("#{word}"), content.to_owned()));
            continue;
        }
        let mut rest = line;
        while let Some(start) = rest.find(MARKS[0]) {
            let end = start + rest[start..].find(MARKS[1])? + MARKS[1].len();
            let word = word(expressions.len());
            masked.push_str(&rest[..start]);
            masked.push_str(&word);
            expressions.push((word, rest[start..end].to_owned()));
            rest = &rest[end..];
        }
        masked.push_str(rest);
    }
    Some((masked, expressions))
}

/// A word that no document contains, and that no other one begins with.
fn word(number: usize) -> String {
    format!("meshdoctor-template-{number}-")
}

#[cfg(test)]
mod tests {
    use super::edited;

    #[test]
    fn expressions_stay_as_they_are() {
        let text = "a:\n  {{- if .x }}\n  b: {{ .Values.b | quote }}  # {{ c }}\n  d: \"{{ .e }}-1\"\n  {{- end }}\n  \
                    wrong: 1\n";
        let rename = |text: &str| match text.contains("{{") {
            true => Err("no YAML".to_owned()),
            false => Ok(text.replace("wrong", "right")),
        };
        assert_eq!(edited(text, rename), Ok(text.replace("wrong", "right")));
        let removes = |text: &str| match text.contains("{{") {
            true => Err("no YAML".to_owned()),
            false => Ok(text.lines().filter(|line| !line.contains("d:")).collect()),
        };
        assert!(edited(text, removes).is_err_and(|why| why.contains("template expression")));
        assert_eq!(edited("a: {{ x\n  }}\n", |_| Err("no".to_owned())), Err("no".to_owned()));
        let is_seen = |text: &str| Err(format!("{}", text.contains("{{ x }}")));
        assert_eq!(edited("a: '{{ x }}'\n", is_seen), Err("true".to_owned()));
    }
}
