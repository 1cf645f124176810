//! `meshdoctor version`: the version of the build and the date of its release data.

use super::args::{Version, VersionFormat};
use super::output;
use crate::knowledge::Knowledge;
use crate::report;

pub(super) fn run(args: &Version) -> anyhow::Result<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let knowledge = Knowledge::embedded().date().to_string();
    let live = cfg!(feature = "live");
    output::print(&match args.output {
        VersionFormat::Text => {
            let reads = if live { "clusters, bundles and dumps" } else { "bundles and dumps (built without live)" };
            format!(
                "meshdoctor {version}\nrelease data  as of {knowledge}\nreport        {}\nreads         {reads}\n",
                report::SCHEMA
            )
        }
        VersionFormat::Json => {
            let value = serde_json::json!({
                "schema": "meshdoctor.version/1", "version": version, "knowledge": knowledge,
                "report": report::SCHEMA, "live": live,
            });
            format!("{value:#}\n")
        }
    })
}
