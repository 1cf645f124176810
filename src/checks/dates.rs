//! The dates of certificates in words, and the 60 days within which an expiry is soon.

use jiff::{SignedDuration, Timestamp};

use crate::certificates::{Certificate, Validity};
use crate::finding::{Remedy, StepKind};
use crate::model::control_plane::CREATED_BY;
use crate::objects::Meta;

/// `linkerd check` speaks up this long before an expiry, and takes no setting for it.
const SOON: SignedDuration = SignedDuration::from_hours(60 * 24);

/// Whether a certificate that is still valid ends within 60 days.
pub(super) fn ends_soon(certificate: &Certificate, now: Timestamp) -> bool {
    certificate.validity(now) != Validity::Over && certificate.not_after().duration_since(now) < SOON
}

/// Whether what renews a certificate by itself is late: cert-manager does so when two thirds of the lifetime are over, unless
/// it is told a later moment. Half of what then remains is left to it before somebody has to look.
pub(super) fn is_overdue(certificate: &Certificate, now: Timestamp) -> bool {
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    end.duration_since(now).as_secs() * 6 < end.duration_since(begin).as_secs()
}

/// Who renews the certificate in a Secret, if that is known: the tool that owns the Secret. Linkerd's own charts and CLI
/// renew nothing, however short a certificate lives.
pub(super) fn renewed_by(secret: &Meta, certificate: &Certificate) -> Option<&'static str> {
    const SHORT: i64 = 60 * 24 * 3600;
    if secret.annotation("cert-manager.io/certificate-name").is_some() {
        return Some("cert-manager");
    }
    let lifetime = certificate.not_after().as_second() - certificate.not_before().as_second();
    let by_linkerd = secret.annotation(CREATED_BY).is_some();
    (!by_linkerd && lifetime < SHORT).then_some("the tool that writes the Secret")
}

/// `expired on 2026-11-20T02:06:01Z, 1 day ago`, or when it begins or ends.
pub(super) fn dates(certificate: &Certificate, now: Timestamp) -> String {
    let (begin, end) = (certificate.not_before(), certificate.not_after());
    match certificate.validity(now) {
        Validity::NotYet => format!("not valid before {begin}, in {}", span(begin.duration_since(now))),
        Validity::Over => format!("expired on {end}, {} ago", span(now.duration_since(end))),
        Validity::Current => format!("valid until {end}, for {} more", span(end.duration_since(now))),
    }
}

/// Adds, where one of these certificates is not valid yet, the step that comes before all others.
pub(super) fn clocks_first<'a>(
    remedy: Remedy,
    certificates: impl IntoIterator<Item = &'a Certificate>,
    now: Timestamp,
) -> Remedy {
    if certificates.into_iter().any(|certificate| certificate.validity(now) == Validity::NotYet) {
        remedy.step(
            StepKind::Note,
            "Compare the clocks first, of this machine, of the nodes and of the machine that made the certificate: one that is \
             wrong is the usual reason, and set right it needs no new certificate",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_the_largest_unit_that_fits() {
        for (hours, words) in [(24 * 30 + 5, "30 days"), (47, "47 hours"), (1, "1 hour"), (0, "0 minutes")] {
            assert_eq!(span(SignedDuration::from_hours(hours)), words);
        }
        assert_eq!(span(SignedDuration::from_mins(59)), "59 minutes");
    }
}
