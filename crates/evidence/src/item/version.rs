//! Versions of the API server and of the operator's `linkerd` command.

use super::query::Query;
use crate::command::kubectl;
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;

/// Redaction rules for both.
const PASSES: &str = "{major: word, minor: word, gitVersion: word, gitTreeState: word, buildDate: word, \
                      goVersion: word, compiler: word, platform: word, version: word, extensions: word}";

/// `/version` of the API server.
#[derive(Debug)]
pub struct OfServer;

impl Query for OfServer {
    fn answers(&self) -> &'static str {
        "Version"
    }

    fn passes(&self) -> &'static str {
        PASSES
    }

    fn describe(&self, _: Option<&str>) -> String {
        "the API server's version".to_owned()
    }

    fn documented(&self) -> String {
        "the API server's version (get on /version)".to_owned()
    }

    fn right(&self) -> String {
        "get on /version (the role system:public-info-viewer)".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        matches!(why, Why::NotCaptured | Why::NotOffered).then(|| {
            GapRemediation::run(
                "add version.json with --bundle",
                kubectl().words("version -o json").to_file("version.json"),
            )
        })
    }

    fn absent(&self) -> Why {
        Why::NotCaptured
    }
}

/// Version of the operator's `linkerd` command, and the extension commands that it finds.
#[derive(Debug)]
pub struct OfCli;

impl Query for OfCli {
    fn answers(&self) -> &'static str {
        "Version"
    }

    fn passes(&self) -> &'static str {
        PASSES
    }

    fn describe(&self, _: Option<&str>) -> String {
        "the version of the linkerd CLI".to_owned()
    }

    fn documented(&self) -> String {
        "the version of the operator's linkerd command (no permission)".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        Some(GapRemediation::instruction(match why {
            Why::NotOffered | Why::NotCaptured => "provide the version of the linkerd CLI: --linkerd-cli VERSION",
            _ => {
                "find out why the linkerd command on PATH fails, or provide its version: --linkerd-cli \
                 VERSION"
            }
        }))
    }
}
