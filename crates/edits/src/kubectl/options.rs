//! The options and operands of a kubectl call.

use super::shell::Word;
use super::{NotSimulated, Target};
use crate::objects::Kind;

/// Options that take no value.
const SWITCHES: [&str; 16] = [
    "--show-labels",
    "--show-managed-fields",
    "-w",
    "--overwrite",
    "--ignore-not-found",
    "--all-namespaces",
    "-A",
    "--server-side",
    "--force-conflicts",
    "--force",
    "--no-headers",
    "--wait",
    "--now",
    "--previous",
    "-it",
    "-i",
];

/// A kubectl call, split into options and operands.
pub(super) struct KubectlOptions<'a> {
    /// The subcommand and the operands.
    pub(super) words: Vec<&'a str>,
    named: Vec<(&'a str, &'a str)>,
    switches: Vec<&'a str>,
}

impl<'a> KubectlOptions<'a> {
    /// Reads the words after `kubectl`.
    pub(super) fn read(words: &'a [Word]) -> Result<KubectlOptions<'a>, NotSimulated> {
        let mut read = KubectlOptions { words: Vec::new(), named: Vec::new(), switches: Vec::new() };
        let mut rest = words.iter().map(|word| word.text.as_str());
        while let Some(word) = rest.next() {
            match word.split_once('=') {
                _ if word == "--" => read.words.extend(rest.by_ref()),
                _ if SWITCHES.contains(&word) => read.switches.push(word),
                Some((name, "true")) if SWITCHES.contains(&name) => read.switches.push(name),
                Some((name, "false")) if SWITCHES.contains(&name) => {}
                Some((name, value)) if name.starts_with("--") => read.named.push((name, value)),
                _ if word.starts_with("-v") => {}
                _ if word.starts_with('-') && word.len() > 1 => {
                    let missing = || NotSimulated::new(format!("{word} has no value"));
                    read.named.push((word, rest.next().ok_or_else(missing)?));
                }
                _ => read.words.push(word),
            }
        }
        Ok(read)
    }

    pub(super) fn has(&self, switch: &str) -> bool {
        self.switches.contains(&switch)
    }

    /// The value of an option with one of these names.
    pub(super) fn value(&self, names: &[&str]) -> Option<&'a str> {
        self.named.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value)
    }

    /// The objects that operands name (`TYPE NAME...` or `TYPE/NAME...`), and the operands after them.
    pub(super) fn target<'w>(&self, words: &'w [&'a str]) -> Result<(Target, &'w [&'a str]), NotSimulated> {
        let names_no = || NotSimulated::new("it names no object");
        let (kind, names, rest) = match words.first().ok_or_else(names_no)?.split_once('/') {
            Some((kind, _)) => {
                let names: Vec<&str> = words
                    .iter()
                    .map_while(|word| word.split_once('/').filter(|(other, _)| *other == kind))
                    .map(|(_, name)| name)
                    .take_while(|name| is_name(name))
                    .collect();
                let count = names.len();
                (kind, names, &words[count..])
            }
            None => {
                let names: Vec<&str> = words[1..].iter().take_while(|word| is_name(word)).copied().collect();
                let count = names.len();
                (words[0], names, &words[1 + count..])
            }
        };
        let kind: Kind = kind.parse().map_err(|_| NotSimulated::new(format!("{kind} is a kind that is not read")))?;
        if rest.iter().any(|word| word.contains('/') && is_name(word) && !word.contains('=')) {
            return Err(NotSimulated::new("it names objects of several kinds"));
        }
        let namespace = match kind.info().namespaced {
            true => self.value(&["-n", "--namespace"]).unwrap_or("default").to_owned(),
            false => String::new(),
        };
        let names = names.into_iter().map(str::to_owned).collect();
        Ok((Target { kind, namespace, names }, rest))
    }
}

/// Whether a word is a name rather than `KEY=VALUE` or `KEY-`.
fn is_name(word: &str) -> bool {
    !word.contains('=') && !word.ends_with('-')
}
