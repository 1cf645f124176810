//! `calls.yaml`: errors that clients see if a request fails, and timeouts of proxies.

use serde::Deserialize;

use super::file::KnowledgeFile;

/// Errors that clients see if a request through the mesh fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is what callers get in the case that its name states")]
pub struct Calls {
    source: String,
    date: jiff::civil::Date,
    /// Seconds that a proxy waits for the first byte of a connection.
    pub detection_seconds: u16,
    /// Share of a certificate's lifetime after which it is renewed, in percent.
    pub renewed_after_percent: i32,
    pub no_endpoint: String,
    pub proxy_down: String,
    pub network_blocked: String,
    pub certificate_expired: String,
    pub anchors_disjoint: String,
    pub undeclared_port: String,
    pub backend_port: String,
    pub backend_missing: String,
    pub no_route: String,
    pub refused: String,
    pub refused_opaque: String,
    pub rate_limited: String,
    pub redirected: String,
    pub timed_out: String,
}

impl Calls {
    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for Calls {
    const NAME: &'static str = "calls.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/calls.yaml");

    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}
