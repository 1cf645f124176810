//! Tokens that are harmless by their form: numbers, quantities, durations, times, addresses, versions.

use std::net::{IpAddr, SocketAddr};

/// Plain numbers with more digits are kept only after a key for numbers.
const DIGITS: usize = 10;
/// A number with this many digits may be a one-time password or PIN.
const SHORT: usize = 4;

/// Numbers to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Any,
    /// At most this many digits.
    UpTo(usize),
    /// Those in messages: ports, counts, process ids.
    Usual,
    /// None that may be a PIN.
    Small,
}

/// Whether a token is harmless by its form.
pub(super) fn is_typed(token: &str, numbers: Numbers) -> bool {
    let first = token.trim_start_matches(['-', '+', 'v', '~']);
    let digits = first.as_bytes().first().is_some_and(u8::is_ascii_digit);
    digits && (is_number(token, numbers) || is_time(token) || is_quantity(token) || is_version(first))
        || is_address(token)
        || is_klog(token)
}

/// Whether a typed token is not a secret even near a word that announces one: a small number, a time, a short duration,
/// an IPv4 address.
pub(super) fn is_common(token: &str) -> bool {
    let short = token.split(|c: char| !c.is_ascii_digit()).all(|digits| digits.len() < SHORT);
    is_number(token, Numbers::Small)
        || is_time(token)
        || is_quantity(token) && short
        || token.matches(':').count() <= 1 && token.matches('.').count() == 3 && is_address(token)
}

fn is_number(token: &str, numbers: Numbers) -> bool {
    let token = token.trim_start_matches(['-', '+']).trim_end_matches('%');
    let limit = match numbers {
        Numbers::Any => 24,
        Numbers::UpTo(digits) => digits,
        Numbers::Usual => DIGITS,
        Numbers::Small => SHORT - 1,
    };
    // `0/3`, `1.5`, `80:443`, `10-20`
    token.split(['/', '.', ':', '-']).count() <= 3
        && token
            .split(['/', '.', ':', '-'])
            .all(|part| !part.is_empty() && part.len() <= limit && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Dates, times of day, or both, with or without a zone: digits between separators.
fn is_time(token: &str) -> bool {
    let zone = token.strip_suffix('Z').unwrap_or(token);
    let (date, time) = match zone.split_once(['T', '_']) {
        Some((date, time)) => (Some(date), Some(time)),
        None if zone.contains(':') => (None, Some(zone)),
        None => (Some(zone), None),
    };
    let time = time.map(|time| {
        let zone = time.rfind(['+', '-']).filter(|at| *at >= 5);
        zone.map_or(time, |at| &time[..at])
    });
    date.is_none_or(is_date) && time.is_none_or(is_time_of_day)
}

fn is_date(date: &str) -> bool {
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    sizes == [4, 2, 2] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_time_of_day(time: &str) -> bool {
    let (whole, fraction) = time.split_once(['.', ',']).unwrap_or((time, ""));
    let parts: Vec<&str> = whole.split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
        && fraction.len() <= 9
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// Durations and sizes: numbers, each with a unit.
fn is_quantity(token: &str) -> bool {
    const UNITS: [&str; 29] = [
        "ns", "us", "µs", "ms", "s", "m", "h", "d", "y", "min", "sec", "Ki", "Mi", "Gi", "Ti", "KiB", "MiB", "GiB",
        "TiB", "k", "K", "M", "G", "B", "kB", "KB", "MB", "GB", "x",
    ];
    let mut rest = token.trim_start_matches(['-', '+']);
    let mut parts = 0;
    while !rest.is_empty() {
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (digits, more) = rest.split_at(number);
        let unit = more.find(|c: char| c.is_ascii_digit()).unwrap_or(more.len());
        parts += 1;
        if digits.is_empty() || digits.len() > 20 || parts > 5 || !UNITS.contains(&&more[..unit]) {
            return false;
        }
        rest = &more[unit..];
    }
    parts > 0
}

/// `1.2.3`, `2.14.10-rc1`, `26.8.3`: numbers between dots, and a short word of a release behind them.
fn is_version(token: &str) -> bool {
    let (numbers, suffix) = token.split_once(['-', '+']).unwrap_or((token, ""));
    let parts: Vec<&str> = numbers.split('.').collect();
    let release = |part: &str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() - word.len() <= 4
            && matches!(word, "" | "rc" | "alpha" | "beta" | "eks" | "gke" | "k" | "r" | "debian" | "el")
    };
    (2..=4).contains(&parts.len())
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
        && suffix.len() <= 24
        && (suffix.is_empty() || suffix.split(['.', '-', '+']).all(release))
}

/// IP addresses, with a port or as a range of addresses.
fn is_address(token: &str) -> bool {
    if !token.contains(['.', ':']) {
        return false;
    }
    let host = token.split_once('/').map_or(token, |(host, length)| {
        if length.len() <= 3 && length.bytes().all(|byte| byte.is_ascii_digit()) { host } else { "" }
    });
    // `::` alone separates parts of module names.
    host.parse::<IpAddr>().is_ok() && host.len() > 2 || token.parse::<SocketAddr>().is_ok()
}

/// First word of a klog line: `E0115`.
fn is_klog(token: &str) -> bool {
    let bytes = token.as_bytes();
    bytes.len() == 5 && matches!(bytes[0], b'I' | b'W' | b'E' | b'F') && bytes[1..].iter().all(u8::is_ascii_digit)
}

/// A uid of a Kubernetes object.
pub(super) fn is_uid(token: &str) -> bool {
    let parts: Vec<&str> = token.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|part| is_hex(part))
}

/// Lower-case hexadecimal digits.
pub(super) fn is_hex(token: &str) -> bool {
    token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_times_addresses_and_versions_are_typed() {
        for token in [
            "0",
            "-1",
            "0/3",
            "99.5%",
            "1500",
            "30s",
            "1h5m0.5s",
            "12.000001s",
            "128Mi",
            "100m",
            "2026-01-15",
            "2026-01-15T11:58:11Z",
            "2026-01-15T11:58:11.123456+01:00",
            "11:58:11.123456",
            "10.96.0.1",
            "10.96.0.1:443",
            "10.0.0.0/16",
            "fd00::1",
            "[fd00::1]:443",
            "v1.34.1",
            "2.14.10-rc1",
            "E0115",
            "26.8.3",
        ] {
            assert!(is_typed(token, Numbers::Usual), "{token}");
        }
        for token in ["hunter2", "12345678901", "4711abc", "1a2b3c4d", "::", "E01155", "1.2.3-c4n4ry", "20260115T1"] {
            assert!(!is_typed(token, Numbers::Usual), "{token}");
        }
        assert!(!is_typed("482913", Numbers::Small) && is_typed("443", Numbers::Small));
        assert!(is_typed("1768478291123456789", Numbers::Any));
        assert!(is_uid("0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1") && !is_uid("0f7c5ae4-9a5c"));
    }
}
