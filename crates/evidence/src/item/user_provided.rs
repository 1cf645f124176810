//! User-provided evidence: node files and logs.

use super::query::Query;
use crate::command::collect_from_nodes;
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;

/// Node evidence. Its files have their own redaction.
#[derive(Debug)]
pub struct OfNodes;

impl Query for OfNodes {
    fn answers(&self) -> &'static str {
        ""
    }

    fn passes(&self) -> &'static str {
        ""
    }

    fn describe(&self, _: Option<&str>) -> String {
        "node evidence".to_owned()
    }

    fn documented(&self) -> String {
        "node evidence, given with --nodes or in a bundle (no permission)".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        Some(match why {
            Why::NotOffered => GapRemediation::run(
                "provide node evidence: --nodes with a snapshot of meshdoctor node-snapshot, or a bundle of",
                collect_from_nodes().words("--output bundle.tar.gz"),
            ),
            _ => GapRemediation::instruction(
                "collect the node's files again with read permission, and provide them with --nodes \
                 NAME=PATH",
            ),
        })
    }

    /// A bundle lists its nodes itself.
    fn absent(&self) -> Why {
        Why::NotCaptured
    }
}

/// Log texts.
#[derive(Debug)]
pub struct OfLogs;

impl Query for OfLogs {
    fn answers(&self) -> &'static str {
        "Log"
    }

    fn passes(&self) -> &'static str {
        "{metadata: {namespace: object, name: object}, text: sentence}"
    }

    fn describe(&self, _: Option<&str>) -> String {
        "log texts".to_owned()
    }

    fn documented(&self) -> String {
        "logs, read with --logs or given with --logs NAME=FILE or in a bundle (get on pods/log, only for \
         --logs without a file)"
            .to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        Some(GapRemediation::instruction(match why {
            Why::Denied { .. } => "grant get on pods/log",
            Why::TimedOut { .. } | Why::Failed { .. } => "run again; -v shows the responses of the API server",
            Why::NotOffered | Why::NotCaptured => {
                "provide logs: --logs reads them from the cluster, --logs NODE=FILE or --logs \
                 NAMESPACE/POD/CONTAINER=FILE from a file"
            }
            _ => "provide the log as text, under the name of its node or pod: --logs NAME=FILE",
        }))
    }
}
