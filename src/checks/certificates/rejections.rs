//! Identity's errors about the issuer in its memory, with which it rejects every certificate request: in its
//! events and its log. An error about the validity period quotes the dates of that issuer.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::identity::identity_started;
use crate::certificates::Certificate;
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, reported};
use crate::finding::Moment;
use crate::model::events;
use crate::model::installed::COMPONENT;
use crate::model::moments;
use crate::objects::Event;

/// The event of a rejected certificate request.
const FAILED: &str = "IssuerValidationFailed";
/// The rows of `mesh-logs.yaml` about the same error.
const ROWS: [&str; 4] =
    ["csr-refused", "issuer-in-memory-expired", "issuer-in-memory-untrusted", "issuer-not-yet-valid"];

/// An error of identity about the issuer in its memory.
pub(super) struct Rejection {
    pub(super) at: Timestamp,
    /// The validity of that issuer, as far as the error quotes it.
    not_before: Option<Timestamp>,
    not_after: Option<Timestamp>,
    /// The end of the validity that is over, of the issuer or of a trust anchor.
    over: Option<Timestamp>,
    is_untrusted: bool,
    pub(super) evidence: Evidence,
    pub(super) moments: Vec<Moment>,
}

impl Rejection {
    fn new(text: &str, at: Timestamp, evidence: Evidence, moments: Vec<Moment>) -> Rejection {
        let after = |phrase: &str| Some(text.split_once(phrase)?.1);
        let over = after(" is after ").and_then(|rest| rest.split([' ', ',']).next()?.parse().ok());
        Rejection {
            at,
            not_before: after("Invalid before ").and_then(printed),
            not_after: after("Invalid After ").and_then(printed),
            over,
            is_untrusted: text.contains("unknown authority"),
            evidence,
            moments,
        }
    }

    /// Whether the error is about another issuer than this.
    pub(super) fn is_of_other(&self, issuer: &Certificate) -> bool {
        self.not_before.is_some_and(|at| at != issuer.not_before())
            || self.not_after.is_some_and(|at| at != issuer.not_after())
    }

    /// Whether the error is about an issuer with the dates of this one.
    fn is_of(&self, issuer: &Certificate) -> bool {
        (self.not_before.is_some() || self.not_after.is_some()) && !self.is_of_other(issuer)
    }

    /// The end of the issuer in memory, if that is over.
    pub(super) fn ended(&self) -> Option<Timestamp> {
        self.over.filter(|over| self.not_after.is_none_or(|end| end == *over))
    }
}

/// A time as Go prints it: `2026-01-15 06:05:00 +0000 UTC`.
fn printed(text: &str) -> Option<Timestamp> {
    let time: DateTime = text.get(..19)?.parse().ok()?;
    let zone = text.get(19..)?.strip_prefix(" +0000")?;
    zone.starts_with([' ', '"']).then(|| time.to_zoned(TimeZone::UTC).ok())?.map(|zoned| zoned.timestamp())
}

/// The pods of identity that are not finished.
pub(super) fn identity_pods<'a>(ctx: &Context<'_>, pods: &'a [Pod]) -> impl Iterator<Item = &'a Pod> {
    let namespace = ctx.namespaces().control_plane.clone();
    pods.iter().filter(move |pod| {
        let meta = &pod.metadata;
        meta.namespace == namespace && meta.label(COMPONENT) == Some("identity") && !pod.is_finished()
    })
}

/// The current errors, the newest first. Reads events, logs and pods, if available.
pub(super) fn rejections(ctx: &Context<'_>) -> Vec<Rejection> {
    let namespace = ctx.namespaces().control_plane.as_str();
    let pods: Vec<&Pod> = identity_pods(ctx, ctx.optional_list::<Pod>()).collect();
    let runs_since = |at: Timestamp| pods.iter().any(|pod| identity_started(pod).is_some_and(|start| start <= at));
    let own = ctx.optional_list::<Event>().iter().filter(|event| event.reason == FAILED);
    let own = own.filter(|event| event.about.namespace == namespace);
    let newest = own.filter(|event| event.last.is_some()).max_by_key(|event| event.last);
    let newest = newest.and_then(|event| Some((event, event.last.get().filter(|at| runs_since(*at))?)));
    let of_event = newest.map(|(event, at)| {
        let object = format!("{} {namespace}/{}", event.about.kind, event.about.name);
        Rejection::new(&event.message, at, events::quoted(object, event), moments::of_event(event))
    });
    let mut found: Vec<Rejection> = of_event.into_iter().chain(pods.iter().flat_map(|pod| logged(ctx, pod))).collect();
    found.sort_by_key(|rejection| std::cmp::Reverse(rejection.at));
    found
}

/// The errors in the log of a pod of identity.
fn logged(ctx: &Context<'_>, pod: &Pod) -> Vec<Rejection> {
    let log = log_of(ctx.log_hints(), pod, "identity");
    let said = reported(ctx, log, pod, "identity");
    let own = said.iter().filter(|said| ROWS.contains(&said.id()));
    own.filter_map(|said| Some(Rejection::new(said.lines().last()?, said.last()?, said.evidence(pod), Vec::new())))
        .collect()
}

/// The newest error about an issuer with the dates of this one, as evidence.
pub(super) fn about(ctx: &Context<'_>, issuer: &Certificate) -> Option<Evidence> {
    rejections(ctx).into_iter().find(|rejection| rejection.is_of(issuer)).map(|rejection| rejection.evidence)
}

/// The newest error about an issuer that the trust anchors do not verify, as evidence.
pub(super) fn untrusted(ctx: &Context<'_>) -> Option<Evidence> {
    rejections(ctx).into_iter().find(|rejection| rejection.is_untrusted).map(|rejection| rejection.evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(text: &str) -> Rejection {
        Rejection::new(text, Timestamp::UNIX_EPOCH, Evidence::other("a log", text), Vec::new())
    }

    #[test]
    fn dates_of_the_issuer_in_memory_are_read() {
        let text = "x509: certificate has expired or is not yet valid: current time 2026-01-15T12:00:00Z is after \
             2026-01-15T06:05:00Z - Current Time : 2026-01-15 12:00:00.123 +0000 UTC m=+9.5 - Invalid before \
             2026-01-13 06:05:00 +0000 UTC - Invalid After 2026-01-15 06:05:00 +0000 UTC - CSR Identity : web";
        let read = rejection(text);
        let at = |text: &str| text.parse::<Timestamp>().ok();
        assert_eq!(read.not_before, at("2026-01-13T06:05:00Z"));
        assert_eq!(read.not_after, at("2026-01-15T06:05:00Z"));
        assert_eq!(read.ended(), read.not_after);
        let of_anchor = rejection(&text.replacen("2026-01-15T06:05:00Z", "2026-01-14T06:05:00Z", 1));
        assert_eq!(of_anchor.ended(), None);
        let truncated = rejection(text.split_once("06:05:00 +0000").expect("a date").0);
        assert_eq!((truncated.not_before, truncated.not_after), (None, None));
    }
}
