//! The language of everything that a user reads: titles, messages, steps, gaps, help texts, pages. Plain technical English,
//! short sentences, one spelling for each term. `prose/allowed.txt` lists the exceptions with their reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use clap::{Command, CommandFactory};
use meshdoctor::cli::args::Cli;
use meshdoctor::command::is_named;
use meshdoctor::{checks, render};
use regex::Regex;

use crate::case;

/// The longest title, in characters.
const TITLE: usize = 60;
/// The longest message, in characters.
const MESSAGE: usize = 240;
/// Maximum number of words in a sentence.
const SENTENCE: usize = 30;
/// Maximum number of words and of sentences in a paragraph of a card.
const PARAGRAPH: (usize, usize) = (90, 4);

/// Patterns that make a text hard to read, each with a suggested replacement.
static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        (
            "'what X is' as a noun: write the noun",
            r"(?i)(?:\b(?:of|by|for|in|from|with|and)|[,:]|^) what (?:(?:the|a|an|its|their|this|each|[a-z]+) ){1,3}(?:is|are|was|were|says?|said|needs?|has|have|does|do|holds?|knows?|names?|takes?|gives?|asks?)\b",
        ),
        (
            "'where' for a condition: write if or when",
            r"(?i)(?:[,;(] |^|\band )where (?:there|nothing|nobody|none|one|it|they|a|an|the|no|that|this)\b",
        ),
        ("say, tell: write report, show, state", r#"(?i)\b(?:says?|said|tells?|told)\b(?: [^"'`]|[^ ]|$)"#),
        ("ask: write request, query", r"(?i)\b(?:asks?|asked) (?:for|of|the|its|about|whether|again|once)\b"),
        ("nobody, who: name the component", r"(?i)\b(?:nobody|somebody|anybody|everybody|whoever|whom)\b"),
        ("stands in: write is in, is set in", r"(?i)\bstands? (?:in|for|on|under|beside|at|there|alone)\b"),
        (
            "is there, is none: write exists, is missing",
            r"(?i)\b(?:is|are|was|were) (?:not )?there(?:[^ a-z]|$| (?:and|but|or|as|if|in|on|too|already|yet|before)\b)|\bthere (?:is|are) none\b|\b(?:is|are) none\b",
        ),
        ("is no X: write is not an X", r"(?i)\b(?:is|are) no [a-z]+\b"),
        ("beside, as well: write in addition, also", r"(?i)\bbeside\b|\bas well(?:[^ ]|$| [^a]| a[^s])"),
        ("of which: write two sentences", r"(?i)\bof (?:which|whom)\b|\bof (?:these|those)(?:[,.;:]|$)"),
        ("so many, so long: write the parameter", r"(?i)\bso (?:long|many|far back|late) [^at]"),
        (
            "is to be, comes of, by itself",
            r"(?i)\b(?:is|are) to be\b|\bcan(?:not)? be had\b|\bcould not be had\b|\bcomes? of\b|\banew\b|\bby (?:itself|themselves)\b",
        ),
        ("let in: write allow, authorize", r"(?i)\blets? (?:\w+ )?in\b|\bcounts? for nothing\b"),
        ("well, unwell: write healthy", r"(?i)\b(?:is|are) (?:un)?well\b|\bunwell\b"),
        (
            "laid over, goes past: write applied on top, bypasses",
            r"(?i)\blaid over\b|\blies beside\b|\bgoes? by way\b|\bgo(?:es)? past\b|\bheld against\b",
        ),
        ("the one, the other: name both", r"(?i)\bthe one\b[^.]{1,60}\bthe other\b"),
        ("spelling: data plane", r"(?i)\bdataplane\b"),
        ("spelling: sidecar", r"(?i)\bside[- ]car\b"),
        ("spelling: webhook", r"(?i)\bweb[- ]hook\b"),
        (
            "spelling: ConfigMap, DaemonSet, NetworkPolicy",
            r"\b(?:[Cc]onfig map|[Dd]aemon set|[Nn]etwork polic(?:y|ies) object)s?\b",
        ),
    ];
    // A phrase that reads like a pattern and is fine.
    patterns.map(|(name, pattern)| (name, Regex::new(pattern).unwrap())).into()
});

/// Phrases that match a pattern by accident, and their replacement for the search.
static HARMLESS: LazyLock<[(Regex, &str); 2]> = LazyLock::new(|| {
    [
        (Regex::new(r"(?i)\b(?:is|are) no (?:longer|more than|fewer than|less than)\b").unwrap(), "x"),
        (Regex::new(r"(?i)\bthere (?:is|are) no\b").unwrap(), "there x"),
    ]
});

/// A text, its place, and its maximum length.
struct Text {
    place: String,
    text: String,
    limit: Option<usize>,
}

impl Text {
    fn new(place: impl Into<String>, text: impl Into<String>) -> Text {
        Text { place: place.into(), text: text.into(), limit: None }
    }

    fn at_most(self, limit: usize) -> Text {
        Text { limit: Some(limit), ..self }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The prose of a Markdown page: paragraphs, list items, headings and table cells, without code.
fn blocks(page: &str) -> Vec<String> {
    let code = Regex::new(r"`[^`]*`|\]\([^)]*\)|https?://\S+|<[^>]+>").unwrap();
    let mut blocks = vec![String::new()];
    let (mut in_code, mut in_front) = (false, page.starts_with("---\n"));
    for (number, line) in page.lines().enumerate() {
        let line = line.trim();
        if in_front {
            in_front = number == 0 || line != "---";
            continue;
        }
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let starts = line.is_empty() || line.starts_with(['#', '-', '*', '|', '>', '`']);
        if starts || in_code {
            blocks.push(String::new());
        }
        if in_code || line.starts_with("```") {
            continue;
        }
        let cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty());
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                blocks.push(String::new());
            }
            let block = blocks.last_mut().unwrap();
            block.push(' ');
            block.push_str(cell.trim_start_matches(['#', '-', '*', '>', ' ']));
        }
    }
    let blocks = blocks.iter().map(|block| code.replace_all(block.trim(), "x").into_owned());
    // A list of links, such as the causes of a check, is not a sentence.
    let is_text = |block: &String| block.split_whitespace().any(|word| !word.starts_with('['));
    blocks.filter(|block| block.contains(' ') && is_text(block)).collect()
}

fn pages() -> Vec<Text> {
    let mut files: Vec<std::path::PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|file| root().join(file)).into();
    for folder in ["docs", "docs/platforms", "checks"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        files.extend(
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "md")),
        );
    }
    let read = files.iter().map(|file| {
        let place = file.strip_prefix(root()).unwrap().display().to_string();
        (place, std::fs::read_to_string(file).unwrap())
    });
    let explained = checks::all().map(|check| (format!("checks, {}", check.id), render::explain::markdown(check)));
    let texts = read
        .chain(explained)
        .flat_map(|(place, page)| blocks(&page).into_iter().map(move |block| Text::new(place.clone(), block)));
    texts.collect()
}

/// The output of all cards' cases, and the texts of the cards.
fn cards() -> Vec<Text> {
    let mut texts = Vec::new();
    for check in checks::all() {
        let place = format!("checks, {}", check.id);
        texts.push(Text::new(&place, &check.card().front.title).at_most(TITLE));
        let (mut messages, mut others) = (BTreeSet::new(), BTreeSet::new());
        for case in check.cases() {
            others.insert(case.title.clone());
            let result = case::live(check, case).judge(check);
            for finding in &result.findings {
                messages.insert(finding.message.clone());
                others.extend(finding.remedy.steps.iter().map(|step| step.text.clone()));
            }
        }
        texts.extend(messages.into_iter().map(|text| Text::new(&place, text).at_most(MESSAGE)));
        texts.extend(others.into_iter().map(|text| Text::new(&place, text)));
    }
    texts
}

fn help(command: &Command, texts: &mut Vec<Text>) {
    let place = format!("help, {}", command.get_name());
    let own = [command.get_about(), command.get_long_about()];
    let args = command.get_arguments().flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
    let all: BTreeSet<String> = own.into_iter().chain(args).flatten().map(ToString::to_string).collect();
    texts.extend(all.into_iter().map(|text| Text::new(&place, text)));
    // The lines of its lists are no sentence.
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    texts.extend(after.split("\n  ").map(|item| Text::new(&place, item.to_owned())));
    command.get_subcommands().for_each(|sub| help(sub, texts));
}

/// The faults of a text.
fn faults(text: &Text) -> Vec<String> {
    let plain =
        HARMLESS.iter().fold(text.text.clone(), |text, (phrase, other)| phrase.replace_all(&text, *other).into_owned());
    let mut faults: Vec<String> = PATTERNS
        .iter()
        .filter_map(|(name, pattern)| Some(format!("{name} ({:?})", pattern.find(&plain)?.as_str())))
        .collect();
    let length = text.text.chars().count();
    if let Some(limit) = text.limit.filter(|limit| length > *limit) {
        faults.push(format!("{length} characters, at most {limit}"));
    }
    let longest = text.text.split(['.', ';', '?', '!', ':', '(', ')']).map(|it| it.split_whitespace().count()).max();
    if let Some(words) = longest.filter(|words| *words > SENTENCE) {
        faults.push(format!("a sentence of {words} words, at most {SENTENCE}"));
    }
    faults
}

/// The exceptions: a fragment of the text, two blanks and a number sign, the reason.
fn allowed() -> BTreeMap<String, String> {
    let list = std::fs::read_to_string(root().join("tests/suite/prose/allowed.txt")).unwrap();
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (fragment, reason) = line.split_once("  # ").unwrap_or_else(|| panic!("no reason: {line}"));
            (fragment.trim_end().to_owned(), reason.to_owned())
        })
        .collect()
}

#[test]
fn everything_a_user_reads_is_plain() {
    let mut texts = pages();
    texts.extend(cards());
    let mut command = Cli::command();
    command.build();
    help(&command, &mut texts);
    let allowed = allowed();
    let mut unused: BTreeSet<&str> = allowed.keys().map(String::as_str).collect();
    let mut wrong = BTreeSet::new();
    for text in &texts {
        let faults = faults(text);
        if faults.is_empty() {
            continue;
        }
        let exceptions: Vec<&str> =
            allowed.keys().map(String::as_str).filter(|fragment| text.text.contains(fragment)).collect();
        exceptions.iter().for_each(|fragment| _ = unused.remove(fragment));
        if exceptions.is_empty() {
            wrong.extend(faults.iter().map(|fault| format!("{}: {fault}: {}", text.place, text.text)));
        }
    }
    if let Some(file) = std::env::var_os("PROSE_FAULTS") {
        std::fs::write(file, wrong.iter().fold(String::new(), |all, line| all + line + "\n")).unwrap();
    }
    let first: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} faults in {} texts:\n{}", wrong.len(), texts.len(), first.join("\n"));
    assert!(unused.is_empty(), "exceptions without a text: {unused:?}");
}

#[test]
fn paragraphs_of_cards_are_short() {
    let end = Regex::new(r"[.!?](?:\s|$)").unwrap();
    let mut wrong = Vec::new();
    for check in checks::all() {
        for block in check.card().prose.iter().flat_map(|section| blocks(section)) {
            let (words, sentences) = (block.split_whitespace().count(), end.find_iter(&block).count());
            if words > PARAGRAPH.0 || sentences > PARAGRAPH.1 {
                wrong.push(format!("{}: {words} words, {sentences} sentences: {block}", check.id));
            }
        }
    }
    assert!(wrong.is_empty(), "split these paragraphs, or make them lists:\n{}", wrong.join("\n"));
}

/// The variables and placeholders of a command that no line of it, or of those before, sets: `OTHER_CLUSTER`.
fn unset(command: &str, before: &str) -> BTreeSet<String> {
    let names = |pattern: &str, text: &str| -> BTreeSet<String> {
        let groups =
            |found: regex::Captures<'_>| found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned());
        Regex::new(pattern).unwrap().captures_iter(text).filter_map(groups).collect()
    };
    // Quoted are scripts for another shell, whose variables count, and data, whose words do not.
    let plain = Regex::new(r"'[^']*'").unwrap().replace_all(command, "x").into_owned();
    let is_name = Regex::new(r"^[A-Z][A-Z_]{2,}$").unwrap();
    let words = plain.split([' ', '\n', '=', '"', '/', ':']).filter(|word| is_name.is_match(word));
    let mut used = names(r"\$\{?([A-Z][A-Z_]{2,})", command);
    used.extend(words.map(str::to_owned));
    let assignment = r"\b([A-Z][A-Z_]{2,})=|\bfor ([A-Z][A-Z_]+) in|\bread (?:-\w+ )*([A-Z][A-Z_]+)";
    let set = names(assignment, &format!("{before}\n{command}"));
    used.retain(|name| !set.contains(name) && !["HOME", "PATH"].contains(&name.as_str()));
    used
}

#[test]
fn variables_of_commands_are_introduced() {
    let mut wrong = BTreeSet::new();
    for check in checks::all() {
        for finding in check.cases().iter().flat_map(|case| case::live(check, case).judge(check).findings) {
            let (mut texts, mut before) = (String::new(), String::new());
            for step in &finding.remedy.steps {
                texts.push_str(&step.text);
                texts.push('\n');
                let Some(command) = step.command.as_ref().map(ToString::to_string) else { continue };
                for name in unset(&command, &before).into_iter().filter(|name| !is_named(name, &texts)) {
                    wrong.insert(format!("{}: {name}: {}", check.id, step.text));
                }
                before.push_str(&command);
                before.push('\n');
            }
        }
    }
    let all: Vec<String> = wrong.into_iter().collect();
    assert!(all.is_empty(), "no text states the meaning of a variable:\n{}", all.join("\n"));
}

#[test]
fn unset_variables_are_found() {
    for (command, expected) in [
        ("kubectl --context \"${OTHER_CLUSTER:?}\" get pods", &["OTHER_CLUSTER"][..]),
        ("NODE=a\nkubectl get node \"$NODE\"", &[]),
        ("sh -c 'echo \"$TOKEN\"'", &["TOKEN"]),
        ("kubectl get pods -o 'custom-columns=POD:.metadata.name'", &[]),
        ("kubectl rollout restart KIND/NAME", &["KIND", "NAME"]),
    ] {
        let found: Vec<String> = unset(command, "").into_iter().collect();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn patterns_find_what_they_are_for() {
    let found = [
        "Only a part of what the cluster has is read",
        "It stays, where there is no proxy",
        "the webhook says so",
        "the proxy asks for a certificate",
        "nobody renews it",
        "the value stands in the ConfigMap",
        "the Secret is not there.",
        "that is no port",
        "it is reported as well",
        "three pods, two of which run",
        "the policy lets in every client",
    ];
    for text in found {
        assert!(!faults(&Text::new("", text)).is_empty(), "{text}");
    }
    let fine = [
        "The proxy is no longer running",
        "The chart reports the value",
        "Find out why cert-manager did not renew the issuer.",
        "Pods on nodes where linkerd-cni runs",
    ];
    for text in fine {
        assert!(faults(&Text::new("", text)).is_empty(), "{text}");
    }
}
