//! Certificate dates as text, and the windows before expiry: the configured one, and the 60 days of
//! `linkerd check`.

use jiff::{SignedDuration, Timestamp};

use crate::certificates::{Certificate, Validity};
use crate::checks::prelude::*;
use crate::model::control_plane::CREATED_BY;

/// `linkerd check` warns this long before expiry; this is not configurable.
const OF_THE_ROW: SignedDuration = SignedDuration::from_hours(60 * 24);
/// The parameter for the window before expiry, in days.
const DAYS: &str = "days";

/// Whether a valid certificate expires within this window.
pub(super) fn ends_within(certificate: &Certificate, now: Timestamp, within: SignedDuration) -> bool {
    certificate.validity(now) != Validity::Over && certificate.not_after().duration_since(now) < within
}

/// Whether `linkerd check` warns of a certificate's expiry.
pub(super) fn is_soon(certificate: &Certificate, now: Timestamp) -> bool {
    ends_within(certificate, now, OF_THE_ROW)
}

/// The windows that an expiry falls into: that of the check's parameter `days`, and that of the row of
/// `linkerd check` that the check answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpiryWindow {
    /// By both.
    ForBoth,
    /// Only that of the parameter: the row succeeds.
    AsSet,
    /// Only that of the row.
    ForTheRow,
}

impl ExpiryWindow {
    /// For the first of these to expire; `None` if none expires soon.
    pub(super) fn first_of<'a>(
        ctx: &Context<'_>,
        certificates: impl IntoIterator<Item = &'a Certificate>,
    ) -> Option<ExpiryWindow> {
        let set = ctx.param_duration(DAYS);
        let (mut as_set, mut for_the_row) = (false, false);
        for certificate in certificates {
            as_set |= ends_within(certificate, ctx.now(), set);
            for_the_row |= ends_within(certificate, ctx.now(), OF_THE_ROW);
        }
        match (as_set, for_the_row) {
            (true, true) => Some(ExpiryWindow::ForBoth),
            (true, false) => Some(ExpiryWindow::AsSet),
            (false, true) => Some(ExpiryWindow::ForTheRow),
            (false, false) => None,
        }
    }

    /// The longer of both windows.
    pub(super) fn horizon(ctx: &Context<'_>) -> SignedDuration {
        ctx.param_duration(DAYS).max(OF_THE_ROW)
    }

    /// The message: the text for an expiry within this window, or that `what` is not due yet. `words` gets
    /// the time of the first expiry, as [`expiry`] states it.
    pub(super) fn message<'a>(
        self,
        ctx: &Context<'_>,
        what: &str,
        certificates: impl IntoIterator<Item = &'a Certificate>,
        words: impl Fn(&str) -> String,
    ) -> String {
        let when = expiry(ctx, certificates);
        match self {
            ExpiryWindow::ForBoth | ExpiryWindow::AsSet => words(&when),
            ExpiryWindow::ForTheRow => format!(
                "{what} expires {when}, not within the configured {}: nothing is urgent, but linkerd check \
                 warns",
                ctx.param_text(DAYS)
            ),
        }
    }

    /// Sets the severity accordingly, and whether the row fails.
    pub(super) fn graded(self, finding: Finding) -> Finding {
        match self {
            ExpiryWindow::ForBoth => finding,
            ExpiryWindow::AsSet => finding.fails_rows([]),
            ExpiryWindow::ForTheRow => {
                finding.severity(Severity::Info).rows_as(Severity::Warning).parameter("not-soon").explains_nothing()
            }
        }
    }
}

/// The first expiry of certificates that have not expired: `in 14 days (2026-12-06)`.
pub(super) fn expiry<'a>(ctx: &Context<'_>, certificates: impl IntoIterator<Item = &'a Certificate>) -> String {
    let now = ctx.now();
    let all = certificates.into_iter();
    let ends = all.filter(|one| one.validity(now) != Validity::Over).map(Certificate::not_after).min();
    let when = |end: Timestamp| {
        let date = end.to_zoned(jiff::tz::TimeZone::UTC).date();
        format!("in {} ({date})", span(end.duration_since(now)))
    };
    ends.map_or_else(|| "now".to_owned(), when)
}

/// Whether an automatic renewal is late: cert-manager renews after two thirds of the lifetime, unless
/// configured later. It gets half of the remaining time before this reports a finding.
pub(super) fn is_overdue(certificate: &Certificate, now: Timestamp) -> bool {
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    end.duration_since(now).as_secs() * 6 < end.duration_since(begin).as_secs()
}

/// The tool that renews the certificate in a Secret, if known: the owner of the Secret. Linkerd's own
/// charts and CLI renew nothing, even short-lived certificates.
pub(super) fn renewed_by(secret: &Meta, certificate: &Certificate) -> Option<&'static str> {
    const SHORT: i64 = 60 * 24 * 3600;
    if secret.annotation("cert-manager.io/certificate-name").is_some() {
        return Some("cert-manager");
    }
    let lifetime = certificate.not_after().as_second() - certificate.not_before().as_second();
    let by_linkerd = secret.annotation(CREATED_BY).is_some();
    (!by_linkerd && lifetime < SHORT).then_some("the tool that writes the Secret")
}

/// `expired 2026-11-20T02:06:01Z, 1 day ago`, or its start or end.
pub(super) fn dates(certificate: &Certificate, now: Timestamp) -> String {
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    match certificate.validity(now) {
        Validity::NotYet => format!("not valid before {begin}, in {}", span(begin.duration_since(now))),
        Validity::Over => format!("expired {end}, {} ago", span(now.duration_since(end))),
        Validity::Current => format!("expires {end}, in {}", span(end.duration_since(now))),
    }
}

/// A certificate that is not valid yet becomes valid without a repair within this time.
const SHORTLY: SignedDuration = SignedDuration::from_mins(10);

/// The time from which all certificates are valid, if some are not valid now, and only because they start within
/// minutes.
pub(super) fn starts_shortly<'a>(
    certificates: impl IntoIterator<Item = &'a Certificate>,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut latest = None;
    for certificate in certificates {
        let begin = certificate.not_before();
        match certificate.validity(now) {
            Validity::Current => {}
            Validity::NotYet if begin.duration_since(now) <= SHORTLY => latest = latest.max(Some(begin)),
            Validity::NotYet | Validity::Over => return None,
        }
    }
    latest
}

/// Adds the step that waits for certificates that start within minutes, for which no new certificate is needed.
pub(super) fn wait_for(remedy: Remedy, start: Timestamp) -> Remedy {
    remedy.note(format!("Wait until {start} instead of replacing the certificate: it is valid from then on")).step(
        StepKind::Note,
        "If it is meant to be valid already, compare the clocks of this machine, the nodes and the machine that \
         created it",
    )
}

/// If one of these certificates is not valid yet, adds the step that precedes all others.
pub(super) fn clocks_first<'a>(
    remedy: Remedy,
    certificates: impl IntoIterator<Item = &'a Certificate>,
    now: Timestamp,
) -> Remedy {
    if certificates.into_iter().any(|certificate| certificate.validity(now) == Validity::NotYet) {
        remedy.step(
            StepKind::Note,
            "First compare the clocks of this machine, the nodes and the machine that created the certificate: a wrong \
             clock is the usual reason, and a corrected one needs no new certificate",
        )
    } else {
        remedy
    }
}

/// `30 days`, `1 hour`, `5 minutes`: whole units, rounded down.
pub(super) fn span(span: SignedDuration) -> String {
    let hours = span.as_hours();
    let (count, unit) = match hours {
        48.. => (hours / 24, "day"),
        1.. => (hours, "hour"),
        _ => (span.as_mins(), "minute"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// `3 hours ago`: rounded to the nearest unit, unlike a span until a limit.
pub(super) fn ago(age: SignedDuration) -> String {
    let half = match age.as_hours() {
        48.. => SignedDuration::from_hours(12),
        1.. => SignedDuration::from_mins(30),
        _ => SignedDuration::from_secs(30),
    };
    format!("{} ago", span(age.saturating_add(half)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_rounded_to_the_nearest_unit() {
        for (minutes, words) in [(179, "3 hours ago"), (75, "1 hour ago"), (59, "59 minutes ago")] {
            assert_eq!(ago(SignedDuration::from_mins(minutes)), words);
        }
    }

    #[test]
    fn spans_are_said_in_the_largest_unit_that_fits() {
        for (hours, words) in [(24 * 30 + 5, "30 days"), (47, "47 hours"), (1, "1 hour"), (0, "0 minutes")] {
            assert_eq!(span(SignedDuration::from_hours(hours)), words);
        }
        assert_eq!(span(SignedDuration::from_mins(59)), "59 minutes");
    }
}
