//! `kubectl meshdoctor`: our command under kubectl's name. kubectl hands everything after the name to a plugin, its own
//! flags too; those that meshdoctor does not take are refused with the way to say the same.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory};

use super::super::args::Cli;
use super::Role;

pub(super) fn command() -> Command {
    Cli::command().bin_name(Role::Kubectl.typed())
}

/// Flags of kubectl that say where a cluster is and who asks.
const IN_KUBECONFIG: [&str; 11] = [
    "--as-uid",
    "--as-user-extra",
    "--certificate-authority",
    "--client-certificate",
    "--client-key",
    "--insecure-skip-tls-verify",
    "--password",
    "--server",
    "--tls-server-name",
    "--token",
    "--username",
];

/// Flags of kubectl that have nothing to say to meshdoctor.
const NO_USE: [&str; 10] = [
    "--cache-dir",
    "--kuberc",
    "--log-flush-frequency",
    "--match-server-version",
    "--profile",
    "--profile-output",
    "--v",
    "--vmodule",
    "--warnings-as-errors",
    "--user-agent",
];

/// What to say of a flag that kubectl has and meshdoctor has not: the cause, and what to do.
pub(super) fn refusal(error: &clap::Error) -> Option<(String, String)> {
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = flag.split_once('=').map_or(flag.as_str(), |(flag, _)| flag);
    let next = match flag {
        "-s" => in_kubeconfig(),
        "-A" | "--all-namespaces" => {
            "leave it out: every namespace is judged, unless -n NAMESPACE,... names some".to_owned()
        }
        flag if IN_KUBECONFIG.contains(&flag) => in_kubeconfig(),
        flag if NO_USE.contains(&flag) => "leave it out: it has no meaning here".to_owned(),
        _ => return None,
    };
    Some((format!("{} does not take {flag}, which is a flag of kubectl", Role::Kubectl.typed()), next))
}

fn in_kubeconfig() -> String {
    "put it into a kubeconfig (kubectl config set-cluster, set-credentials), and name that: --kubeconfig, --context, \
     --cluster, --user"
        .to_owned()
}
