//! `meshdoctor mcp`: a server of the Model Context Protocol on standard input and output. Its tools run the commands of
//! this program on the evidence that the flags of the server name.

#[cfg(feature = "mcp")]
mod answer;
#[cfg(feature = "mcp")]
mod documents;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod session;
#[cfg(feature = "mcp")]
mod tools;

use super::args::Mcp;
use super::stop::Stop;

#[cfg(not(feature = "mcp"))]
pub(super) fn run(_: &Mcp) -> anyhow::Result<u8> {
    let next = "use a build with the feature mcp, which is on by default";
    Err(Stop::usage("this build of meshdoctor does not contain the MCP server", next).into())
}

#[cfg(feature = "mcp")]
pub(super) fn run(args: &Mcp) -> anyhow::Result<u8> {
    is_well_asked(args)?;
    server::run(args.clone())
}

/// Rejects flags that cannot work: standard input carries the protocol, and files must exist.
#[cfg(feature = "mcp")]
fn is_well_asked(args: &Mcp) -> Result<(), Stop> {
    use super::values::LogsArg;
    use std::path::Path;

    let evidence = &args.evidence;
    let logs = evidence.logs.iter().filter_map(|logs| match logs {
        LogsArg::File(_, path) => Some(("--logs", path.as_path())),
        LogsArg::Live => None,
    });
    let of = |flag: &'static str| move |path| (flag, path);
    let files: Vec<(&str, &Path)> = (evidence.bundle.iter().map(std::path::PathBuf::as_path))
        .map(of("--bundle"))
        .chain(args.baseline.as_deref().map(of("--baseline")))
        .chain(logs)
        .collect();
    for (flag, path) in files {
        if path.as_os_str() == "-" {
            let cause = format!("{flag} - reads standard input, which carries the protocol");
            return Err(Stop::usage(cause, "give a file"));
        }
        if !path.exists() {
            let cause = format!("{flag} {}: no such file or folder", path.display());
            return Err(Stop::usage(cause, "give the path of an existing file"));
        }
    }
    if args.connection.context.len() > 1 {
        let next = "start one server for each cluster, each with one --context";
        return Err(Stop::usage("several contexts are given, but a server reads one cluster", next));
    }
    Ok(())
}
