//! The annotations of Services, EgressNetworks and routes for calls: timeouts, retries, circuit breaking.
//! An invalid value voids related ones: all timeouts and retries of a Service, everything of a route.

use std::time::Duration;

use super::super::routes::RouteKind;
use crate::knowledge::policy_duration;
use crate::objects::Meta;

/// Timeouts of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a request to the last byte of its response.
    pub request: Option<Duration>,
    /// From the last byte of a request to the head of its response.
    pub response: Option<Duration>,
    /// Without any byte in either direction.
    pub idle: Option<Duration>,
}

impl Timeouts {
    /// Whether requests time out before a response can arrive.
    pub fn fails_at_once(&self) -> bool {
        [self.request, self.response].into_iter().flatten().any(|limit| limit.is_zero())
    }
}

/// Retries of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of retries.
    pub limit: u16,
    /// Timeout of one try.
    pub timeout: Option<Duration>,
    /// The responses that are retried.
    pub on: RetryOn,
}

/// The responses that are retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryOn {
    /// HTTP statuses, as inclusive ranges.
    Statuses(Vec<(u16, u16)>),
    /// gRPC statuses.
    Grpc(Vec<GrpcStatus>),
}

/// A gRPC status that can be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrpcStatus {
    /// `cancelled`
    Cancelled,
    /// `deadline-exceeded`
    DeadlineExceeded,
    /// `resource-exhausted`
    ResourceExhausted,
    /// `internal`
    Internal,
    /// `unavailable`
    Unavailable,
}

impl GrpcStatus {
    const ALL: [(&'static str, GrpcStatus); 5] = [
        ("cancelled", GrpcStatus::Cancelled),
        ("deadline-exceeded", GrpcStatus::DeadlineExceeded),
        ("resource-exhausted", GrpcStatus::ResourceExhausted),
        ("internal", GrpcStatus::Internal),
        ("unavailable", GrpcStatus::Unavailable),
    ];

    /// Its name in annotations.
    pub fn label(self) -> &'static str {
        GrpcStatus::ALL.iter().find(|(_, status)| *status == self).map_or("", |(word, _)| word)
    }
}

/// Circuit breaking: when an endpoint is ejected temporarily.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accrual {
    /// Number of consecutive failures.
    pub failures: u32,
    /// The initial pause.
    pub least: Duration,
    /// The maximum pause.
    pub most: Duration,
    /// The jitter of pauses.
    pub jitter: f32,
    /// The success rate below which an endpoint is ejected too; `None` if only consecutive failures count.
    pub success: Option<SuccessRate>,
}

/// A required success rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuccessRate {
    /// The minimum rate, from 0 to 1.
    pub threshold: f64,
    /// The time window.
    pub window: Duration,
    /// The minimum number of requests in the window.
    pub requests: u32,
}

/// Reduced load of failing endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Penalty {
    /// The latency that is assumed for an endpoint after a failure.
    pub penalty: Duration,
    /// The maximum of an endpoint's own Retry-After that is honored.
    pub most: Duration,
}

/// Parses a duration as the controller does.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    policy_duration(text).ok_or_else(|| format!("{text:?} is not a duration such as 250ms or 10s"))
}

fn annotation<T>(meta: &Meta, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    meta.annotation(key).map(|text| read(text).map_err(|why| format!("{key}: {why}"))).transpose()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a valid number"))
}

/// Reads the timeouts.
pub(crate) fn timeouts(meta: &Meta) -> Result<Timeouts, String> {
    Ok(Timeouts {
        response: annotation(meta, "timeout.linkerd.io/response", duration)?,
        request: annotation(meta, "timeout.linkerd.io/request", duration)?,
        idle: annotation(meta, "timeout.linkerd.io/idle", duration)?,
    })
}

/// Reads the retries of HTTP or gRPC.
pub(crate) fn retry(meta: &Meta, kind: RouteKind) -> Result<Option<Retry>, String> {
    let limit = annotation(meta, "retry.linkerd.io/limit", |text| {
        text.parse::<u16>().map_err(|_| format!("{text:?} is not a valid number"))
    })?;
    let limit = limit.filter(|limit| *limit != 0);
    let timeout = annotation(meta, "retry.linkerd.io/timeout", duration)?.filter(|timeout| !timeout.is_zero());
    let on = match kind {
        RouteKind::Grpc => annotation(meta, "retry.linkerd.io/grpc", grpc)?.map(RetryOn::Grpc),
        _ => annotation(meta, "retry.linkerd.io/http", statuses)?.map(RetryOn::Statuses),
    };
    if limit.is_none() && timeout.is_none() && on.is_none() {
        return Ok(None);
    }
    let never = || match kind {
        RouteKind::Grpc => RetryOn::Grpc(Vec::new()),
        _ => RetryOn::Statuses(Vec::new()),
    };
    Ok(Some(Retry { limit: limit.unwrap_or(1), timeout, on: on.unwrap_or_else(never) }))
}

fn statuses(text: &str) -> Result<Vec<(u16, u16)>, String> {
    let status = |text: &str| text.parse::<u16>().ok().filter(|code| (100..600).contains(code));
    let one = |word: &str| {
        if word.eq_ignore_ascii_case("5xx") {
            return Some((500, 599));
        }
        if word.eq_ignore_ascii_case("gateway-error") {
            return Some((502, 504));
        }
        status(word).map(|code| (code, code)).or_else(|| {
            let (first, last) = word.split_once('-')?;
            let (first, last) = (status(first)?, status(last)?);
            (first <= last).then_some((first, last))
        })
    };
    text.split(',')
        .map(|word| {
            one(word).ok_or_else(|| {
                format!(
                    "{word:?} is not a status to \
        retry"
                )
            })
        })
        .collect()
}

fn grpc(text: &str) -> Result<Vec<GrpcStatus>, String> {
    let one = |word: &str| {
        let known = GrpcStatus::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, status)| *status).ok_or_else(|| format!("{word:?} is not a status to retry"))
    };
    text.split(',').map(one).collect()
}

const CONSECUTIVE: &str = "balancer.linkerd.io/failure-accrual-consecutive";
const SUCCESS: &str = "balancer.alpha.linkerd.io/failure-accrual-success-rate";

/// Reads the circuit breaking; `unified`: the release supports that mode.
pub(crate) fn accrual(meta: &Meta, unified: bool) -> Result<Option<Accrual>, String> {
    const MODE: &str = "balancer.linkerd.io/failure-accrual";
    let Some(mode) = meta.annotation(MODE) else { return Ok(None) };
    let success = match mode {
        "consecutive" => None,
        "unified" if unified => Some(success_rate(meta)?),
        other => return Err(format!("{MODE}: this release does not support mode {other:?}")),
    };
    let key = |end: &str| format!("{CONSECUTIVE}-{end}");
    let failures = annotation(meta, &key("max-failures"), number)?.unwrap_or(7);
    let most = annotation(meta, &key("max-penalty"), duration)?.unwrap_or(Duration::from_secs(60));
    let least = annotation(meta, &key("min-penalty"), duration)?.unwrap_or(Duration::from_secs(1));
    let jitter: f32 = annotation(meta, &key("jitter-ratio"), number)?.unwrap_or(0.5);
    if least > most {
        return Err(format!("{CONSECUTIVE}-min-penalty is more than {CONSECUTIVE}-max-penalty"));
    }
    if most.is_zero() {
        return Err(format!("{CONSECUTIVE}-max-penalty is zero"));
    }
    if !(0.0..=100.0).contains(&jitter) {
        return Err(format!("{CONSECUTIVE}-jitter-ratio is not between 0 and 100"));
    }
    Ok(Some(Accrual { failures, least, most, jitter, success }))
}

fn success_rate(meta: &Meta) -> Result<SuccessRate, String> {
    let key = |end: &str| format!("{SUCCESS}-{end}");
    let threshold: f64 = annotation(meta, &key("threshold"), number)?.unwrap_or(0.8);
    let window = annotation(meta, &key("window"), duration)?.unwrap_or(Duration::from_secs(10));
    let requests: u32 = annotation(meta, &key("min-requests"), number)?.unwrap_or(5);
    if !(0.0..=1.0).contains(&threshold) {
        return Err(format!("{SUCCESS}-threshold is not between 0 and 1"));
    }
    // Values that the proxy would reject matter only if the success rate counts.
    let least = if threshold == 0.0 { Duration::from_nanos(1) } else { Duration::from_millis(10) };
    if window < least {
        return Err(format!("{SUCCESS}-window is less than 10ms"));
    }
    if threshold != 0.0 && requests > 1_000_000 {
        return Err(format!("{SUCCESS}-min-requests is more than 1000000"));
    }
    Ok(SuccessRate { threshold, window, requests })
}

/// Reads the reduced load of failing endpoints, in releases that support it.
pub(super) fn penalty(meta: &Meta) -> Result<Option<Penalty>, String> {
    const ON: &str = "balancer.alpha.linkerd.io/penalize-failures";
    match meta.annotation(ON).map(str::trim) {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => return Ok(None),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => {}
        Some(other) => return Err(format!("{ON}: {other:?} is neither true nor false")),
    }
    let penalty = annotation(meta, "balancer.alpha.linkerd.io/load-biaser-penalty", duration)?;
    let most = annotation(meta, "balancer.alpha.linkerd.io/load-biaser-max-retry-after", duration)?;
    let penalty = penalty.unwrap_or(Duration::from_secs(5));
    if penalty.as_millis() > u128::from(u32::MAX) {
        return Err("balancer.alpha.linkerd.io/load-biaser-penalty is more than 49 days".to_owned());
    }
    Ok(Some(Penalty { penalty, most: most.unwrap_or(Duration::from_secs(300)) }))
}

/// Whether the proxy honors an endpoint's Retry-After.
pub(super) fn honours_retry_after(meta: &Meta) -> Result<bool, String> {
    const KEY: &str = "balancer.alpha.linkerd.io/failure-accrual-honor-retry-after";
    match meta.annotation(KEY).map(str::trim) {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some(other) => Err(format!("{KEY}: {other:?} is neither true nor false")),
    }
}
