//! The name under which the command runs. The same binary is an extension of `linkerd` or a plugin of `kubectl` if a
//! link has that name. The role changes only accepted flags and the command name in texts, never the checks.

mod complete;
mod kubectl;
mod linkerd;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{ArgAction, Command, CommandFactory, FromArgMatches};

use super::args::Cli;
use crate::command::Called;

/// The role of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// `meshdoctor`, or any other name.
    Own,
    /// `linkerd meshdoctor`; `linkerd check` runs it too.
    Linkerd,
    /// `kubectl meshdoctor`.
    Kubectl,
    /// Run by `kubectl` to complete words after `kubectl meshdoctor`.
    KubectlCompletion,
}

static CALLED: OnceLock<Role> = OnceLock::new();

/// The role from the name of the command.
pub(super) fn current() -> Role {
    CALLED.get().copied().unwrap_or(Role::Own)
}

/// A parsed command line.
pub(super) enum CommandLine {
    /// A command to run.
    Command(Box<Cli>),
    /// A request that the role has already handled.
    Answered(anyhow::Result<u8>),
}

/// Parses a command line, the name first, for the role.
///
/// # Errors
/// Help was requested, or the command line is invalid.
pub(super) fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let name = words.first().map_or(OsStr::new(""), OsString::as_os_str);
    let role = *CALLED.get_or_init(|| Role::from_program_name(name));
    role.called().keep();
    match role {
        Role::Own => cli(command(), words).map(|(cli, _)| CommandLine::Command(Box::new(cli))),
        Role::Linkerd => linkerd::parse(words),
        Role::Kubectl => {
            let command = kubectl::command();
            let words = go_booleans(words, &command);
            let (mut cli, matches) = cli(command, &words)?;
            kubectl::apply(&mut cli, &matches)?;
            Ok(CommandLine::Command(Box::new(cli)))
        }
        Role::KubectlCompletion => {
            let line: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            Ok(CommandLine::Answered(super::output::print(&complete::answer(kubectl::command(), &line))))
        }
    }
}

/// The command line, with the help texts of `-h`.
fn command() -> Command {
    let command = ["color", "checks", "config", "no_config"]
        .into_iter()
        .fold(Cli::command(), |command, flag| command.mut_arg(flag, |arg| arg.hide_short_help(true)))
        .mut_subcommand("check", super::args::help::shortened);
    let with_short_help =
        ["reach", "policy", "injection", "fix", "rotate", "collect", "sync", "mcp", "ticket"].into_iter();
    with_short_help.fold(command, |command, name| command.mut_subcommand(name, super::args::help::of_workloads))
}

/// Whether a configuration file applies: not in calls by `linkerd check`, which passes its own flags.
pub(super) fn takes_a_file(words: &[OsString]) -> bool {
    matches!(
        Role::from_program_name(words.first().map_or(OsStr::new(""), OsString::as_os_str)),
        Role::Own | Role::Kubectl
    )
}

/// The error for a command line that is invalid only in this role: cause and next step.
pub(super) fn refusal(error: &clap::Error) -> Option<(String, String)> {
    (current() == Role::Kubectl && error.kind() == ErrorKind::UnknownArgument)
        .then(|| kubectl::refusal(error))
        .flatten()
}

impl Role {
    fn from_program_name(name: &OsStr) -> Role {
        let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        match file.strip_suffix(".exe").unwrap_or(&file) {
            "linkerd-meshdoctor" => Role::Linkerd,
            "kubectl-meshdoctor" => Role::Kubectl,
            "kubectl_complete-meshdoctor" => Role::KubectlCompletion,
            _ => Role::Own,
        }
    }

    /// The name for rendered commands.
    fn called(self) -> Called {
        match self {
            Role::Own => Called::Own,
            Role::Linkerd => Called::Linkerd,
            Role::Kubectl | Role::KubectlCompletion => Called::Kubectl,
        }
    }

    /// The words to type.
    fn typed(self) -> &'static str {
        self.called().words()
    }
}

/// Matches of clap, including flags that the structs do not have.
fn cli(mut command: Command, words: &[OsString]) -> Result<(Cli, clap::ArgMatches), clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, matches))
}

/// The flags of the named subcommand, and global flags.
fn flags<'a>(words: &[OsString], command: &'a Command) -> Vec<&'a clap::Arg> {
    let mut plain = words.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    let subcommand = plain.next().and_then(|word| command.find_subcommand(word));
    let global = command.get_arguments().filter(|arg| arg.is_global_set());
    subcommand.map(Command::get_arguments).into_iter().flatten().chain(global).collect()
}

/// Boolean flags in Go's format: `--live=true` becomes `--live`, `--live=false` nothing.
fn go_booleans(words: &[OsString], command: &Command) -> Vec<OsString> {
    let flags = flags(words, command);
    let is_switch = |name: &str| {
        flags.iter().any(|arg| {
            arg.get_long() == Some(name)
                && (matches!(arg.get_action(), ArgAction::SetTrue) || arg.get_id() == "verbose")
        })
    };
    let mut rewritten = Vec::with_capacity(words.len());
    let mut literal = false;
    for word in words {
        literal |= word == "--";
        let flag = word.to_str().filter(|_| !literal);
        match flag.and_then(|word| word.strip_prefix("--")).and_then(|word| word.split_once('=')) {
            Some((name, "true")) if is_switch(name) => rewritten.push(format!("--{name}").into()),
            Some((name, "false")) if is_switch(name) => {}
            _ => rewritten.push(word.clone()),
        }
    }
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_selects_role() {
        for (name, role) in [
            ("meshdoctor", Role::Own),
            ("/usr/local/bin/linkerd-meshdoctor", Role::Linkerd),
            ("linkerd-meshdoctor.exe", Role::Linkerd),
            ("./kubectl-meshdoctor", Role::Kubectl),
            ("/x/kubectl_complete-meshdoctor", Role::KubectlCompletion),
            ("linkerd-meshdoctor-v0.1.0", Role::Own),
            ("/linkerd-meshdoctor/doctor", Role::Own),
            ("", Role::Own),
        ] {
            assert_eq!(Role::from_program_name(OsStr::new(name)), role, "{name}");
        }
    }

    #[test]
    fn go_switches_are_parsed() {
        let words = |words: &[&str]| -> Vec<OsString> { words.iter().map(OsString::from).collect() };
        let given =
            ["x", "check", "--proxy=true", "--live=false", "--verbose=false", "--save=true", "--", "--pre=true"];
        let meant = ["x", "check", "--proxy", "--save=true", "--", "--pre=true"];
        assert_eq!(go_booleans(&words(&given), &Cli::command()), words(&meant));
    }
}
