//! Reads `meshdoctor.toml`: its settings with their lines, each with the type of its flag. Applies nothing.

use std::any::TypeId;
use std::path::Path;
use std::time::Duration;

use clap::builder::ValueParser;
use clap::{ArgAction, CommandFactory};
use jiff::Timestamp;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::super::args::Cli;
use super::super::stop::Stop;
use crate::nearest::closest;
use crate::page::document_url;

/// Table of severities, for `check`.
const SEVERITY: &str = "severity";
/// Tables of check parameters, for `check`: `[params.CHECK]`.
const PARAMS: &str = "params";
/// Maximum file size, in bytes.
const MOST: u64 = 1 << 20;
/// Next step for a file that cannot be read.
fn next() -> String {
    format!("see {} for the format, or run with --no-config", document_url("config.md"))
}

/// The form of a value in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum ValueForm {
    Text,
    Number,
    Truth,
    Other,
}

/// A setting of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Setting {
    /// The command of the setting.
    pub(super) command: String,
    /// The flag without its dashes.
    pub(super) flag: String,
    /// Value after the flag's `=`; `None` for a flag without a value.
    pub(super) value: Option<String>,
    /// Form of the value in the file.
    pub(in crate::cli) written: ValueForm,
    /// Its line, from 1.
    pub(super) line: usize,
}

impl Setting {
    /// The word for the command line: `--fail-on=warning`.
    pub(super) fn argument(&self) -> String {
        match &self.value {
            Some(value) => format!("--{}={value}", self.flag),
            None => format!("--{}", self.flag),
        }
    }

    /// Whether it adds to the same flag on the command line, unless that names the same check or parameter.
    pub(super) fn adds(&self) -> bool {
        matches!(self.flag.as_str(), "severity" | "param")
    }

    /// Whether it corresponds to this value on the command line, alone or in a comma-separated list.
    pub(super) fn contains(&self, flag: &str, value: &str) -> bool {
        let own = |own: &str| own == value || own.split(',').any(|part| part == value);
        self.flag == flag && self.value.as_deref().is_some_and(own)
    }
}

/// Reads the settings of a file.
///
/// # Errors
/// The file cannot be read, is not valid TOML, or has a setting that no command accepts; with its line.
pub(super) fn read(path: &Path) -> Result<Vec<Setting>, Stop> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| Stop::usage(format!("{shown}: {error}"), next());
    if std::fs::metadata(path).map_err(unreadable)?.len() > MOST {
        return Err(Stop::usage(format!("{shown} is too large for a configuration file"), next()));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let table = DeTable::parse(&text).map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| line(span.start));
        Stop::usage(format!("{shown}:{line}: {}", error.message()), next())
    })?;
    Reader { path, line: &line, command: Cli::command() }.settings(table.get_ref())
}

/// Reads one file; validates it against the commands.
struct Reader<'a> {
    path: &'a Path,
    line: &'a dyn Fn(usize) -> usize,
    command: clap::Command,
}

type Key<'a> = Spanned<DeString<'a>>;
type Value<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn line<T>(&self, spanned: &Spanned<T>) -> usize {
        (self.line)(spanned.span().start)
    }

    fn wrong<T>(&self, at: &Spanned<T>, said: String) -> Stop {
        Stop::usage(format!("{}:{}: {said}", self.path.display(), self.line(at)), next())
    }

    fn settings(&self, table: &DeTable<'_>) -> Result<Vec<Setting>, Stop> {
        let mut settings = Vec::new();
        for (name, value) in table {
            let DeValue::Table(inner) = value.get_ref() else {
                let said = format!("{} is not in a table: move it under [check] or another command", name.get_ref());
                return Err(self.wrong(name, said));
            };
            match name.get_ref().as_ref() {
                SEVERITY => self.severities(inner, &mut settings)?,
                PARAMS => self.params(inner, &mut settings)?,
                command => self.flags(name, command, inner, &mut settings)?,
            }
        }
        settings.sort_by_key(|setting| setting.line);
        Ok(settings)
    }

    fn severities(&self, table: &DeTable<'_>, into: &mut Vec<Setting>) -> Result<(), Stop> {
        for (check, level) in table {
            let check_name = check.get_ref();
            let DeValue::String(level) = level.get_ref() else {
                let said = format!("the severity of {check_name} must be a text: error, warning or info");
                return Err(self.wrong(check, said));
            };
            into.push(Setting {
                command: "check".to_owned(),
                flag: "severity".to_owned(),
                value: Some(format!("{check_name}={level}")),
                written: ValueForm::Text,
                line: self.line(check),
            });
        }
        Ok(())
    }

    fn params(&self, table: &DeTable<'_>, into: &mut Vec<Setting>) -> Result<(), Stop> {
        for (check, set) in table {
            let check_name = check.get_ref();
            let DeValue::Table(set) = set.get_ref() else {
                let said = format!("parameters must be in a table: [{PARAMS}.{check_name}]");
                return Err(self.wrong(check, said));
            };
            for (name, value) in set {
                let (said, written) =
                    plain(value.get_ref()).map_err(|why| self.wrong(name, format!("{}: {why}", name.get_ref())))?;
                into.push(Setting {
                    command: "check".to_owned(),
                    flag: "param".to_owned(),
                    value: Some(format!("{check_name}.{}={said}", name.get_ref())),
                    written,
                    line: self.line(name),
                });
            }
        }
        Ok(())
    }

    fn flags(&self, at: &Key<'_>, name: &str, table: &DeTable<'_>, into: &mut Vec<Setting>) -> Result<(), Stop> {
        let perhaps = |word: &str, known: Vec<&str>| {
            closest(word, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
        };
        let Some(of) = self.command.find_subcommand(name) else {
            let commands = self.command.get_subcommands().map(clap::Command::get_name);
            let known = commands.chain([SEVERITY, PARAMS]).collect();
            return Err(self.wrong(at, format!("unknown command {name}{}", perhaps(name, known))));
        };
        for (key, value) in table {
            let flag = key.get_ref().as_ref();
            let is = |arg: &&clap::Arg| arg.get_long() == Some(flag);
            let arg = of.get_arguments().chain(self.command.get_arguments()).find(is);
            let Some(arg) = arg.filter(|arg| !["config", "no-config", "help"].contains(&arg.get_id().as_str())) else {
                let known = of.get_arguments().filter_map(clap::Arg::get_long).collect();
                return Err(self.wrong(key, format!("{name} has no flag --{flag}{}", perhaps(flag, known))));
            };
            for (value, written, line) in self.values(arg, key, value)? {
                into.push(Setting { command: name.to_owned(), flag: flag.to_owned(), value, written, line });
            }
        }
        Ok(())
    }

    /// The values that a key sets, each with its line; none if it switches a flag off.
    fn values(
        &self,
        arg: &clap::Arg,
        key: &Key<'_>,
        value: &Value<'_>,
    ) -> Result<Vec<(Option<String>, ValueForm, usize)>, Stop> {
        let name = key.get_ref();
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let alone = is_flag || arg.get_num_args().is_some_and(|given| given.min_values() == 0);
        let one = |value: &Value<'_>, line: usize| {
            let (text, written) = self.one(arg, value).map_err(|why| self.wrong_at(line, format!("{name} {why}")))?;
            Ok((Some(text), written, line))
        };
        match value.get_ref() {
            DeValue::Boolean(true) if alone => Ok(vec![(None, ValueForm::Truth, self.line(key))]),
            DeValue::Boolean(false) if alone => Ok(Vec::new()),
            _ if is_flag => Err(self.wrong(key, format!("{name} must be true or false"))),
            DeValue::Array(_) if !matches!(arg.get_action(), ArgAction::Append) => {
                Err(self.wrong(key, format!("{name} takes one value, not a list")))
            }
            DeValue::Array(values) => values.iter().map(|value| one(value, self.line(value))).collect(),
            _ => Ok(vec![one(value, self.line(key))?]),
        }
    }

    fn wrong_at(&self, line: usize, said: String) -> Stop {
        Stop::usage(format!("{}:{line}: {said}", self.path.display()), next())
    }

    /// One value of the type that its flag takes; else a description of the expected value.
    fn one(&self, arg: &clap::Arg, value: &Value<'_>) -> Result<(String, ValueForm), String> {
        let kind = arg.get_value_parser().type_id();
        let is_path = kind == ValueParser::path_buf().type_id();
        let value = value.get_ref();
        if matches!(value, DeValue::Table(_) | DeValue::Array(_)) {
            return Err("takes texts, numbers, or a list of them".to_owned());
        }
        let (wanted, fits) = if is_number(&kind) {
            ("must be a whole number without quotes", matches!(value, DeValue::Integer(_)))
        } else if kind == TypeId::of::<Duration>() {
            (
                "must be a text such as \"30s\", or a whole number of seconds",
                matches!(value, DeValue::String(_) | DeValue::Integer(_)),
            )
        } else if kind == TypeId::of::<Timestamp>() {
            ("must be a time such as 2027-03-31T10:00:00Z", matches!(value, DeValue::String(_) | DeValue::Datetime(_)))
        } else {
            ("must be a text in quotes", matches!(value, DeValue::String(_)))
        };
        if !fits {
            return Err(wanted.to_owned());
        }
        let (text, written) = plain(value)?;
        // Paths are relative to the folder of the file that names them.
        let beside = self.path.parent().filter(|_| is_path && text != "-");
        Ok((beside.map_or_else(|| text.clone(), |folder| folder.join(&text).display().to_string()), written))
    }
}

/// Whether a flag takes a whole number.
fn is_number(kind: &impl PartialEq<TypeId>) -> bool {
    let kinds = [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>()];
    kinds.into_iter().chain([TypeId::of::<usize>(), TypeId::of::<i64>()]).any(|number| *kind == number)
}

/// A value as on the command line; lists and maps as JSON.
fn plain(value: &DeValue<'_>) -> Result<(String, ValueForm), String> {
    Ok(match value {
        DeValue::String(text) => (text.to_string(), ValueForm::Text),
        DeValue::Integer(number) => {
            let read = i64::from_str_radix(number.as_str(), number.radix());
            (read.map_err(|_| format!("{} is too large for a number", number.as_str()))?.to_string(), ValueForm::Number)
        }
        DeValue::Float(number) => (number.as_str().to_owned(), ValueForm::Number),
        DeValue::Boolean(value) => (value.to_string(), ValueForm::Truth),
        DeValue::Datetime(moment) => (moment.to_string(), ValueForm::Other),
        DeValue::Array(_) | DeValue::Table(_) => (json(value)?.to_string(), ValueForm::Other),
    })
}

fn json(value: &DeValue<'_>) -> Result<serde_json::Value, String> {
    Ok(match value {
        DeValue::Array(values) => {
            serde_json::Value::Array(values.iter().map(|one| json(one.get_ref())).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => serde_json::Value::Object(
            table
                .iter()
                .map(|(key, value)| Ok((key.get_ref().to_string(), json(value.get_ref())?)))
                .collect::<Result<_, String>>()?,
        ),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Integer(_) | DeValue::Float(_) => {
            let (text, _) = plain(value)?;
            text.parse::<serde_json::Number>().map_err(|_| format!("{text} is not a valid JSON number"))?.into()
        }
        DeValue::String(_) | DeValue::Datetime(_) => plain(value)?.0.into(),
    })
}
