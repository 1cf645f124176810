//! `linkerd meshdoctor` and the calls of `linkerd check`: flags that the Linkerd CLI passes to its extensions, as
//! specified in `EXTENSIONS.md` of linkerd2. Flags are in Go's format, `--name=value`; later releases may pass more.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, CommandFactory};

use super::super::args::{self, Cli};
use super::super::output;
use super::{CommandLine, Role, cli, flags, go_booleans};
use crate::exit;

/// Identifies a call by `linkerd check`: it always requests JSON in this form.
const CALLED: &str = "--output=json";

/// The default namespace that `linkerd check` passes.
const DEFAULT_NAMESPACE: &str = "linkerd";

/// Minimum time of a run by `linkerd check`, whatever its `--wait`: that limits retries of its own rows, is five
/// minutes by default, and applies to each extension in turn. A cluster that takes two seconds to read must not be cut
/// off by `--wait 1s`.
const AT_LEAST: Duration = Duration::from_secs(60);

pub(super) fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let second = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if second == "_extension-metadata" {
        return Ok(CommandLine::Answered(metadata(words)));
    }
    if matches!(second, "install" | "uninstall") && !words.iter().any(|word| word == "-h" || word == "--help") {
        return Ok(CommandLine::Answered(nothing_to(second)));
    }
    let command = command();
    let called = words.iter().any(|word| word == CALLED) && second == "check";
    let (words, ignored) = if called { known(words, &command) } else { (words.to_vec(), Vec::new()) };
    for flag in ignored {
        output::print_line(&format!("warning: ignoring {flag}, which this version of meshdoctor does not know"));
    }
    let words = go_booleans(&go_lists(&words), &command);
    let (mut cli, matches) = cli(command, &words)?;
    apply(&mut cli, &matches, called);
    Ok(CommandLine::Command(Box::new(cli)))
}

/// The command, with the flags that every extension accepts.
fn command() -> Command {
    let api_addr = || {
        Arg::new("api-addr")
            .long("api-addr")
            .value_name("HOST:PORT")
            .help("Ignored: meshdoctor contacts only the API server")
            .help_heading("Connection")
    };
    let nothing = |name: &'static str, about: &'static str| Command::new(name).about(about);
    Cli::command()
        .bin_name(Role::Linkerd.typed())
        .mut_subcommand("check", |check| {
            check.arg(api_addr()).mut_arg("output", |output| {
                output.help(
                    "Format of the report: table, short, json (rows of linkerd check), report (JSON of \
                     meshdoctor) or yaml; FORMAT=FILE writes it to a file. Repeatable",
                )
            })
        })
        .mut_subcommand("collect", |collect| collect.arg(api_addr()))
        .subcommand(nothing("install", "Print that nothing has to be installed in the cluster"))
        .subcommand(nothing("uninstall", "Print that nothing is installed in the cluster"))
}

/// Copies flags of this role to the fields that the commands read.
fn apply(cli: &mut Cli, matches: &ArgMatches, called: bool) {
    let Some((_, matches)) = matches.subcommand() else { return };
    let given = |name: &str| matches.try_get_one::<String>(name).ok().flatten();
    if given("api-addr").is_some_and(|address| !address.is_empty()) {
        output::print_line("warning: ignoring --api-addr; meshdoctor contacts only the API server");
    }
    if let args::Command::Check(check) = &mut cli.command
        && called
        && let Some(wait) = check.wait.take()
    {
        check.connection.timeout.get_or_insert(wait.max(AT_LEAST));
    }
}

/// The arguments of a call by `linkerd check` without flags that have no meaning for this extension, and the names of
/// unknown flags.
fn known(words: &[OsString], command: &Command) -> (Vec<OsString>, Vec<String>) {
    let flags = flags(words, command);
    let mut ignored = Vec::new();
    let mut kept = Vec::with_capacity(words.len());
    for word in words {
        let text = word.to_str().unwrap_or_default();
        let Some(flag) = text.strip_prefix("--") else {
            kept.push(word.clone());
            continue;
        };
        let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
        // The default cannot be distinguished from an explicit value, so labels find the control plane.
        let default = name == "linkerd-namespace" && value == DEFAULT_NAMESPACE;
        if default || flag.ends_with('=') {
            continue;
        }
        match flags.iter().any(|arg| arg.get_long() == Some(name)) || name == "help" {
            true => kept.push(word.clone()),
            false => ignored.push(format!("--{name}")),
        }
    }
    (kept, ignored)
}

/// Lists of groups in Go's format: `--as-group=[a,b]` becomes `--as-group=a --as-group=b`, `--as-group=[]` nothing.
fn go_lists(words: &[OsString]) -> Vec<OsString> {
    let list = |word: &OsString| -> Option<Vec<String>> {
        word.to_str()?.strip_prefix("--as-group=[")?.strip_suffix(']').map(fields)
    };
    words
        .iter()
        .flat_map(|word| match list(word) {
            Some(groups) => groups.into_iter().map(|group| format!("--as-group={group}").into()).collect(),
            None => vec![word.clone()],
        })
        .collect()
}

/// The fields of a CSV line: those with a comma or quote are quoted, with doubled quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                fields.last_mut().into_iter().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    fields.retain(|field| !field.is_empty());
    fields
}

/// The metadata by which `linkerd check` recognizes an extension that always runs. The name must be that of the file.
fn metadata(words: &[OsString]) -> anyhow::Result<u8> {
    let file = words.first().and_then(|word| Path::new(word).file_name()).unwrap_or_default();
    let name = serde_json::Value::from(file.to_string_lossy());
    output::print(&format!("{{\"name\":{name},\"checks\":\"always\"}}\n"))
}

/// Manifests for `kubectl apply` or `kubectl delete`: only a comment, since there are none.
fn nothing_to(word: &str) -> anyhow::Result<u8> {
    use std::io::IsTerminal;
    let sentence = format!(
        "Nothing to {word}: meshdoctor has no components in the cluster. Try: {}",
        crate::command::own("check")
    );
    if !std::io::stdout().is_terminal() {
        output::print_line(&sentence);
    }
    output::print(&format!("# {sentence}\n"))?;
    Ok(exit::FINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn go_lists_are_parsed() {
        let given = words(&["check", "--as-group=[]", "--as-group=[a,\"b,c\",\"say \"\"d\"\"\"]", "--as-group=e", "x"]);
        let meant = words(&["check", "--as-group=a", "--as-group=b,c", "--as-group=say \"d\"", "--as-group=e", "x"]);
        assert_eq!(go_lists(&given), meant);
    }

    #[test]
    fn linkerd_check_flags_are_known_or_ignored() {
        let sent = words(&[
            "linkerd-meshdoctor",
            "check",
            "--api-addr=127.0.0.1:1",
            "--context=prod",
            "--as=ann",
            "--as-group=[]",
            "--kubeconfig=/x",
            "--linkerd-namespace=linkerd",
            "--verbose=false",
            "--namespace=shop",
            "--cni-namespace=",
            "--proxy=true",
            "--wait=5m0s",
            "--color=never",
            "--output=json",
            "--tomorrow=[]",
            "--some-day",
        ]);
        let (kept, ignored) = known(&sent, &command());
        assert_eq!(ignored, ["--tomorrow", "--some-day"]);
        assert_eq!(kept.len(), sent.len() - 4, "without them, the default namespace and what is empty");
        let (mut cli, matches) = cli(command(), &go_booleans(&go_lists(&kept), &command())).unwrap();
        apply(&mut cli, &matches, true);
        let args::Command::Check(check) = cli.command else { panic!("another command") };
        assert_eq!((check.connection.timeout, check.wait), (Some(Duration::from_secs(300)), None));
        assert_eq!(check.connection.as_user.as_deref(), Some("ann"));
        assert!(check.connection.as_group.is_empty() && check.stage.proxy && check.verbosity.verbose == 0);
        assert_eq!(check.evidence.linkerd_namespace, None);
        assert_eq!(check.namespace, ["shop"]);
    }
}
