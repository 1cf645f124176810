//! Arguments with a syntax of their own, in addition to the shell's.

/// `KEY=VALUE` for `--set` of helm and linkerd, where commas, dots, braces and brackets are special: escapes the value.
/// `key` is a chart path and is not escaped.
pub fn helm_set(key: &str, value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        // A brace starts a list only at the start of a value.
        if matches!(c, ',' | '\\') || (c == '{' && escaped.is_empty()) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    format!("{key}={escaped}")
}

#[cfg(test)]
mod tests {
    use super::helm_set;

    #[test]
    fn commas_do_not_split_values() {
        assert_eq!(helm_set("clusterNetworks", "10.0.0.0/8,fd00::/8"), r"clusterNetworks=10.0.0.0/8\,fd00::/8");
        assert_eq!(helm_set("a", "{b}"), r"a=\{b}");
        assert_eq!(helm_set("a.b", r"c\d"), r"a.b=c\\d");
    }
}
