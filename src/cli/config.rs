//! `meshdoctor.toml`: what flags say, kept in a file. Its tables are commands and its keys their flags; what the command line or the
//! environment says counts before it. The command line takes it in as words, so that a value is held to the same rules wherever it
//! stands.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory};

use super::args::Cli;
use super::stop::Stop;
use super::values::{Parameter, parameter};
use super::{output, params};
use crate::checks;
use crate::nearest::closest;

/// The file that is looked for, here and in every folder above.
const NAME: &str = "meshdoctor.toml";
/// The table of severities, which are of `check`.
const SEVERITY: &str = "severity";
/// The tables of parameters of checks, which are of `check` as well: `[params.CHECK]`.
const PARAMS: &str = "params";
/// The cards of a user, which are the same for every command: what `[check]` says of them holds for the others.
const CHECKS: &str = "checks";
/// The largest file that is read.
const MOST: u64 = 1 << 20;

/// A setting of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// The command that it is for.
    command: String,
    /// The word: `--fail-on=warning`.
    word: String,
    /// The flag without its dashes.
    flag: String,
    /// Its line, from 1.
    line: usize,
}

/// The command line with what a file adds to it.
///
/// # Errors
/// The file cannot be read, or says something that no command takes.
pub(super) fn applied(words: &[OsString]) -> Result<Vec<OsString>, Stop> {
    let Some(path) = chosen(words)? else { return Ok(words.to_vec()) };
    let settings = read(&path)?;
    let Ok(matches) = Cli::command().ignore_errors(true).try_get_matches_from(words) else {
        return Ok(words.to_vec());
    };
    let Some((name, of_command)) = matches.subcommand() else { return Ok(words.to_vec()) };
    let said = said(name, of_command);
    let Some(at) = words.iter().position(|word| word.to_str() == Some(name)) else {
        return Ok(words.to_vec());
    };
    let own = settings.iter().any(|setting| setting.command == name && setting.flag == CHECKS);
    let holds = |setting: &&Setting| {
        setting.command == name
            || (!own && setting.flag == CHECKS && setting.command == "check" && asks_checks(name))
    };
    let mut added: Vec<&Setting> =
        settings.iter().filter(holds).filter(|setting| !said.contains(setting.flag.as_str())).collect();
    let with = |added: &[&Setting]| -> Vec<OsString> {
        let mut all = words.to_vec();
        all.splice(at + 1..at + 1, added.iter().map(|setting| OsString::from(&setting.word)));
        all
    };
    let refused = |added: &[&Setting]| Cli::command().try_get_matches_from(with(added)).err();
    // What is wrong without the file is the command line's matter.
    if added.is_empty() || refused(&[]).is_some() {
        return Ok(words.to_vec());
    }
    // What the command line says something against counts no more than what it says itself.
    if refused(&added).is_some_and(|error| error.kind() == ErrorKind::ArgumentConflict) {
        added.retain(|setting| {
            refused(&[setting]).is_none_or(|error| error.kind() != ErrorKind::ArgumentConflict)
        });
    }
    let Some(error) = refused(&added) else { return Ok(with(&added)) };
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let values = message.lines().map(str::trim).find(|line| line.starts_with("[possible values: "));
    let first = values.map_or(first.clone(), |values| format!("{first} {values}"));
    let at = added.iter().find(|setting| refused(&[setting]).is_some()).map_or(1, |setting| setting.line);
    let cause = format!("{}:{at}: {first}", path.display());
    Err(Stop::usage(cause, "change it there, or run with --no-config"))
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
fn chosen(words: &[OsString]) -> Result<Option<PathBuf>, Stop> {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if word == "--no-config" {
            return Ok(None);
        }
        let named = match word.strip_prefix("--config") {
            Some("") => words.next().map(|path| PathBuf::from(path.as_ref())),
            Some(rest) => rest.strip_prefix('=').map(PathBuf::from),
            None => None,
        };
        if let Some(path) = named {
            return match path.is_file() {
                true => Ok(Some(path)),
                false => Err(Stop::usage(
                    format!("--config {}: there is no such file", path.display()),
                    "see docs/config.md for its form",
                )),
            };
        }
    }
    let Ok(here) = std::env::current_dir() else { return Ok(None) };
    Ok(here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file()))
}

fn read(path: &Path) -> Result<Vec<Setting>, Stop> {
    let shown = path.display();
    let next = "see docs/config.md for its form, or run with --no-config";
    let unreadable = |error: std::io::Error| Stop::usage(format!("{shown}: {error}"), next);
    if std::fs::metadata(path).map_err(unreadable)?.len() > MOST {
        return Err(Stop::usage(format!("{shown} is larger than a configuration is"), next));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line =
            error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Stop::usage(format!("{shown}:{line}: {}", error.message()), next)
    })?;
    settings(&table, &text, path)
}

/// What a file says, checked against what commands take.
fn settings(table: &toml::Table, text: &str, path: &Path) -> Result<Vec<Setting>, Stop> {
    let command = Cli::command();
    let commands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let mut settings = Vec::new();
    let wrong = |line: usize, said: String| {
        Stop::usage(
            format!("{}:{line}: {said}", path.display()),
            "see docs/config.md for its form, or run with --no-config",
        )
    };
    let perhaps = |word: &str, known: Vec<&str>| {
        closest(word, known).map(|near| format!("; {near} was perhaps meant")).unwrap_or_default()
    };
    for (name, value) in table {
        let line = line_of(text, None, name);
        let Some(inner) = value.as_table() else {
            return Err(wrong(
                line,
                format!("{name} stands in no table: write it under [check] or the command that it is for"),
            ));
        };
        if name == SEVERITY {
            for (check, level) in inner {
                let line = line_of(text, Some(name), check);
                let Some(level) = level.as_str() else {
                    return Err(wrong(
                        line,
                        format!("the severity of {check} is a text: error, warning or info"),
                    ));
                };
                let word = format!("--severity={check}={level}");
                settings.push(Setting {
                    command: "check".to_owned(),
                    word,
                    flag: format!("severity={check}"),
                    line,
                });
            }
            continue;
        }
        if name == PARAMS {
            for (check, set) in inner {
                let line = line_of(text, None, &format!("{PARAMS}.{check}"));
                let Some(set) = set.as_table() else {
                    return Err(wrong(line, format!("parameters stand in a table: [{PARAMS}.{check}]")));
                };
                for (name, value) in set {
                    let line = line_of(text, Some(&format!("{PARAMS}.{check}")), name);
                    let said = match value {
                        toml::Value::String(text) => text.clone(),
                        other => serde_json::to_string(other)
                            .map_err(|error| wrong(line, format!("{name}: {error}")))?,
                    };
                    let flag = format!("param={check}.{name}");
                    let word = format!("--{flag}={said}");
                    settings.push(Setting { command: "check".to_owned(), word, flag, line });
                }
            }
            continue;
        }
        let Some(of) = command.find_subcommand(name) else {
            let known = commands.iter().copied().chain([SEVERITY, PARAMS]).collect();
            return Err(wrong(line, format!("there is no command {name}{}", perhaps(name, known))));
        };
        for (key, value) in inner {
            let line = line_of(text, Some(name), key);
            let is = |arg: &&clap::Arg| arg.get_long() == Some(key.as_str());
            let arg = of.get_arguments().chain(command.get_arguments()).find(is);
            let Some(arg) =
                arg.filter(|arg| !["config", "no-config", "help"].contains(&arg.get_id().as_str()))
            else {
                let known = of.get_arguments().filter_map(clap::Arg::get_long).collect();
                return Err(wrong(line, format!("{name} has no flag --{key}{}", perhaps(key, known))));
            };
            let added = words(arg, key, value, path).map_err(|said| wrong(line, said))?;
            let new = |word: String| Setting { command: name.clone(), word, flag: key.clone(), line };
            settings.extend(added.into_iter().map(new));
        }
    }
    Ok(settings)
}

/// A value as words of the command line.
fn words(arg: &clap::Arg, key: &str, value: &toml::Value, path: &Path) -> Result<Vec<String>, String> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let is_path = arg.get_value_parser().type_id() == ValueParser::path_buf().type_id();
    let one = |value: &toml::Value| -> Result<String, String> {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Datetime(moment) => moment.to_string(),
            toml::Value::Boolean(value) => value.to_string(),
            toml::Value::Array(_) | toml::Value::Table(_) => {
                return Err(format!("{key} takes texts, numbers, or one list of them"));
            }
        };
        // Files lie beside the file that names them.
        let beside = path.parent().filter(|_| is_path && text != "-");
        Ok(beside.map_or_else(|| text.clone(), |folder| folder.join(&text).display().to_string()))
    };
    match value {
        toml::Value::Boolean(given) if is_flag => Ok(if *given { vec![format!("--{key}")] } else { vec![] }),
        _ if is_flag => Err(format!("{key} is true or false")),
        toml::Value::Array(values) => {
            values.iter().map(|value| Ok(format!("--{key}={}", one(value)?))).collect()
        }
        value => Ok(vec![format!("--{key}={}", one(value)?)]),
    }
}

/// The line of a key in a table, or of a table; 1 where it cannot be told.
fn line_of(text: &str, table: Option<&str>, key: &str) -> usize {
    let mut inside = table.is_none();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let name =
                header.trim_end_matches(|c: char| c != ']').trim_end_matches(']').trim().trim_matches('"');
            if table.is_none() && name == key {
                return at + 1;
            }
            inside = table == Some(name);
        } else if inside
            && let Some((name, _)) = line.split_once('=')
            && name.trim().trim_matches(['"', '\'']) == key
        {
            return at + 1;
        }
    }
    1
}

/// Where the configuration says a word of the command line, `--param=CHECK.NAME=VALUE`: file and line; `None` where it does not, so
/// that the command line itself does.
pub(super) fn place(word: &str) -> Option<String> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let path = chosen(&words).ok().flatten()?;
    let setting = read(&path).ok()?.into_iter().find(|setting| setting.word == word)?;
    Some(format!("{}:{}", path.display(), setting.line))
}

/// What holds of a parameter where nobody sets it, for people.
fn instead_of(setting: &Setting) -> Result<String, (String, String)> {
    let Ok(Parameter { check, name, value }) =
        parameter(setting.word.strip_prefix("--param=").unwrap_or_default())
    else {
        return Ok(String::new());
    };
    let Some(found) = checks::find(&check) else {
        return Ok("   (of no check that is known here)".to_owned());
    };
    params::one(&check, &name, &value)?;
    let shown = found.card().front.parameters().into_iter().find(|shown| shown.name == name);
    Ok(shown.map(|shown| format!("   (else {})", shown.default_in_words())).unwrap_or_default())
}

/// `meshdoctor config`: what holds, and where it is from.
pub(super) fn show(words: &[OsString]) -> anyhow::Result<u8> {
    let Some(path) = chosen(words)? else {
        return output::print(&format!("no {NAME} here or in a folder above: every flag has its default\n"));
    };
    let settings = read(&path)?;
    let mut text = format!("{}\n", path.display());
    for setting in &settings {
        let instead = instead_of(setting).map_err(|(why, next)| {
            Stop::usage(format!("{}:{}: {why}", path.display(), setting.line), next)
        })?;
        text.push_str(&format!("  {:>4}  {} {}{instead}\n", setting.line, setting.command, setting.word));
    }
    if settings.is_empty() {
        text.push_str("  sets nothing\n");
    }
    for (variable, what) in [("MESHDOCTOR_CHECKS", "--checks"), ("KUBECONFIG", "--kubeconfig")] {
        if std::env::var_os(variable).is_some() {
            text.push_str(&format!("{variable} is set: it counts before {what} of the file\n"));
        }
    }
    text.push_str("what the command line says counts before all of it; --no-config leaves the file out\n");
    output::print(&crate::render::text::harmless(&text))
}
