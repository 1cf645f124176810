//! `meshdoctor.toml`: flags stored in a file. Its tables are commands and its keys their flags; the command line and
//! the environment override it. Settings are added to the command line as words, so that the same rules apply to their
//! values.

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
pub(super) use read::{Setting, ValueForm};

/// Name of the file to look for, in the current folder and its parents.
const NAME: &str = "meshdoctor.toml";
/// Environment variable that names the file; `--config` overrides it.
const VARIABLE: &str = "MESHDOCTOR_CONFIG";
/// Your own checks: the setting under `[check]` also applies to other commands.
const CHECKS: &str = "checks";

/// The file of this run and its settings; unset without a file.
static USED: OnceLock<ConfigUse> = OnceLock::new();

/// The file of the run and the settings that the run takes from it.
pub(super) fn used() -> Option<ConfigUse> {
    USED.get().cloned()
}

/// Prints on standard error which file sets which flags.
pub(super) fn say_used() {
    if let Some(used) = USED.get().filter(|used| !used.quiet) {
        let origin = if used.named { "" } else { " (found; --no-config ignores it)" };
        output::print_line(&format!("{}{origin} sets {}", used.file, used.flags()));
    }
}

/// A configuration file.
struct File {
    path: PathBuf,
    /// Named by `--config` or `MESHDOCTOR_CONFIG`: it may set every flag.
    named: bool,
}

/// The command line with the settings of a file added.
///
/// # Errors
/// The file cannot be read, has a setting that no command accepts, or was found and has a setting that only a named
/// file may have.
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
    let line = ConfiguredLine { words, at, path: &file.path };
    let said = set_flags(name, of_command);
    let mut added = applicable(&settings, name, &said);
    // Errors without the file are reported for the command line itself.
    if added.is_empty() || line.refused(&[]).is_some() {
        return Ok(words.to_vec());
    }
    // A setting that conflicts with the command line is dropped, like one that the command line sets.
    if line.refused(&added).is_some_and(|error| error.kind() == ErrorKind::ArgumentConflict) {
        added
            .retain(|setting| line.refused(&[setting]).is_none_or(|error| error.kind() != ErrorKind::ArgumentConflict));
    }
    if let Some(error) = line.refused(&added) {
        return Err(line.stop(&added, &error));
    }
    file.allows(name, &added, said.contains("verify"))?;
    // The command `config` prints the file name itself.
    if !added.is_empty() && name != "config" {
        let quiet = said.contains("quiet") || added.iter().any(|setting| setting.flag == "quiet");
        _ = USED.set(file.used(name, &added, quiet));
    }
    Ok(line.with(&added))
}

impl File {
    /// Rejects settings that a found file may not have for a command.
    fn allows(&self, command: &str, added: &[&Setting], verifies: bool) -> Result<(), Stop> {
        if self.named {
            return Ok(());
        }
        let found = trust::FoundConfig { path: &self.path, verifies };
        let shown = self.path.display();
        for setting in added {
            if let Some(why) = found.refuses(command, setting) {
                let cause =
                    format!("{shown}:{}: a file that was found cannot set {}: {why}", setting.line, setting.argument());
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

/// The ways to proceed with a file that was found.
fn trusting(path: &Path) -> String {
    let path = path.display();
    format!("review the file; if you trust it, use --config {path}, otherwise --no-config")
}

/// The settings that apply to a command with these flags of its own.
fn applicable<'a>(settings: &'a [Setting], name: &str, said: &BTreeSet<String>) -> Vec<&'a Setting> {
    let own = settings.iter().any(|setting| setting.command == name && setting.flag == CHECKS);
    let holds = |setting: &&Setting| {
        setting.command == name || (!own && setting.flag == CHECKS && setting.command == "check" && asks_checks(name))
    };
    let unsaid = |setting: &&Setting| setting.adds() || !said.contains(setting.flag.as_str());
    settings.iter().filter(holds).filter(unsaid).collect()
}

/// A command line, and the place to add settings to it.
struct ConfiguredLine<'a> {
    words: &'a [OsString],
    /// Position of the command's name.
    at: usize,
    path: &'a Path,
}

impl ConfiguredLine<'_> {
    fn with(&self, added: &[&Setting]) -> Vec<OsString> {
        let mut all = self.words.to_vec();
        all.splice(self.at + 1..=self.at, added.iter().map(|setting| OsString::from(setting.argument())));
        all
    }

    fn refused(&self, added: &[&Setting]) -> Option<clap::Error> {
        Cli::command().try_get_matches_from(self.with(added)).err()
    }

    /// The error for a line that is rejected with these settings, at the setting that causes it.
    fn stop(&self, added: &[&Setting], error: &clap::Error) -> Stop {
        let cause = describe(error);
        let is_it = |set: &[&Setting]| self.refused(set).is_some_and(|other| describe(&other) == cause);
        let needed = |left: usize| {
            let rest: Vec<&Setting> =
                added.iter().enumerate().filter(|(at, _)| *at != left).map(|(_, setting)| *setting).collect();
            !is_it(&rest)
        };
        let mut lines: Vec<usize> = (0..added.len()).filter(|left| needed(*left)).map(|at| added[at].line).collect();
        lines.dedup();
        let alone = || added.iter().find(|setting| is_it(&[setting])).map(|setting| setting.line);
        let line = lines.pop().or_else(alone).unwrap_or(1);
        let beside = lines.last().map(|other| format!(" (line {other})")).unwrap_or_default();
        let cause = format!("{}:{line}: {cause}{beside}", self.path.display());
        Stop::usage(cause, "change the setting there, or run with --no-config")
    }
}

/// The error message of clap, in one line and without usage.
fn describe(error: &clap::Error) -> String {
    let message = error.to_string();
    let said: Vec<&str> = message.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    said.join(" ").trim_start_matches("error: ").to_owned()
}

/// Whether a command uses checks.
fn asks_checks(command: &str) -> bool {
    !["new", "version", "completions", "node-snapshot", "diff"].contains(&command)
}

/// Flags set by the command line or the environment.
fn set_flags(name: &str, matches: &clap::ArgMatches) -> BTreeSet<String> {
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

/// The file to use: the named one, or the nearest one.
///
/// # Errors
/// The named file does not exist, or other users can write the found one.
fn chosen(words: &[OsString]) -> Result<Option<File>, Stop> {
    let named = match file_options(words) {
        FileOptions::None => return Ok(None),
        FileOptions::File(path) => Some(("--config", path)),
        FileOptions::Not => {
            std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(|path| (VARIABLE, path.into()))
        }
    };
    if let Some((by, path)) = named {
        return match path.is_file() {
            true => Ok(Some(File { path, named: true })),
            false => Err(Stop::usage(
                match path.is_dir() {
                    true => format!("{by} {}: it is a folder, not a file", path.display()),
                    false => format!("{by} {}: the file does not exist", path.display()),
                },
                "give the path of a meshdoctor.toml",
            )),
        };
    }
    let Some(path) = nearest() else { return Ok(None) };
    match trust::foreign(&path) {
        Some(why) => {
            let cause = format!("{}: this file was found rather than named, and {why}", path.display());
            Err(Stop::usage(cause, trusting(&path)))
        }
        None => Ok(Some(File { path, named: false })),
    }
}

/// The file options of the command line.
enum FileOptions {
    None,
    Not,
    File(PathBuf),
}

fn file_options(words: &[OsString]) -> FileOptions {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if word == "--no-config" {
            return FileOptions::None;
        }
        let path = match word.strip_prefix("--config") {
            Some("") => words.next().map(|path| PathBuf::from(path.as_ref())),
            Some(rest) => rest.strip_prefix('=').map(PathBuf::from),
            None => None,
        };
        if let Some(path) = path {
            return FileOptions::File(path);
        }
    }
    FileOptions::Not
}

/// The nearest file, in the current folder or a parent.
fn nearest() -> Option<PathBuf> {
    // In the current folder, use the bare name, so that paths next to it stay short.
    if Path::new(NAME).is_file() {
        return Some(PathBuf::from(NAME));
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

/// The setting that corresponds to a flag (without its dashes) and value; `None` if the command line sets it.
pub(super) fn setting(flag: &str, value: &str) -> Option<(PathBuf, Setting)> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let path = chosen(&words).ok().flatten()?.path;
    let said = |word: &OsString| {
        let word = word.to_string_lossy();
        let rest = word.strip_prefix("--").and_then(|word| word.strip_prefix(flag));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let is = |setting: &Setting| setting.contains(flag, value) && (setting.adds() || !words.iter().any(said));
    let of_command = |setting: &Setting| words.iter().any(|word| word.to_str() == Some(&setting.command));
    let mut all: Vec<Setting> = read(&path).ok()?.into_iter().filter(is).collect();
    // Settings of the command itself override those of check.
    all.sort_by_key(|setting| (!of_command(setting), setting.command != "check"));
    all.into_iter().next().map(|setting| (path, setting))
}

/// Position (file and line) of the setting that corresponds to a flag and value.
pub(super) fn place(flag: &str, value: &str) -> Option<String> {
    setting(flag, value).map(|(path, setting)| format!("{}:{}", path.display(), setting.line))
}

/// A flag with a value, for messages, with its position if the configuration sets it.
pub(super) fn flag(flag: &str, value: &str) -> String {
    match place(flag, value) {
        Some(place) => format!("{place}: --{flag}"),
        None => format!("--{flag}"),
    }
}

/// An error about a file, with the position of the setting that names it.
pub(super) fn placed(stop: Stop, flag: &str, path: &Path) -> Stop {
    match place(flag, &path.display().to_string()) {
        Some(place) => Stop { cause: format!("{place}: --{flag}: {}", stop.cause), ..stop },
        None => stop,
    }
}

/// The default value of a setting, for people.
fn instead_of(setting: &Setting) -> Result<String, (String, String)> {
    let value = setting.value.as_deref().unwrap_or_default();
    if setting.flag == "severity" {
        let found = value.split_once('=').and_then(|(check, _)| checks::find(check));
        return Ok(found
            .map(|found| format!("   (default at most {})", found.card().front.severity))
            .unwrap_or_default());
    }
    let Ok(Parameter { check, name, value }) = parameter(value) else { return Ok(String::new()) };
    let Some(found) = checks::find(&check).filter(|_| setting.flag == "param") else {
        return Ok(String::new());
    };
    params::one(&check, &name, &value)?;
    let shown = found.card().front.parameters().into_iter().find(|shown| shown.name == name);
    Ok(shown.map(|shown| format!("   (default {})", shown.default_in_words())).unwrap_or_default())
}

/// `meshdoctor config`: shows the settings and their origin. Reports the same errors as the commands.
pub(super) fn show(words: &[OsString]) -> anyhow::Result<u8> {
    let Some(file) = chosen(words)? else {
        return output::print(&format!("no {NAME} in this folder or a parent folder: all flags have their defaults\n"));
    };
    let path = &file.path;
    let settings = read(path)?;
    let missing = refused(&settings, &file)?;
    let origin = if file.named { "named" } else { "found: it may not choose clusters, programs or outputs" };
    let mut text = format!("{} ({origin})\n", path.display());
    for setting in &settings {
        let instead = instead_of(setting)
            .map_err(|(why, next)| Stop::usage(format!("{}:{}: {why}", path.display(), setting.line), next))?;
        text.push_str(&format!(
            "  {:>4}  {} {}{instead}\n",
            setting.line,
            setting.command,
            // URLs may contain credentials.
            crate::redact::text(&setting.argument())
        ));
    }
    if settings.is_empty() {
        text.push_str("  no settings\n");
    }
    for said in missing {
        text.push_str(&format!("{said}\n"));
    }
    for (variable, what) in [("MESHDOCTOR_CHECKS", "--checks"), ("KUBECONFIG", "--kubeconfig")] {
        if std::env::var_os(variable).is_some() {
            text.push_str(&format!("{variable} is set and overrides {what} of the file\n"));
        }
    }
    text.push_str("flags override the file; --no-config ignores it\n");
    output::print(&crate::render::text::escape_ci_commands(&text))
}

/// Validates every table of a file against its command. Returns notes about flags that the command line must add.
///
/// # Errors
/// A command rejects a setting.
fn refused(settings: &[Setting], file: &File) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    let commands: BTreeSet<&str> = settings.iter().map(|setting| setting.command.as_str()).collect();
    for name in commands {
        let words = [OsString::from("meshdoctor"), OsString::from(name)];
        let line = ConfiguredLine { words: &words, at: 1, path: &file.path };
        let added = applicable(settings, name, &BTreeSet::new());
        let alone = || line.refused(&[]).map(|alone| describe(&alone));
        let error = line.refused(&added);
        // The command also needs an argument from the command line.
        let is_incomplete = error.as_ref().is_some_and(|error| alone() == Some(describe(error)));
        match error {
            Some(error) if error.kind() == ErrorKind::MissingRequiredArgument && !is_incomplete => {
                missing.push(format!("without further arguments, {name} rejects it: {}", line.stop(&added, &error)));
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
