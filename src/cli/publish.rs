//! `check --publish`: writes the report into the cluster, as objects for policy reporters.

#[cfg(not(feature = "live"))]
pub(super) fn run(
    _: &crate::report::Report,
    _: &super::evidence::EvidenceSource<'_>,
    _: &super::args::Verbosity,
    status: u8,
) -> u8 {
    status
}

#[cfg(feature = "live")]
pub(super) use connected::run;

#[cfg(feature = "live")]
mod connected {
    use super::super::args::Verbosity;
    use super::super::evidence::EvidenceSource;
    use super::super::{live, output};
    use crate::exit;
    use crate::render::ci::published::published;
    use crate::render::text::count;
    use crate::report::Report;
    use crate::source::live::PublishError;

    /// Maximum number of errors to print, for reports in many namespaces.
    const SHOWN: usize = 10;

    /// Publishes the report. A failure is printed after the report and turns exit status 0 into "could not run".
    pub(in super::super) fn run(report: &Report, way: &EvidenceSource<'_>, verbosity: &Verbosity, status: u8) -> u8 {
        let failed = || if status == exit::FINE { exit::COULD_NOT_RUN } else { status };
        let done = match live::publish(way, |api, before| published(report, api, before)) {
            Ok(done) => done,
            Err(error) => {
                let next = error.downcast_ref::<PublishError>().and_then(next_step);
                output::say_error(&format!("the report was not published: {error:#}"), next);
                return failed();
            }
        };
        if !verbosity.quiet {
            output::print_line(&format!(
                "published {}, deleted {}, created {}",
                count(done.written, "report", "reports"),
                done.removed,
                count(done.events, "event", "events")
            ));
        }
        for error in done.errors.iter().take(SHOWN) {
            output::say_error(&format!("a part of the report was not published: {error}"), next_step(error));
        }
        if done.errors.len() > SHOWN {
            output::say_error(&format!("{} more parts were not published", done.errors.len() - SHOWN), None);
        }
        if done.errors.is_empty() { status } else { failed() }
    }

    fn next_step(error: &PublishError) -> Option<&'static str> {
        match error {
            PublishError::NotServed => Some("install the CRDs of openreports.io or of wgpolicyk8s.io"),
            PublishError::Taken(_) => Some("rename or delete it, or add meshdoctor's label to it"),
            PublishError::Refused { .. } => {
                Some("the API server or an admission webhook rejects the report: the message states what it requires")
            }
            PublishError::Denied { .. } => Some(
                "grant the role in docs/rbac-publish.yaml of the release: \
                 https://github.com/meshdoctor/meshdoctor/blob/main/docs/rbac-publish.yaml",
            ),
            PublishError::Quota { .. } => {
                Some("raise the ResourceQuota that the message names, or delete objects that it counts")
            }
            PublishError::NotStored { .. } => {
                Some("look for a proxy in front of the API server, and for a webhook or CRD that changes reports")
            }
            PublishError::Conflict(_) => Some("publish again: the next run replaces the other report"),
            PublishError::Lost { .. } => Some("publish again when the API server responds"),
        }
    }
}
