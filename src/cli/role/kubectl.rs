//! `kubectl meshdoctor`: our command under kubectl's name. kubectl hands everything after the name to a plugin, its own
//! flags too. Those that say where the cluster is and who asks are taken here as kubectl takes them; the others are refused
//! with the way to say the same.

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::super::args::{self, Cli, ConnectionOverrides};
use super::Role;

/// The commands that talk to a cluster.
const CONNECTING: [&str; 2] = ["check", "collect"];

pub(super) fn command() -> Command {
    CONNECTING.into_iter().fold(super::command().bin_name(Role::Kubectl.typed()), |command, name| {
        command.mut_subcommand(name, |subcommand| {
            // What is said of the flags together is not what is said of the command.
            let about = subcommand.get_about().cloned().unwrap_or_default();
            ConnectionOverrides::augment_args(subcommand).about(about)
        })
    })
}

/// Puts what only the role takes where everything else finds it.
pub(super) fn heed(cli: &mut Cli, matches: &ArgMatches) -> Result<(), clap::Error> {
    let connection = match &mut cli.command {
        args::Command::Check(check) => &mut check.connection,
        args::Command::Collect(collect) => &mut collect.connection,
        _ => return Ok(()),
    };
    if let Some((_, matches)) = matches.subcommand() {
        connection.overrides = ConnectionOverrides::from_arg_matches(matches)?;
    }
    Ok(())
}

/// Flags of kubectl that say who asks, and that are not taken.
const IN_KUBECONFIG: [&str; 4] = ["--as-uid", "--as-user-extra", "--password", "--username"];

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
        flag if IN_KUBECONFIG.contains(&flag) => in_kubeconfig(),
        flag if NO_USE.contains(&flag) => "leave it out: it has no meaning here".to_owned(),
        _ => return None,
    };
    Some((format!("{} does not take {flag}, which is a flag of kubectl", Role::Kubectl.typed()), next))
}

fn in_kubeconfig() -> String {
    "put it into a kubeconfig (kubectl config set-credentials), and name that: --kubeconfig, --context, --user"
        .to_owned()
}
