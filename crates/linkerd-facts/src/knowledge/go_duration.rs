//! Durations as Go's `time.ParseDuration` reads them, for values that a Go program reads. The policy controller's
//! `K8sDuration` follows the same rules.

use jiff::SignedDuration;

/// One more than the longest duration in nanoseconds; the shortest is its negative.
const LIMIT: u64 = 1 << 63;

/// A duration in Go's format: `[+-](NUMBER[.FRACTION]UNIT)+`, or a bare zero; within 64 bits of nanoseconds. Digits
/// beyond a nanosecond have no effect.
pub fn go_duration(text: &str) -> Option<SignedDuration> {
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0u64;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after, |c| !c.is_ascii_digit() && c != '.');
        total = total.checked_add(nanoseconds(number, unit)?).filter(|total| *total <= LIMIT)?;
        rest = after;
    }
    match is_negative {
        true => 0i64.checked_sub_unsigned(total).map(SignedDuration::from_nanos),
        false => i64::try_from(total).ok().map(SignedDuration::from_nanos),
    }
}

/// The text up to the first character that is not a part of it, and the rest.
fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// The nanoseconds of a number with at most one point and at least one digit.
fn nanoseconds(number: &str, unit: &str) -> Option<u64> {
    let unit: u64 = match unit {
        "ns" => 1,
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(unit)?.checked_add(part(fraction, unit))
}

/// The nanoseconds of the digits after the point, with the rounding of Go's floating-point numbers.
fn part(fraction: &str, unit: u64) -> u64 {
    let (mut part, mut scale) = (0u64, 1f64);
    for digit in fraction.bytes() {
        let next = part.checked_mul(10).and_then(|part| part.checked_add(u64::from(digit - b'0')));
        // More digits have no effect on a nanosecond, even of hours.
        let Some(next) = next.filter(|next| *next <= LIMIT) else { break };
        part = next;
        scale *= 10.0;
    }
    (part as f64 * (unit as f64 / scale)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let (second, minute, hour) = (1_000_000_000, 60_000_000_000, 3_600_000_000_000);
        for (text, nanoseconds) in [
            ("0", 0),
            ("+0", 0),
            ("-0", 0),
            ("0s", 0),
            ("5s", 5 * second),
            ("+5s", 5 * second),
            ("-5s", -5 * second),
            ("5.s", 5 * second),
            (".5s", second / 2),
            ("1.0040s", 1_004_000_000),
            ("11us", 11_000),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s", 12_000),
            ("13ms", 13_000_000),
            ("3h30m", 3 * hour + 30 * minute),
            ("10.5s4m", 4 * minute + 10 * second + second / 2),
            ("-2m3.4s", -(2 * minute + 3 * second + 400_000_000)),
            ("1h2m3s4ms5us6ns", hour + 2 * minute + 3 * second + 4_005_006),
            ("0.3333333333333333333h", 20 * minute),
            ("9007199254740993ns", (1 << 53) + 1),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("0.830103483285477580700h", 2_988_372_539_827),
        ] {
            assert_eq!(go_duration(text), Some(SignedDuration::from_nanos(nanoseconds)), "{text:?}");
        }
    }

    #[test]
    fn text_that_go_rejects_is_not_a_duration() {
        for text in [
            "",
            "+",
            "-",
            "3",
            "00",
            "s",
            ".",
            ".s",
            "+.s",
            "--3s",
            "+-3s",
            "3 s",
            " 3s",
            "3s ",
            "1.2.3s",
            "1x",
            "1sms",
            "1e3s",
            "3000000h",
            "9223372036854775808ns",
            "-9223372036854775809ns",
            "99999999999999999999s",
            "1s2",
        ] {
            assert_eq!(go_duration(text), None, "{text:?}");
        }
    }
}
