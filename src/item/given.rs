//! What is given beside a cluster: files of nodes, log texts.

use super::asked::Asked;
use crate::close::Close;
use crate::command::meshdoctor;
use crate::fetched::Why;

/// What was gathered on nodes. Its files have a redaction of their own.
#[derive(Debug)]
pub struct OfNodes;

impl Asked for OfNodes {
    fn answers(&self) -> &'static str {
        ""
    }

    fn passes(&self) -> &'static str {
        ""
    }

    fn in_words(&self, _: Option<&str>) -> String {
        "node evidence".to_owned()
    }

    fn documented(&self) -> String {
        "node evidence, given with --nodes or in a bundle (no permission)".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<Close> {
        Some(match why {
            Why::NotOffered => Close::run(
                "provide node evidence: --nodes with what meshdoctor node-snapshot takes on the node, or a bundle of",
                meshdoctor().words("collect --node-pods --output bundle.tar.gz"),
            ),
            _ => {
                Close::say("gather the node's files again, readable, and provide them with --nodes NAME=PATH")
            }
        })
    }

    /// A bundle says of its nodes what it holds.
    fn absent(&self) -> Why {
        Why::NotCaptured
    }
}

/// Log texts.
#[derive(Debug)]
pub struct OfLogs;

impl Asked for OfLogs {
    fn answers(&self) -> &'static str {
        "Log"
    }

    fn passes(&self) -> &'static str {
        "{metadata: {namespace: text, name: text}, text: sentence}"
    }

    fn in_words(&self, _: Option<&str>) -> String {
        "log texts".to_owned()
    }

    fn documented(&self) -> String {
        "log texts, read with --logs, given with --logs NAME=FILE or in a bundle (get on pods/log, only for --logs alone)".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<Close> {
        Some(Close::say(match why {
            Why::Denied { .. } => "grant get on pods/log",
            Why::TimedOut { .. } | Why::Failed { .. } => {
                "run again; with -v for what the API server answered"
            }
            Why::NotOffered | Why::NotCaptured => {
                "provide logs: --logs reads them from the cluster, --logs NODE=FILE or --logs NAMESPACE/POD/CONTAINER=FILE from a file"
            }
            _ => "provide the log as text, under the name of its node or pod: --logs NAME=FILE",
        }))
    }
}
