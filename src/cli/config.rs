//! `meshdoctor.toml`: what flags say, kept in a file. Its tables are commands and its keys their flags; what the command line or the
//! environment says counts before it. The command line takes it in as words, so that a value is held to the same rules wherever it
//! stands.

mod read;
mod trust;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, Parser};

use super::args::{Cli, Command};
use super::stop::Stop;
use super::values::{Parameter, parameter};
use super::{check, output, params};
use crate::checks;
use crate::report::ConfigUse;
use read::read;
pub(super) use read::{Setting, Written};

/// The file that is looked for, here and in every folder above.
const NAME: &str = "meshdoctor.toml";
/// Names the file as `--config` does, which counts before it.
const VARIABLE: &str = "MESHDOCTOR_CONFIG";
/// The cards of a user, which are the same for every command: what `[check]` says of them holds for the others.
const CHECKS: &str = "checks";

/// The file of this run and its part in it; unset without one.
static USED: OnceLock<ConfigUse> = OnceLock::new();

/// The file that a run uses and the settings that it takes from it.
pub(super) fn used() -> Option<ConfigUse> {
    USED.get().cloned()
}

/// Says on standard error which file adds what to the command line.
pub(super) fn say_used() {
    if let Some(used) = USED.get().filter(|used| !used.quiet) {
        let origin = if used.named { "" } else { " (found; --no-config ignores it)" };
        output::say(&format!("{}{origin} sets {}", used.file, used.flags()));
    }
}

/// A configuration file.
struct File {
    path: PathBuf,
    /// `--config` or `MESHDOCTOR_CONFIG` names it, so it may say everything.
    named: bool,
}

/// The command line with what a file adds to it.
///
/// # Errors
/// The file cannot be read, says something that no command takes, or was found and says something that only a named file may say.
pub(super) fn applied(words: &[OsString]) -> Result<Vec<OsString>, Stop> {
    let Some(file) = chosen(words)? else { return Ok(words.to_vec()) };
    let settings = read(&file.path)?;
    let Ok(matches) = Cli::command().ignore_errors(true).try_get_matches_from(words) else {
        return Ok(words.to_vec());
    };
    let Some((name, of_command)) = matches.subcommand() else { return Ok(words.to_vec()) };
    let Some(at) = words.iter().position(|word| word.to_str() == Some(name)) else {
        return Ok(words.to_vec());
    };
    let line = Line { words, at, path: &file.path };
    let said = said(name, of_command);
    let mut added = held(&settings, name, &said);
    // What is wrong without the file is the command line's matter.
    if added.is_empty() || line.refused(&[]).is_some() {
        return Ok(words.to_vec());
    }
    // What the command line says something against counts no more than what it says itself.
    if line.refused(&added).is_some_and(|error| error.kind() == ErrorKind::ArgumentConflict) {
        added.retain(|setting| {
            line.refused(&[setting]).is_none_or(|error| error.kind() != ErrorKind::ArgumentConflict)
        });
    }
    if let Some(error) = line.refused(&added) {
        return Err(line.stop(&added, &error));
    }
    file.allows(name, &added, said.contains("verify"))?;
    // The command that shows the file says by itself which it is.
    if !added.is_empty() && name != "config" {
        let quiet = said.contains("quiet") || added.iter().any(|setting| setting.flag == "quiet");
        _ = USED.set(file.used(name, &added, quiet));
    }
    Ok(line.with(&added))
}

impl File {
    /// Refuses what a found file may not say to a command.
    fn allows(&self, command: &str, added: &[&Setting], verifies: bool) -> Result<(), Stop> {
        if self.named {
            return Ok(());
        }
        let found = trust::Found { path: &self.path, verifies };
        let shown = self.path.display();
        for setting in added {
            if let Some(why) = found.refuses(command, setting) {
                let cause = format!(
                    "{shown}:{}: a file that was found cannot set {}: {why}",
                    setting.line,
                    setting.word()
                );
                return Err(Stop::usage(cause, trusting(&self.path)));
            }
        }
        Ok(())
    }

    fn used(&self, command: &str, added: &[&Setting], quiet: bool) -> ConfigUse {
        let mut settings: Vec<String> = Vec::new();
        for setting in added {
            if !settings.contains(&setting.flag) {
                settings.push(setting.flag.clone());
            }
        }
        let of_gate = |flag: &&String| trust::is_of_gate(command, flag);
        let gate = settings.iter().filter(of_gate).cloned().collect();
        ConfigUse { file: self.path.display().to_string(), named: self.named, settings, gate, quiet }
    }
}

/// How a file that was found is used all the same, or left out.
fn trusting(path: &Path) -> String {
    let path = path.display();
    format!("read it, and if you trust it name it: --config {path}; --no-config ignores it")
}

/// What of a file holds for a command that says these flags itself.
fn held<'a>(settings: &'a [Setting], name: &str, said: &BTreeSet<String>) -> Vec<&'a Setting> {
    let own = settings.iter().any(|setting| setting.command == name && setting.flag == CHECKS);
    let holds = |setting: &&Setting| {
        setting.command == name
            || (!own && setting.flag == CHECKS && setting.command == "check" && asks_checks(name))
    };
    let unsaid = |setting: &&Setting| setting.adds() || !said.contains(setting.flag.as_str());
    settings.iter().filter(holds).filter(unsaid).collect()
}

/// A command line, and where a file adds to it.
struct Line<'a> {
    words: &'a [OsString],
    /// The position of the command's name.
    at: usize,
    path: &'a Path,
}

impl Line<'_> {
    fn with(&self, added: &[&Setting]) -> Vec<OsString> {
        let mut all = self.words.to_vec();
        all.splice(self.at + 1..=self.at, added.iter().map(|setting| OsString::from(setting.word())));
        all
    }

    fn refused(&self, added: &[&Setting]) -> Option<clap::Error> {
        Cli::command().try_get_matches_from(self.with(added)).err()
    }

    /// Why the line is refused with these settings, at the one without which it would not be, or not for this.
    fn stop(&self, added: &[&Setting], error: &clap::Error) -> Stop {
        let cause = in_words(error);
        let is_it = |set: &[&Setting]| self.refused(set).is_some_and(|other| in_words(&other) == cause);
        let needed = |left: usize| {
            let rest: Vec<&Setting> =
                added.iter().enumerate().filter(|(at, _)| *at != left).map(|(_, setting)| *setting).collect();
            !is_it(&rest)
        };
        let mut lines: Vec<usize> =
            (0..added.len()).filter(|left| needed(*left)).map(|at| added[at].line).collect();
        lines.dedup();
        let alone = || added.iter().find(|setting| is_it(&[setting])).map(|setting| setting.line);
        let line = lines.pop().or_else(alone).unwrap_or(1);
        let beside = lines.last().map(|other| format!(" (line {other})")).unwrap_or_default();
        let cause = format!("{}:{line}: {cause}{beside}", self.path.display());
        Stop::usage(cause, "change it there, or run with --no-config")
    }
}

/// What clap says of a line that it refuses, in one line and without its usage.
fn in_words(error: &clap::Error) -> String {
    let message = error.to_string();
    let said: Vec<&str> = message.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    said.join(" ").trim_start_matches("error: ").to_owned()
}

/// Whether a command has anything to do with checks.
fn asks_checks(command: &str) -> bool {
    !["new", "version", "completions", "node-snapshot", "diff"].contains(&command)
}

/// The flags that the command line or the environment says.
fn said(name: &str, matches: &clap::ArgMatches) -> BTreeSet<String> {
    let command = Cli::command();
    let Some(of) = command.find_subcommand(name) else { return BTreeSet::new() };
    let all = of.get_arguments().chain(command.get_arguments());
    let given = all.filter(|arg| {
        let id = arg.get_id().as_str();
        let known = matches.try_contains_id(id).is_ok();
        known && matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    });
    given.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// The file that holds: the one that is named, or the nearest one above.
///
/// # Errors
/// The named file does not exist, or another user can write the one that was found.
fn chosen(words: &[OsString]) -> Result<Option<File>, Stop> {
    let named = match named(words) {
        Named::None => return Ok(None),
        Named::File(path) => Some(("--config", path)),
        Named::Not => {
            std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(|path| (VARIABLE, path.into()))
        }
    };
    if let Some((by, path)) = named {
        return match path.is_file() {
            true => Ok(Some(File { path, named: true })),
            false => Err(Stop::usage(
                format!("{by} {}: there is no such file", path.display()),
                "give the path of a meshdoctor.toml",
            )),
        };
    }
    let Some(path) = nearest() else { return Ok(None) };
    match trust::foreign(&path) {
        Some(why) => {
            let cause = format!("{}: this file was found, not named, and {why}", path.display());
            Err(Stop::usage(cause, trusting(&path)))
        }
        None => Ok(Some(File { path, named: false })),
    }
}

/// What the command line says of the file.
enum Named {
    None,
    Not,
    File(PathBuf),
}

fn named(words: &[OsString]) -> Named {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if word == "--no-config" {
            return Named::None;
        }
        let path = match word.strip_prefix("--config") {
            Some("") => words.next().map(|path| PathBuf::from(path.as_ref())),
            Some(rest) => rest.strip_prefix('=').map(PathBuf::from),
            None => None,
        };
        if let Some(path) = path {
            return Named::File(path);
        }
    }
    Named::Not
}

/// The nearest file, here or in a folder above.
fn nearest() -> Option<PathBuf> {
    // By its own name where the command runs, so that what lies beside it goes by short names as well.
    if Path::new(NAME).is_file() {
        return Some(PathBuf::from(NAME));
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

/// What the configuration says that the command line would say with this flag (without its dashes) and value; `None` where the
/// command line says it itself.
pub(super) fn setting(flag: &str, value: &str) -> Option<(PathBuf, Setting)> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let path = chosen(&words).ok().flatten()?.path;
    let said = |word: &OsString| {
        let word = word.to_string_lossy();
        let rest = word.strip_prefix("--").and_then(|word| word.strip_prefix(flag));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let is = |setting: &Setting| setting.says(flag, value) && (setting.adds() || !words.iter().any(said));
    let of_command = |setting: &Setting| words.iter().any(|word| word.to_str() == Some(&setting.command));
    let mut all: Vec<Setting> = read(&path).ok()?.into_iter().filter(is).collect();
    // What a command of its own says, or else what check does.
    all.sort_by_key(|setting| (!of_command(setting), setting.command != "check"));
    all.into_iter().next().map(|setting| (path, setting))
}

/// Where the configuration says what the command line would say with this flag and value: file and line.
pub(super) fn place(flag: &str, value: &str) -> Option<String> {
    setting(flag, value).map(|(path, setting)| format!("{}:{}", path.display(), setting.line))
}

/// A flag with a value, for messages: where the configuration gives it, its place as well.
pub(super) fn flag(flag: &str, value: &str) -> String {
    match place(flag, value) {
        Some(place) => format!("{place}: --{flag}"),
        None => format!("--{flag}"),
    }
}

/// Why a file cannot be taken, with the place where the configuration names it.
pub(super) fn placed(stop: Stop, flag: &str, path: &Path) -> Stop {
    match place(flag, &path.display().to_string()) {
        Some(place) => Stop { cause: format!("{place}: --{flag}: {}", stop.cause), ..stop },
        None => stop,
    }
}

/// What holds where nobody sets what a setting says, for people.
fn instead_of(setting: &Setting) -> Result<String, (String, String)> {
    let value = setting.value.as_deref().unwrap_or_default();
    if setting.flag == "severity" {
        let found = value.split_once('=').and_then(|(check, _)| checks::find(check));
        return Ok(found
            .map(|found| format!("   (else {} at most)", found.card().front.severity))
            .unwrap_or_default());
    }
    let Ok(Parameter { check, name, value }) = parameter(value) else { return Ok(String::new()) };
    let Some(found) = checks::find(&check).filter(|_| setting.flag == "param") else {
        return Ok(String::new());
    };
    params::one(&check, &name, &value)?;
    let shown = found.card().front.parameters().into_iter().find(|shown| shown.name == name);
    Ok(shown.map(|shown| format!("   (else {})", shown.default_in_words())).unwrap_or_default())
}

/// `meshdoctor config`: what holds, and where it is from. What a command would refuse is refused here, in the same words.
pub(super) fn show(words: &[OsString]) -> anyhow::Result<u8> {
    let Some(file) = chosen(words)? else {
        return output::print(&format!("no {NAME} here or in a folder above: every flag has its default\n"));
    };
    let path = &file.path;
    let settings = read(path)?;
    let missing = refused(&settings, &file)?;
    let origin = if file.named { "named" } else { "found: it may not choose clusters, programs or outputs" };
    let mut text = format!("{} ({origin})\n", path.display());
    for setting in &settings {
        let instead = instead_of(setting).map_err(|(why, next)| {
            Stop::usage(format!("{}:{}: {why}", path.display(), setting.line), next)
        })?;
        text.push_str(&format!("  {:>4}  {} {}{instead}\n", setting.line, setting.command, setting.word()));
    }
    if settings.is_empty() {
        text.push_str("  sets nothing\n");
    }
    for said in missing {
        text.push_str(&format!("{said}\n"));
    }
    for (variable, what) in [("MESHDOCTOR_CHECKS", "--checks"), ("KUBECONFIG", "--kubeconfig")] {
        if std::env::var_os(variable).is_some() {
            text.push_str(&format!("{variable} is set: it counts before {what} of the file\n"));
        }
    }
    text.push_str("what the command line says counts before all of it; --no-config leaves the file out\n");
    output::print(&crate::render::text::harmless(&text))
}

/// Holds every table of a file against its command, and says what the command line has to say besides.
///
/// # Errors
/// A command refuses what the file says to it.
fn refused(settings: &[Setting], file: &File) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    let commands: BTreeSet<&str> = settings.iter().map(|setting| setting.command.as_str()).collect();
    for name in commands {
        let words = [OsString::from("meshdoctor"), OsString::from(name)];
        let line = Line { words: &words, at: 1, path: &file.path };
        let added = held(settings, name, &BTreeSet::new());
        let alone = || line.refused(&[]).map(|alone| in_words(&alone));
        let error = line.refused(&added);
        // An argument that the command line has to give in any case.
        let is_incomplete = error.as_ref().is_some_and(|error| alone() == Some(in_words(error)));
        match error {
            Some(error) if error.kind() == ErrorKind::MissingRequiredArgument && !is_incomplete => {
                missing.push(format!("without more, {name} refuses it: {}", line.stop(&added, &error)));
            }
            Some(error) if !is_incomplete => return Err(line.stop(&added, &error).into()),
            _ => {}
        }
        file.allows(name, &added, false)?;
        if let Ok(Cli { command: Command::Check(args), .. }) = Cli::try_parse_from(line.with(&added)) {
            check::is_well_asked(&args)?;
        }
    }
    Ok(missing)
}
