//! Your own checks: reads their cards (`--checks`), runs their cases (`test`) and writes a starter card (`new`).

pub(super) mod new;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::args::Test;
use super::files;
use super::output;
use super::stop::Stop;
use crate::card::{Case, CaseKind};
use crate::cases;
use crate::checks::Check;
use crate::checks::expressed::CustomCheck;
use crate::command::own;
use crate::policy::Policy;
use crate::render::text::{clean, count};
use crate::{demo, exit};

/// Folder name of the cards in their cases, wherever they are: expectations must not depend on the path.
const IN_CASES: &str = "checks";

/// A card of a user, and its check.
struct Loaded {
    path: PathBuf,
    check: &'static Check,
}

/// Registers the checks in folders; must run before any selection.
///
/// # Errors
/// A folder or a card cannot be read; the error has the file and line.
pub(super) fn register(folders: &[PathBuf]) -> anyhow::Result<()> {
    load(folders, None).map(|_| ())
}

/// `named`: folder name for reports, if it differs from the real one.
fn load(folders: &[PathBuf], named: Option<&str>) -> anyhow::Result<Vec<Loaded>> {
    let mut loaded = Vec::new();
    for folder in folders {
        let from = named.map_or_else(|| folder.display().to_string(), str::to_owned);
        let cards = cards(folder)?;
        if cards.is_empty() {
            let cause = format!("--checks {}: the folder contains no card", folder.display());
            return Err(Stop::usage(
                cause,
                format!("cards are files that end in .md; create one with {}", own("new CHECK")),
            )
            .into());
        }
        for path in cards {
            let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let brought = CustomCheck::read(&id, &text, &from).map_err(|error| {
                let cause = format!("{}:{}: {}", path.display(), error.line, error.message);
                Stop::usage(
                    cause,
                    format!("see {} for the format of cards", crate::page::document_url("your-own-checks.md")),
                )
            })?;
            loaded.push(Loaded { path, check: brought.register() });
        }
    }
    Ok(loaded)
}

/// The cards in a folder and its subfolders, or one card. Skips READMEs and names that begin with `_`.
fn cards(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    if !path.is_dir() {
        let cause = format!("--checks {}: the folder does not exist", path.display());
        return Err(Stop::usage(cause, "give the path of a folder with cards").into());
    }
    let is_card = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".md") && !name.starts_with('_') && !name.eq_ignore_ascii_case("readme.md")
    };
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(path).max_depth(4).sort_by_file_name() {
        let entry = entry.with_context(|| format!("{} cannot be read", path.display()))?;
        if entry.file_type().is_file() && is_card(entry.path()) {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

/// `meshdoctor test`: runs the cases of cards; with `UPDATE=1` writes the results into them.
pub(super) fn test(args: &Test, folders: &[PathBuf]) -> anyhow::Result<u8> {
    if let Some(missing) = args.folders.iter().find(|folder| !folder.exists()) {
        let cause = format!("{}: no such folder or card", missing.display());
        return Err(Stop::usage(cause, "give the path of a folder with cards, or of one card").into());
    }
    let given = if args.folders.is_empty() { folders } else { &args.folders };
    let cards = match (args.builtin.is_empty(), given.is_empty()) {
        (false, _) => builtin(&args.builtin)?,
        (true, false) => load(given, Some(IN_CASES))?.into_iter().map(Tested::from).collect(),
        (true, true) => {
            let next = format!(
                "give a folder of cards, {}, or built-in checks, {}",
                own("test DIR"),
                own("test --builtin CHECK")
            );
            return Err(Stop::usage("no cards to test", next).into());
        }
    };
    let update = std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty());
    let (mut text, mut run, mut failed) = (String::new(), 0, 0);
    for card in &cards {
        run += card.cases.len();
        failed += usize::from(!tested(card, update, &mut text)?);
    }
    let all = count(cards.len(), "check", "checks");
    _ = writeln!(text, "{all}, {}: {failed} failed", count(run, "case", "cases"));
    if failed > 0 && !update {
        let test = own("test");
        _ = writeln!(text, "UPDATE=1 {test} writes the results into the cards; review the diff");
    }
    output::print(&text)?;
    Ok(if failed == 0 { exit::FINE } else { exit::FINDINGS })
}

/// A card whose cases are run.
struct Tested {
    /// The file; `None` for a built-in card without a checkout in the current folder.
    path: Option<PathBuf>,
    check: &'static Check,
    text: String,
    cases: Vec<Case>,
    /// Errors of the card itself.
    wrong: Vec<String>,
}

impl From<Loaded> for Tested {
    fn from(Loaded { path, check }: Loaded) -> Tested {
        Tested {
            path: Some(path),
            check,
            text: check.text.to_owned(),
            cases: check.cases().to_vec(),
            wrong: missing_cases(check),
        }
    }
}

/// The checks that `--builtin` names.
fn selected_builtin(policy: &Policy) -> Result<Vec<&'static Check>, Stop> {
    policy
        .select()
        .map_err(|error| Stop::usage(format!("--builtin: {error}"), format!("{} lists all checks", own("list"))))
}

/// The cards of built-in checks or categories: from a checkout in the current folder, otherwise as this build
/// holds them.
///
/// # Errors
/// A word names no check and no category, or a card cannot be read.
fn builtin(words: &[String]) -> anyhow::Result<Vec<Tested>> {
    let policy = Policy { only: words.to_vec(), ..Policy::default() };
    let mut cards = Vec::new();
    for check in selected_builtin(&policy)?.into_iter().filter(|check| !check.is_brought()) {
        let path = PathBuf::from(check.card().path());
        let path = Some(path).filter(|path| path.is_file());
        let text = match &path {
            Some(path) => {
                std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?
            }
            None => check.text.to_owned(),
        };
        let cases = Case::all(check.id, &text).map_err(|error| {
            let place = path.as_ref().map_or_else(|| check.id.to_owned(), |path| path.display().to_string());
            Stop::usage(format!("{place}: {error}"), "correct the card")
        })?;
        cards.push(Tested { path, check, text, cases, wrong: Vec::new() });
    }
    Ok(cards)
}

/// Runs the cases of a card and reports them; whether all are right.
fn tested(card: &Tested, update: bool, text: &mut String) -> anyhow::Result<bool> {
    let (check, mut updated) = (card.check, card.text.clone());
    let mut wrong = card.wrong.clone();
    for case in &card.cases {
        let ran = match cases::run(check, case, &|name| demo::base(name).map(str::to_owned)) {
            Ok(ran) => ran,
            Err(error) => {
                wrong.push(format!("{}: {error}", case.title));
                continue;
            }
        };
        wrong.extend(ran.wrong.iter().map(|why| format!("{}: {why}", case.title)));
        let said = ran.said.trim_end();
        if said == case.expect.trim_end() {
            continue;
        }
        let can_write = update && card.path.is_some();
        match cases::with_expectation(&updated, &case.title, said).filter(|_| can_write) {
            Some(other) => updated = other,
            None => wrong.push(format!("{}: the result is\n{said}\nbut the card expects\n{}", case.title, case.expect)),
        }
    }
    if let Some(path) = card.path.as_ref().filter(|_| updated != card.text) {
        files::replace_all([(path.as_path(), updated.as_str())])?;
        _ = writeln!(text, "written  {}", clean(&path.display().to_string()));
    }
    if wrong.is_empty() {
        _ = writeln!(text, "ok       {}  {}", check.id, count(card.cases.len(), "case", "cases"));
        return Ok(true);
    }
    let place = card.path.as_ref().map_or_else(|| "built in".to_owned(), |path| path.display().to_string());
    _ = writeln!(text, "FAILED   {}  {}", check.id, clean(&place));
    for line in wrong.iter().flat_map(|why| why.lines()) {
        _ = writeln!(text, "  {}", clean(line));
    }
    Ok(false)
}

/// The cases that a card still needs.
fn missing_cases(check: &Check) -> Vec<String> {
    let there: BTreeSet<CaseKind> = check.cases().iter().map(|case| case.kind).collect();
    let wanted = [
        (CaseKind::Fires, "fires", "a cluster with a finding"),
        (CaseKind::Quiet, "quiet", "a checked cluster without findings"),
        (CaseKind::Unknown, "unknown", "a cluster with missing evidence"),
    ];
    let missing = wanted.into_iter().filter(|(kind, _, _)| !there.contains(kind));
    missing.map(|(_, word, what)| format!("add a case ### {word}: {what}")).collect()
}
