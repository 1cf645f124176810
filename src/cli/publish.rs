//! `check --publish`: leaves the report in the cluster, as the objects that policy reporters read.

#[cfg(not(feature = "live"))]
pub(super) fn run(
    _: &crate::report::Report,
    _: &super::evidence::Way<'_>,
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
    use super::super::evidence::Way;
    use super::super::{live, output};
    use crate::exit;
    use crate::render::ci::published::published;
    use crate::render::text::count;
    use crate::report::Report;
    use crate::source::live::PublishError;

    /// Writes it. A report that could not be written is said after the one that was printed, and makes a run that was fine one that
    /// could not run.
    pub(in super::super) fn run(report: &Report, way: &Way<'_>, verbosity: &Verbosity, status: u8) -> u8 {
        match live::publish(way, |api, before| published(report, api, before)) {
            Ok(done) => {
                if !verbosity.quiet {
                    output::say(&format!(
                        "published {}, took {} away, made {}",
                        count(done.written, "report", "reports"),
                        done.removed,
                        count(done.events, "event", "events")
                    ));
                }
                status
            }
            Err(error) => {
                let role = format!("grant the role of {}", crate::page::document_url("rbac-publish.yaml"));
                let next = match error.downcast_ref::<PublishError>() {
                    Some(PublishError::NotServed) => {
                        Some("install the definitions of openreports.io, or of wgpolicyk8s.io")
                    }
                    Some(PublishError::Taken(_)) => Some("rename or delete it, or label it as ours"),
                    Some(PublishError::Refused { .. }) => Some(role.as_str()),
                    None => None,
                };
                output::say_error(&format!("the report was not published: {error:#}"), next);
                if status == exit::FINE { exit::COULD_NOT_RUN } else { status }
            }
        }
    }
}
