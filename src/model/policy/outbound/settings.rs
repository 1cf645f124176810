//! What annotations of Services, EgressNetworks and routes say of calls: time limits, retries, circuit breaking. A value that
//! cannot be read takes others with it: all limits of a Service, all of a route.

use std::time::Duration;

use super::super::routes::RouteKind;
use crate::objects::Meta;

/// What answers may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a request to the last of its answer.
    pub request: Option<Duration>,
    /// From the last byte of a request to the head of its answer.
    pub response: Option<Duration>,
    /// Without a byte in either direction.
    pub idle: Option<Duration>,
}

/// What is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// How often.
    pub limit: u16,
    /// What one try may take.
    pub timeout: Option<Duration>,
    /// After which answers.
    pub on: RetryOn,
}

/// The answers after which a request is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryOn {
    /// HTTP statuses, from and to.
    Statuses(Vec<(u16, u16)>),
    /// Statuses of gRPC, by name.
    Grpc(Vec<GrpcStatus>),
}

/// A status of gRPC after which a request can be tried again.
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

    /// As annotations write it.
    pub fn word(self) -> &'static str {
        GrpcStatus::ALL.iter().find(|(_, status)| *status == self).map_or("", |(word, _)| word)
    }
}

/// When an endpoint is left alone for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accrual {
    /// After so many failures in a row.
    pub failures: u32,
    /// For so long at first.
    pub least: Duration,
    /// And for so long at most.
    pub most: Duration,
    /// By how much the pauses vary.
    pub jitter: f32,
    /// Or by the share of what succeeds; `None` where failures in a row alone count.
    pub success: Option<SuccessRate>,
}

/// How much has to succeed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuccessRate {
    /// This share, from 0 to 1.
    pub threshold: f64,
    /// Within so long.
    pub window: Duration,
    /// Of at least so many requests.
    pub requests: u32,
}

/// How endpoints that fail are given less to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Penalty {
    /// For how slow an endpoint is taken after a failure.
    pub penalty: Duration,
    /// The longest that is believed of what it asks for itself.
    pub most: Duration,
}

/// What the controller understands of a duration: a whole number and one unit, or 0.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let bad = || format!("{text:?} is no duration such as 250ms or 10s");
    let end = text.rfind(|c: char| c.is_ascii_digit()).ok_or_else(bad)?;
    let (number, unit) = text.split_at(end + 1);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let milliseconds = match unit {
        "" if number == 0 => 0,
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(bad()),
    };
    number.checked_mul(milliseconds).map(Duration::from_millis).ok_or_else(bad)
}

fn said<T>(meta: &Meta, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    meta.annotation(key).map(|text| read(text).map_err(|why| format!("{key}: {why}"))).transpose()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number that it takes"))
}

/// The time limits.
pub(super) fn timeouts(meta: &Meta) -> Result<Timeouts, String> {
    Ok(Timeouts {
        response: said(meta, "timeout.linkerd.io/response", duration)?,
        request: said(meta, "timeout.linkerd.io/request", duration)?,
        idle: said(meta, "timeout.linkerd.io/idle", duration)?,
    })
}

/// What is tried again, of HTTP or of gRPC.
pub(super) fn retry(meta: &Meta, kind: RouteKind) -> Result<Option<Retry>, String> {
    let limit = said(meta, "retry.linkerd.io/limit", |text| {
        text.parse::<u16>().map_err(|_| format!("{text:?} is no number that it takes"))
    })?;
    let limit = limit.filter(|limit| *limit != 0);
    let timeout = said(meta, "retry.linkerd.io/timeout", duration)?.filter(|timeout| !timeout.is_zero());
    let on = match kind {
        RouteKind::Grpc => said(meta, "retry.linkerd.io/grpc", grpc)?.map(RetryOn::Grpc),
        _ => said(meta, "retry.linkerd.io/http", statuses)?.map(RetryOn::Statuses),
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
    text.split(',').map(|word| one(word).ok_or_else(|| format!("{word:?} is no status to retry"))).collect()
}

fn grpc(text: &str) -> Result<Vec<GrpcStatus>, String> {
    let one = |word: &str| {
        let known = GrpcStatus::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, status)| *status).ok_or_else(|| format!("{word:?} is no status to retry"))
    };
    text.split(',').map(one).collect()
}

const CONSECUTIVE: &str = "balancer.linkerd.io/failure-accrual-consecutive";
const SUCCESS: &str = "balancer.alpha.linkerd.io/failure-accrual-success-rate";

/// When endpoints are left alone; `unified` says whether the release knows that mode.
pub(super) fn accrual(meta: &Meta, unified: bool) -> Result<Option<Accrual>, String> {
    const MODE: &str = "balancer.linkerd.io/failure-accrual";
    let Some(mode) = meta.annotation(MODE) else { return Ok(None) };
    let success = match mode {
        "consecutive" => None,
        "unified" if unified => Some(success_rate(meta)?),
        other => return Err(format!("{MODE}: this release knows no mode {other:?}")),
    };
    let key = |end: &str| format!("{CONSECUTIVE}-{end}");
    let failures = said(meta, &key("max-failures"), number)?.unwrap_or(7);
    let most = said(meta, &key("max-penalty"), duration)?.unwrap_or(Duration::from_secs(60));
    let least = said(meta, &key("min-penalty"), duration)?.unwrap_or(Duration::from_secs(1));
    let jitter: f32 = said(meta, &key("jitter-ratio"), number)?.unwrap_or(0.5);
    if least > most {
        return Err(format!("{CONSECUTIVE}-min-penalty is more than {CONSECUTIVE}-max-penalty"));
    }
    if most.is_zero() {
        return Err(format!("{CONSECUTIVE}-max-penalty is nothing"));
    }
    if !(0.0..=100.0).contains(&jitter) {
        return Err(format!("{CONSECUTIVE}-jitter-ratio is not within 0 and 100"));
    }
    Ok(Some(Accrual { failures, least, most, jitter, success }))
}

fn success_rate(meta: &Meta) -> Result<SuccessRate, String> {
    let key = |end: &str| format!("{SUCCESS}-{end}");
    let threshold: f64 = said(meta, &key("threshold"), number)?.unwrap_or(0.8);
    let window = said(meta, &key("window"), duration)?.unwrap_or(Duration::from_secs(10));
    let requests: u32 = said(meta, &key("min-requests"), number)?.unwrap_or(5);
    if !(0.0..=1.0).contains(&threshold) {
        return Err(format!("{SUCCESS}-threshold is not within 0 and 1"));
    }
    // What the proxy would refuse counts only where the share counts.
    let least = if threshold == 0.0 { Duration::from_nanos(1) } else { Duration::from_millis(10) };
    if window < least {
        return Err(format!("{SUCCESS}-window is less than 10ms"));
    }
    if threshold != 0.0 && requests > 1_000_000 {
        return Err(format!("{SUCCESS}-min-requests is more than 1000000"));
    }
    Ok(SuccessRate { threshold, window, requests })
}

/// How endpoints that fail are given less to do; of releases that know it.
pub(super) fn penalty(meta: &Meta) -> Result<Option<Penalty>, String> {
    const ON: &str = "balancer.alpha.linkerd.io/penalize-failures";
    match meta.annotation(ON).map(str::trim) {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => return Ok(None),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => {}
        Some(other) => return Err(format!("{ON}: {other:?} is neither true nor false")),
    }
    let penalty = said(meta, "balancer.alpha.linkerd.io/load-biaser-penalty", duration)?;
    let most = said(meta, "balancer.alpha.linkerd.io/load-biaser-max-retry-after", duration)?;
    let penalty = penalty.unwrap_or(Duration::from_secs(5));
    if penalty.as_millis() > u128::from(u32::MAX) {
        return Err("balancer.alpha.linkerd.io/load-biaser-penalty is more than 49 days".to_owned());
    }
    Ok(Some(Penalty { penalty, most: most.unwrap_or(Duration::from_secs(300)) }))
}

/// Whether what an endpoint asks for itself is waited for.
pub(super) fn honours_retry_after(meta: &Meta) -> Result<bool, String> {
    const KEY: &str = "balancer.alpha.linkerd.io/failure-accrual-honor-retry-after";
    match meta.annotation(KEY).map(str::trim) {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some(other) => Err(format!("{KEY}: {other:?} is neither true nor false")),
    }
}
