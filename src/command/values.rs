//! Arguments whose text has a syntax of its own beside the shell's.

/// `KEY=VALUE` for helm's (and linkerd's) `--set`, in which commas part values, and dots, braces and brackets have a
/// meaning: the value arrives as it is. `key` is a path of the chart and is not escaped.
pub fn helm_set(key: &str, value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        // A brace begins a list where it begins a value.
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
    fn commas_part_no_values() {
        assert_eq!(
            helm_set("clusterNetworks", "10.0.0.0/8,fd00::/8"),
            r"clusterNetworks=10.0.0.0/8\,fd00::/8"
        );
        assert_eq!(helm_set("a", "{b}"), r"a=\{b}");
        assert_eq!(helm_set("a.b", r"c\d"), r"a.b=c\\d");
    }
}
