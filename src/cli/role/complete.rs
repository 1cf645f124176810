//! Completions for `kubectl meshdoctor`, in the format that kubectl expects of a plugin: one candidate per line, its
//! description after a tab, and a last line with a directive for the shell. Most come from the command tree; check ids
//! and formats come from their tables.

use std::collections::BTreeSet;

use clap::{Arg, Command};

use super::super::format;
use crate::{checks, demo};

/// The shell may offer files.
const FILES: &str = ":0";
/// No other candidates.
const NOTHING_ELSE: &str = ":4";
/// No other candidates, and a candidate may be continued.
const CONTINUED: &str = ":6";

/// Candidates for the last word.
pub(super) fn answer(mut command: Command, line: &[String]) -> String {
    command.build();
    let (last, before) = line.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let place = CursorPosition::after(&command, before);
    let (candidates, directive) = place.candidates(last);
    let mut text = String::new();
    for (candidate, meaning) in candidates {
        text.push_str(&candidate);
        if !meaning.is_empty() {
            text.push('\t');
            text.push_str(&meaning);
        }
        text.push('\n');
    }
    text + directive + "\n"
}

/// The position on a command line.
struct CursorPosition<'a> {
    command: &'a Command,
    /// The flag whose value comes next.
    flag: Option<&'a Arg>,
    /// Number of words before it that are not flags, in this command.
    positionals: usize,
    /// After `--`: no more flags.
    literal: bool,
}

impl<'a> CursorPosition<'a> {
    fn after(root: &'a Command, words: &[String]) -> CursorPosition<'a> {
        let mut place = CursorPosition { command: root, flag: None, positionals: 0, literal: false };
        for word in words {
            let optional = |flag: &Arg| flag.get_num_args().is_some_and(|number| number.min_values() == 0);
            if place.flag.take().is_some_and(|flag| !(optional(flag) && word.starts_with('-'))) {
                continue;
            }
            if place.literal || !word.starts_with('-') || word == "-" {
                match place.command.find_subcommand(word).filter(|_| place.positionals == 0) {
                    Some(subcommand) => place.command = subcommand,
                    None => place.positionals += 1,
                }
            } else if word == "--" {
                place.literal = true;
            } else if let Some(flag) = place.flag(word) {
                let separate = flag.get_action().takes_values() && !flag.is_require_equals_set();
                place.flag = Some(flag).filter(|_| separate);
            }
        }
        place
    }

    /// The flag that a complete word without a value names.
    fn flag(&self, word: &str) -> Option<&'a Arg> {
        let mut flags = self.command.get_arguments();
        match word.strip_prefix("--") {
            Some(name) => flags.find(|arg| arg.get_long() == Some(name)),
            // A value may follow the letter directly.
            None if word.chars().count() == 2 => flags.find(|arg| arg.get_short() == word.chars().nth(1)),
            None => None,
        }
    }

    fn candidates(&self, last: &str) -> (Vec<(String, String)>, &'static str) {
        if let Some(flag) = self.flag {
            return values(flag, self.command, last, "");
        }
        if !self.literal && last.starts_with('-') {
            return match last.split_once('=') {
                Some((name, value)) => match self.flag(name) {
                    Some(flag) => values(flag, self.command, value, &format!("{name}=")),
                    None => (Vec::new(), NOTHING_ELSE),
                },
                None => (self.flags(last), NOTHING_ELSE),
            };
        }
        let subcommands: Vec<_> = self.command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect();
        if !subcommands.is_empty() && self.positionals == 0 {
            let named = subcommands.into_iter().map(|sub| (sub.get_name(), first_sentence(sub.get_about())));
            return (starting(named, last, ""), NOTHING_ELSE);
        }
        match self.command.get_positionals().nth(self.positionals) {
            Some(positional) => values(positional, self.command, last, ""),
            None => (Vec::new(), NOTHING_ELSE),
        }
    }

    fn flags(&self, last: &str) -> Vec<(String, String)> {
        let flags = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let named = flags.filter_map(|arg| {
            let name = format!("--{}", arg.get_long()?);
            Some((name, first_sentence(arg.get_help())))
        });
        let named: BTreeSet<(String, String)> = named.collect();
        starting(named.iter().map(|(name, help)| (name.as_str(), help.clone())), last, "")
    }
}

/// Candidates for the value of an argument; `before` precedes each in the same word.
fn values(arg: &Arg, command: &Command, last: &str, before: &str) -> (Vec<(String, String)>, &'static str) {
    let possible = arg.get_possible_values();
    if !possible.is_empty() && arg.get_action().takes_values() {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        let named = shown.map(|value| (value.get_name(), first_sentence(value.get_help())));
        return (starting(named, last, before), NOTHING_ELSE);
    }
    let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (arg.get_id().as_str(), command.get_name()) {
        ("only" | "skip", _) => {
            // In a list, only the last item is completed.
            let (whole, last) =
                last.rsplit_once(',').map_or((String::new(), last), |(whole, last)| (format!("{whole},"), last));
            let titles = checks::all().map(|check| (check.id, check.card().front.title.clone()));
            let categories: BTreeSet<&str> = checks::all().map(|check| check.card().front.category.as_str()).collect();
            let categories = categories.into_iter().map(|name| (name, "every check of this category".to_owned()));
            (starting(categories.chain(titles), last, &format!("{before}{whole}")), CONTINUED)
        }
        ("text", "explain") => {
            let titles = checks::all().map(|check| (check.id, check.card().front.title.clone()));
            (starting(titles, last, before), NOTHING_ELSE)
        }
        ("name", "demo") => {
            let demos = demo::DEMOS.iter().map(|demo| (demo.name, String::new()));
            (starting(demos, last, before), NOTHING_ELSE)
        }
        ("output", "check" | "demo") => {
            let forms = format::formats().into_iter().map(|(word, _)| (word, String::new()));
            (starting(forms, last, before), NOTHING_ELSE)
        }
        _ if ["FILE", "PATH", "DIR"].iter().any(|part| name.contains(part)) => (Vec::new(), FILES),
        _ => (Vec::new(), NOTHING_ELSE),
    }
}

fn starting<'a>(named: impl Iterator<Item = (&'a str, String)>, start: &str, before: &str) -> Vec<(String, String)> {
    named
        .filter(|(name, _)| name.starts_with(start))
        .map(|(name, meaning)| (format!("{before}{name}"), meaning))
        .collect()
}

/// Short description: the first sentence of the help, on one line.
fn first_sentence(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = [". ", ": ", "; "].iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::kubectl;
    use super::*;

    fn complete(line: &[&str]) -> (Vec<String>, String) {
        let line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let text = answer(kubectl::command(), &line);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let directive = lines.pop().unwrap();
        (lines.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect(), directive)
    }

    #[test]
    fn commands_flags_and_values_are_completed() {
        assert_eq!(complete(&["che"]), (vec!["check".to_owned()], ":4".to_owned()));
        assert!(complete(&[""]).0.contains(&"collect".to_owned()));
        assert_eq!(complete(&["check", "--fail"]).0, ["--fail-on"]);
        assert_eq!(complete(&["check", "--fail-on", "w"]).0, ["warning", "warning:observed"]);
        assert_eq!(complete(&["check", "--fail-on=i"]).0, ["--fail-on=info"]);
        assert_eq!(complete(&["check", "--color", "ne"]).0, ["never"]);
        assert_eq!(complete(&["check", "-o", "js"]).0, ["json"]);
        assert_eq!(complete(&["check", "--verbose", "-o", "sh"]).0, ["short"], "a value follows only behind '='");
        assert_eq!(complete(&["check", "--bundle", ""]), (Vec::new(), ":0".to_owned()));
        assert_eq!(complete(&["check", "--context", ""]), (Vec::new(), ":4".to_owned()));
    }

    #[test]
    fn checks_are_completed_in_lists() {
        let (one, directive) = complete(&["check", "--only", "cni-ad"]);
        assert!(one.len() > 1 && one.iter().all(|id| id.starts_with("cni-ad")), "{one:?}");
        assert_eq!(directive, ":6");
        let (listed, _) = complete(&["check", "--only", "versions,cni-ad"]);
        assert_eq!(listed, one.iter().map(|id| format!("versions,{id}")).collect::<Vec<_>>());
        assert_eq!(complete(&["explain", "cni-ad"]).0, one);
        assert!(complete(&["list", "version"]).0.contains(&"versions".to_owned()));
    }

    #[test]
    fn unknown_words_are_not_completed() {
        for line in [&["nonsense", ""][..], &["check", "--nonsense="], &["explain", "x", ""], &["--", "--"]] {
            assert_eq!(complete(line).0, Vec::<String>::new(), "{line:?}");
        }
    }
}
