//! What it takes to ask again what a command line asked: the options that say which cluster was looked at and how, for the
//! commands that a report prints.

use std::path::Path;

use super::args::{Check, Connection as Flags, Evidence};
use super::role;
use super::values::{CliVersionArg, NodesArg};
use crate::checks::Rerun;
use crate::command::Connection;

/// For `check`.
pub(super) fn of(args: &Check) -> Rerun {
    let mut options = looked_at(&args.evidence);
    if args.connection.probe {
        options.push(("--probe", None));
    }
    if let Some(folder) = &args.knowledge {
        options.push(("--knowledge", Some(text(folder))));
    }
    Rerun { connection: connection(&args.connection), options, offered: offered(&args.evidence) }
}

/// How the cluster is reached; what was left to its defaults is left out.
pub(super) fn connection(flags: &Flags) -> Connection {
    let instead = &flags.instead;
    Connection {
        kubeconfig: flags.kubeconfig.as_deref().map(text),
        context: flags.context.clone(),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
        as_user: flags.as_user.clone(),
        as_groups: flags.as_group.clone(),
        server: instead.server.clone(),
        other_credentials: instead.token.is_some()
            || instead.client_certificate.is_some()
            || instead.client_key.is_some(),
        called: role::called(),
    }
}

fn looked_at(evidence: &Evidence) -> Vec<(&'static str, Option<String>)> {
    let mut options = Vec::new();
    if let Some(namespace) = &evidence.linkerd_namespace {
        options.push(("--linkerd-namespace", Some(namespace.clone())));
    }
    if let Some(namespace) = &evidence.cni_namespace {
        options.push(("--cni-namespace", Some(namespace.clone())));
    }
    match &evidence.linkerd_cli {
        None => {}
        Some(CliVersionArg::Path(path)) => options.push(("--linkerd-cli", Some(text(path)))),
        Some(CliVersionArg::None) => options.push(("--linkerd-cli", Some("none".to_owned()))),
        // The version of that day: whoever asks again may have another one.
        Some(CliVersionArg::Version(_)) => {}
    }
    options
}

fn offered(evidence: &Evidence) -> Vec<(&'static str, String)> {
    let nodes = evidence.nodes.iter().map(|given| match given {
        NodesArg::One { name, path } => ("--nodes", format!("{name}={}", path.display())),
        NodesArg::Folder(path) => ("--nodes", text(path)),
    });
    let logs = evidence.logs.iter().map(|(name, path)| ("--logs", format!("{name}={}", path.display())));
    nodes.chain(logs).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
