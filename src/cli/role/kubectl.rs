//! `kubectl meshdoctor`: the command as a kubectl plugin. kubectl passes all arguments to the plugin, including its own
//! flags. Flags for the connection and the user work as in kubectl; other kubectl flags are rejected with an
//! alternative.

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::super::args::{self, Cli, ConnectionOverrides};
use super::Role;

/// The commands that contact a cluster.
const CONNECTING: [&str; 2] = ["check", "collect"];

pub(super) fn command() -> Command {
    CONNECTING.into_iter().fold(super::command().bin_name(Role::Kubectl.typed()), |command, name| {
        command.mut_subcommand(name, |subcommand| {
            // The description of the flags is not that of the command.
            let about = subcommand.get_about().cloned().unwrap_or_default();
            ConnectionOverrides::augment_args(subcommand).about(about)
        })
    })
}

/// Copies flags of this role to the fields that the commands read.
pub(super) fn apply(cli: &mut Cli, matches: &ArgMatches) -> Result<(), clap::Error> {
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

/// Flags of kubectl for the user that are not accepted.
const IN_KUBECONFIG: [&str; 4] = ["--as-uid", "--as-user-extra", "--password", "--username"];

/// Flags of kubectl without a meaning for meshdoctor.
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

/// The error for a flag of kubectl that meshdoctor does not have: cause and next step.
pub(super) fn refusal(error: &clap::Error) -> Option<(String, String)> {
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = flag.split_once('=').map_or(flag.as_str(), |(flag, _)| flag);
    let next = match flag {
        flag if IN_KUBECONFIG.contains(&flag) => in_kubeconfig(),
        flag if NO_USE.contains(&flag) => "omit it: it has no effect here".to_owned(),
        _ => return None,
    };
    Some((format!("{} does not accept {flag}, a flag of kubectl", Role::Kubectl.typed()), next))
}

fn in_kubeconfig() -> String {
    "store it in a kubeconfig (kubectl config set-credentials), and select that with --kubeconfig, \
     --context, --user"
        .to_owned()
}
