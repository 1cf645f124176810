//! Command-line pages: flags from clap, exit statuses from their constants.

use std::fmt::Write;

use clap::{Arg, Command};

use crate::exit;
use crate::page::GENERATED;

/// `docs/cli.md`: every command with its arguments and flags.
pub fn cli(command: &Command) -> String {
    let mut command = command.clone();
    command.build();
    let mut page = format!("{GENERATED}# The command line\n\n");
    if let Some(about) = command.get_about() {
        _ = write!(page, "{}\n\n", sentence(&about.to_string()));
    }
    page.push_str("Exit statuses are listed in [exit-codes.md](exit-codes.md).\n\n");
    flags("Flags of every command", command.get_arguments().filter(|arg| arg.is_global_set()), &mut page);
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        _ = write!(page, "## meshdoctor {}\n\n", subcommand.get_name());
        if let Some(about) = subcommand.get_long_about().or(subcommand.get_about()) {
            _ = write!(page, "{}\n\n", sentence(&about.to_string()));
        }
        let usage = subcommand.clone().render_usage().to_string();
        _ = write!(page, "```text\n{}\n```\n\n", usage.trim_start_matches("Usage: "));
        let own: Vec<&Arg> = subcommand.get_arguments().filter(|arg| !arg.is_global_set()).collect();
        let mut headings: Vec<Option<&str>> = Vec::new();
        for arg in &own {
            if !headings.contains(&arg.get_help_heading()) {
                headings.push(arg.get_help_heading());
            }
        }
        for heading in headings {
            let group = own.iter().copied().filter(|arg| arg.get_help_heading() == heading);
            flags(heading.unwrap_or("Arguments and flags"), group, &mut page);
        }
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn flags<'a>(heading: &str, args: impl Iterator<Item = &'a Arg>, page: &mut String) {
    let args: Vec<&Arg> =
        args.filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")).collect();
    if args.is_empty() {
        return;
    }
    _ = write!(page, "{heading}:\n\n| | |\n|---|---|\n");
    for arg in args {
        _ = writeln!(page, "| `{}` | {} |", spelling(arg).replace('|', "\\|"), meaning(arg).replace('|', "\\|"));
    }
    page.push('\n');
}

/// `-o, --output <FORMAT[=FILE]>`.
fn spelling(arg: &Arg) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(arg.get_short().map(|short| format!("-{short}")));
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let mut spelling = names.join(", ");
    if arg.get_action().takes_values() {
        let values: Vec<String> = match arg.get_value_names() {
            Some(names) => names.iter().map(ToString::to_string).collect(),
            None => vec![arg.get_id().as_str().to_uppercase()],
        };
        let values = values.join(" ");
        let optional = arg.get_num_args().is_some_and(|number| number.min_values() == 0);
        match (optional, arg.is_require_equals_set()) {
            (true, true) => spelling.push_str(&format!("[={values}]")),
            (true, false) => spelling.push_str(&format!(" [{values}]")),
            (false, _) if spelling.is_empty() => spelling.push_str(&values),
            (false, _) => spelling.push_str(&format!(" {values}")),
        }
    }
    spelling
}

/// The text on one line, with the final full stop that clap removes.
fn sentence(text: &str) -> String {
    let mut sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !sentence.is_empty() && !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = sentence(&help);
    let values = arg.get_possible_values();
    let values: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), help.to_string().trim_end_matches('.')),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        _ = write!(meaning, " One of {}.", values.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        _ = write!(meaning, " Default: {}.", defaults.join(", "));
    }
    if let Some(variable) = arg.get_env() {
        _ = write!(meaning, " Also taken from `${}`.", variable.to_string_lossy());
    }
    meaning.trim().to_owned()
}

/// Table of exit statuses and their meanings.
pub fn exit_table() -> String {
    rows(&exit::ALL)
}

fn rows(statuses: &[(u8, &str)]) -> String {
    let mut table = String::from("| Status | Meaning |\n|---|---|\n");
    for (status, meaning) in statuses {
        _ = writeln!(table, "| {status} | {meaning} |");
    }
    table
}

/// `docs/exit-codes.md`.
pub fn exit_codes() -> String {
    format!(
        "{GENERATED}# Exit statuses\n\nThe same in every output format.\n\n{}\n\
         A finding at or above the gate (the severity of `--fail-on`) takes precedence over missing evidence: 1 before 4 before 0.\n\
         Checks without evidence, such as node files without `--nodes`, are listed under coverage and do not change the status,\n\
         unless `--only` selects nothing but checks that need it.\n\n\
         ## `check --verify`\n\n{}\n## `fix`\n\n{}\n## `reach`\n\n{}\n## `sync`\n\n{}\n## `rotate`\n\n{}\n\
         ## Other commands\n\n0, 2, 3 and 130 mean the same for every command. `report` ends with the status of the saved run.\n\n{}",
        rows(&exit::ALL),
        rows(&exit::VERIFY),
        rows(&exit::FIX),
        rows(&exit::REACH),
        rows(&exit::SYNC),
        rows(&exit::ROTATE),
        other_commands()
    )
}

/// Table of the statuses 1 and 4 of commands that have no table of their own.
fn other_commands() -> String {
    let or_never = |text: &'static str| if text.is_empty() { "never" } else { text };
    let mut table = String::from("| Command | 1 | 4 |\n|---|---|---|\n");
    for (command, found, unknown) in exit::OTHERS {
        _ = writeln!(table, "| {command} | {} | {} |", or_never(found), or_never(unknown));
    }
    table
}
