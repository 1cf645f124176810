//! Quantities as Kubernetes writes them: `250m`, `1.5`, `20Mi`, `1e3`.

/// A quantity in its base unit (cores, bytes); `None` if invalid.
pub fn read(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|letter: char| !matches!(letter, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let factor = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024_f64.powi(4),
        "Pi" => 1024_f64.powi(5),
        "Ei" => 1024_f64.powi(6),
        exponent => 10_f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_quantities_are_parsed() {
        for (text, value) in [
            ("250m", 0.25),
            ("1", 1.0),
            ("1.5", 1.5),
            ("20Mi", 20_971_520.0),
            ("1e3", 1000.0),
            ("2E2", 200.0),
            ("1k", 1000.0),
        ] {
            let read = read(text).unwrap_or_default();
            assert!((read - value).abs() < 1e-9, "{text}: {read}");
        }
        for text in ["", "m", "abc", "1x", "1ee"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
