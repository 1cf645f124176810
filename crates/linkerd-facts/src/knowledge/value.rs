//! Types of values and their parsers: each accepts exactly what the component that reads the key accepts.

use std::borrow::Cow;

use std::net::IpAddr;
use std::time::Duration;

use jiff::SignedDuration;
use serde::Deserialize;

use super::go_duration;

/// The resource that a quantity measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    #[default]
    Any,
    Cpu,
    /// Memory or storage.
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ValueType {
    /// Anything.
    Text {},
    /// One of these words, exactly.
    OneOf {
        /// The words.
        values: Vec<String>,
    },
    /// A list of these words, separated by commas without blanks, in any case.
    Words {
        /// The words.
        values: Vec<String>,
    },
    /// Booleans of Go's `strconv.ParseBool`.
    GoBool {},
    /// The same words, parsed by the policy controller.
    StrictBool {},
    /// Durations of Go's `time.ParseDuration`.
    GoDuration {
        /// The smallest number of seconds.
        #[serde(default, rename = "min-seconds")]
        min_seconds: Option<i32>,
        /// The largest number of seconds.
        #[serde(default, rename = "max-seconds")]
        max_seconds: Option<i32>,
    },
    /// One whole number and one unit, as in the policy controller.
    PolicyDuration {
        /// Whether zero is excluded: the controller accepts it, and requests then fail.
        #[serde(default, rename = "above-zero")]
        above_zero: bool,
    },
    /// A number of seconds, or a Go duration.
    SecondsOrGoDuration {},
    /// A Kubernetes resource quantity that is not negative.
    Quantity {
        /// The measured resource, for the examples.
        #[serde(default)]
        of: Resource,
    },
    /// Any Kubernetes resource quantity.
    SignedQuantity {},
    /// Ports and ranges of ports, separated by commas.
    PortList {
        /// Whether blanks around elements are trimmed and empty elements skipped.
        #[serde(default)]
        blanks: bool,
        /// The lowest port.
        #[serde(default)]
        lowest: u16,
    },
    /// CIDRs separated by commas, blanks trimmed.
    CidrList {},
    /// A JSON list of environment variables as in a pod.
    EnvList {},
    /// A whole number.
    Integer {
        /// The smallest.
        min: Option<i64>,
        /// The largest.
        max: Option<i64>,
    },
    /// A number.
    Float {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
        /// Whether the bounds themselves are excluded.
        #[serde(default)]
        exclusive: bool,
    },
    /// The name of an image, without a tag.
    ImageName {},
    /// The tag of an image, perhaps with a digest.
    ImageTag {},
    /// Directives of a log filter, separated by commas: levels, targets, and targets with levels.
    LogFilter {},
    /// HTTP statuses to retry: `5xx`, `gateway-error`, a status or a range, separated by commas without blanks.
    RetryHttp {},
}

const BOOLS: [&str; 12] = ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"];

impl ValueType {
    /// The same type without some of its words.
    pub fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Cow<'_, ValueType> {
        match self {
            ValueType::OneOf { values } if values.iter().any(|word| is_left_out(word)) => {
                let values = values.iter().filter(|word| !is_left_out(word)).cloned().collect();
                Cow::Owned(ValueType::OneOf { values })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Whether `value` is accepted.
    ///
    /// # Errors
    /// A clause that describes the accepted values, after the quoted value.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let ok = match self {
            ValueType::Text {} => true,
            ValueType::OneOf { values } => values.iter().any(|known| known == value),
            ValueType::Words { values } => {
                value.split(',').all(|word| values.iter().any(|known| known.eq_ignore_ascii_case(word)))
            }
            ValueType::GoBool {} | ValueType::StrictBool {} => BOOLS.contains(&value),
            ValueType::GoDuration { min_seconds, max_seconds } => go_duration(value).is_some_and(|duration| {
                min_seconds.is_none_or(|least| duration >= SignedDuration::from_secs(least.into()))
                    && max_seconds.is_none_or(|most| duration <= SignedDuration::from_secs(most.into()))
            }),
            ValueType::PolicyDuration { above_zero } => {
                policy_duration(value).is_some_and(|duration| !(*above_zero && duration.is_zero()))
            }
            ValueType::SecondsOrGoDuration {} => {
                value.parse::<u32>().is_ok_and(|_| !value.starts_with('+')) || go_duration(value).is_some()
            }
            ValueType::Quantity { .. } => {
                quantity(value) && !(value.starts_with('-') && value.contains(|c: char| ('1'..='9').contains(&c)))
            }
            ValueType::SignedQuantity {} => quantity(value),
            ValueType::PortList { blanks, lowest } => {
                value.is_empty()
                    || value.split(',').all(|element| {
                        let element = if *blanks { element.trim() } else { element };
                        ports(element, *lowest) || (*blanks && element.is_empty())
                    })
            }
            ValueType::CidrList {} => value.is_empty() || value.split(',').all(|element| cidr(element.trim())),
            ValueType::EnvList {} => env_list(value),
            ValueType::Integer { min, max } => {
                value.parse::<i64>().is_ok_and(|n| min.is_none_or(|min| n >= min) && max.is_none_or(|max| n <= max))
            }
            ValueType::Float { min, max, exclusive } => value
                .parse::<f64>()
                .is_ok_and(|n| if *exclusive { n > *min && n < *max } else { n >= *min && n <= *max }),
            ValueType::ImageName {} => value.is_empty() || image_name(value),
            ValueType::ImageTag {} => value.is_empty() || image_tag(value),
            ValueType::LogFilter {} => directives(value).into_iter().all(directive),
            ValueType::RetryHttp {} => value.split(',').all(retry_http),
        };
        if ok { Ok(()) } else { Err(self.accepted()) }
    }

    /// Whether valid values are free text, parts of which the sanitizer may replace.
    pub fn is_free(&self) -> bool {
        matches!(self, ValueType::Text {} | ValueType::ImageName {} | ValueType::ImageTag {} | ValueType::LogFilter {})
    }

    /// Whether values are environment variables, which may hold secrets.
    pub fn is_env_list(&self) -> bool {
        matches!(self, ValueType::EnvList {})
    }

    /// Accepted values, in words.
    pub fn accepted(&self) -> String {
        match self {
            ValueType::Text {} => "any text is accepted".to_owned(),
            ValueType::OneOf { values } => {
                let words: Vec<&str> = values.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
                match words.as_slice() {
                    [one] => format!("expected {one}"),
                    words => format!("expected one of {}", list(words)),
                }
            }
            ValueType::Words { values } => {
                let words: Vec<&str> = values.iter().map(String::as_str).collect();
                format!("expected a list without blanks of {}", list(&words))
            }
            ValueType::GoBool {} | ValueType::StrictBool {} => {
                "expected true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)".to_owned()
            }
            ValueType::GoDuration { min_seconds: None, .. } => {
                "expected a duration with units, such as 250ms, 10s or 1m30s".to_owned()
            }
            ValueType::GoDuration { min_seconds: Some(least), .. } => {
                format!("expected a duration of at least {least}s with units, such as 10s or 1m30s")
            }
            ValueType::PolicyDuration { above_zero: true } => {
                "expected a time above 0 as one whole number with one unit of ms, s, m, h or d, such as 250ms or 10s"
                    .to_owned()
            }
            ValueType::PolicyDuration { above_zero: false } => {
                "expected one whole number with one unit of ms, s, m, h or d, such as 250ms or 10s".to_owned()
            }
            ValueType::SecondsOrGoDuration {} => "expected a number of seconds, or a duration such as 3s".to_owned(),
            ValueType::Quantity { of: Resource::Any } | ValueType::SignedQuantity {} => {
                "expected a Kubernetes quantity such as 100m, 0.5 or 64Mi".to_owned()
            }
            ValueType::Quantity { of: Resource::Cpu } => {
                "expected a Kubernetes quantity such as 100m or 0.5".to_owned()
            }
            ValueType::Quantity { of: Resource::Bytes } => {
                "expected a Kubernetes quantity such as 64Mi or 1Gi".to_owned()
            }
            ValueType::PortList { blanks, lowest } => format!(
                "expected port numbers and ranges from {lowest} to 65535, separated by commas{}, such as 80,8000-8999",
                if *blanks { "" } else { " without blanks" },
            ),
            ValueType::CidrList {} => "expected CIDRs separated by commas, such as 10.0.0.0/8,fd00::/8".to_owned(),
            ValueType::EnvList {} => {
                r#"expected a JSON list of environment variables, such as [{"name": "A", "value": "b"}]"#.to_owned()
            }
            ValueType::Integer { min, max } => match (min, max) {
                (Some(min), Some(max)) => format!("expected a whole number from {min} to {max}"),
                (Some(min), None) => format!("expected a whole number from {min} on"),
                (None, Some(max)) => format!("expected a whole number up to {max}"),
                (None, None) => "expected a whole number".to_owned(),
            },
            ValueType::Float { min, max, exclusive: true } => {
                format!("expected a number between {min} and {max}, exclusive")
            }
            ValueType::Float { min, max, exclusive: false } => format!("expected a number from {min} to {max}"),
            ValueType::ImageName {} => {
                "expected the name of an image without a tag, such as cr.l5d.io/linkerd/proxy".to_owned()
            }
            ValueType::ImageTag {} => "expected the tag of an image, such as edge-25.10.7".to_owned(),
            ValueType::LogFilter {} => {
                "expected levels (off, error, warn, info, debug, trace) and targets with levels, such as \
                 warn,linkerd=debug"
                    .to_owned()
            }
            ValueType::RetryHttp {} => {
                "expected a list without blanks of 5xx, gateway-error, statuses and ranges, such as 5xx or 429,500-599"
                    .to_owned()
            }
        }
    }
}

fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A duration as the policy controller reads it in annotations: a whole number and one unit, or 0. Trims
/// blanks; the number ends at the last digit, the rest is the unit; within 64 bits of milliseconds.
pub fn policy_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let last = text.rfind(|c: char| c.is_ascii_digit())?;
    let (number, unit) = text.split_at(last + 1);
    let number: u64 = number.parse().ok()?;
    let milliseconds = match unit {
        "" if number == 0 => 0,
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

fn quantity(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits(rest);
    let (mut end, mut fraction) = (whole, 0);
    if rest[end..].starts_with('.') {
        fraction = digits(&rest[end + 1..]);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return false;
    }
    let suffix = &rest[end..];
    let exponent = |text: &str| {
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        !text.is_empty() && digits(text) == text.len()
    };
    matches!(suffix, "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei")
        || suffix.strip_prefix(['e', 'E']).is_some_and(exponent)
}

fn ports(element: &str, lowest: u16) -> bool {
    let port = |text: &str| {
        (!text.is_empty() && digits(text) == text.len())
            .then(|| text.parse::<u16>().ok())
            .flatten()
            .filter(|port| *port >= lowest)
    };
    match element.split_once('-') {
        Some((from, to)) => matches!((port(from), port(to)), (Some(from), Some(to)) if from <= to),
        None => port(element).is_some(),
    }
}

fn cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    !bits.is_empty() && digits(bits) == bits.len() && bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

fn env_list(text: &str) -> bool {
    let Ok(serde_json::Value::Array(items)) = serde_json::from_str(text) else { return false };
    items.iter().all(|item| {
        let name = item.get("name").and_then(|name| name.as_str());
        let value = item.get("value").is_none_or(serde_json::Value::is_string);
        name.is_some_and(|name| !name.is_empty()) && value
    })
}

/// `[HOST[:PORT]/]PATH`, in lower case.
fn image_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.starts_with(is_plain)
            && part.ends_with(is_plain)
            && part.chars().all(|c| is_plain(c) || matches!(c, '.' | '_' | '-'))
    };
    let is_host = |host: &str| {
        let (name, port) = host.split_once(':').unwrap_or((host, "0"));
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        !name.is_empty() && name.chars().all(is_name) && port.parse::<u16>().is_ok()
    };
    match text.split_once('/') {
        Some((host, path)) => is_host(host) && path.split('/').all(is_part),
        None => is_part(text),
    }
}

fn image_tag(text: &str) -> bool {
    let (tag, digest) = text.split_once('@').map_or((text, None), |(tag, digest)| (tag, Some(digest)));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_digest = |digest: &str| {
        digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit()))
    };
    tag.len() <= 128
        && tag.starts_with(is_word)
        && tag.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
        && digest.is_none_or(is_digest)
}

/// The directives of a log filter; commas within brackets do not separate them.
fn directives(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let separates = |c: char| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        c == ',' && depth <= 0
    };
    text.split(separates).collect()
}

/// Whether a directive of a log filter has a valid level. A word without one is a level or a target.
fn directive(text: &str) -> bool {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let after_span = text.rsplit_once(']').map_or(text, |(_, rest)| rest);
    match after_span.trim().rsplit_once('=') {
        Some((_, level)) => {
            level.is_empty()
                || LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level))
                || matches!(level, "0" | "1" | "2" | "3" | "4" | "5")
        }
        None => true,
    }
}

fn retry_http(text: &str) -> bool {
    let status = |text: &str| text.len() == 3 && text.parse::<u16>().is_ok_and(|status| (100..600).contains(&status));
    match text.split_once('-') {
        _ if text.eq_ignore_ascii_case("5xx") || text.eq_ignore_ascii_case("gateway-error") => true,
        Some((from, to)) => status(from) && status(to) && from <= to,
        None => status(text),
    }
}

#[cfg(test)]
mod tests;
