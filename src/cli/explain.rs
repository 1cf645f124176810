//! `meshdoctor explain`: the page of one check, the checks that cover a row of `linkerd check`, or the meaning of a
//! pasted text.

use std::io::Read;

use super::args::{Explain, PageFormat};
use super::output;
use super::stop::Stop;
use crate::command::{meshdoctor, own};
use crate::encoding::decoded;
use crate::explanation::explain;
use crate::knowledge::Knowledge;
use crate::policy::PROBLEMS;
use crate::{checks, exit, render};

/// Maximum size of a text, in bytes.
const MOST: u64 = 1 << 20;

/// Maximum number of words of a text that are looked up in pages.
const MOST_WORDS: usize = 20;

pub(super) fn run(args: &Explain) -> anyhow::Result<u8> {
    let given = args.text.join(" ");
    if given == "-" {
        return of_text(&read_input()?, args.output);
    }
    if let Some((checks::KNOWN_DEFECT, id)) = given.split_once('/') {
        return output::print(&of_defect(id, args.output)?);
    }
    let several: Vec<_> = args.text.iter().filter_map(|id| checks::find(id)).collect();
    if several.len() > 1 && several.len() == args.text.len() {
        return output::print(&of_several(&several, args.output));
    }
    let named: Vec<_> = match checks::find(&given) {
        Some(check) => vec![check],
        None => checks::answering(&given).collect(),
    };
    let text = match (named.as_slice(), args.output) {
        ([], _) if PROBLEMS.iter().any(|(id, _)| *id == given) => of_waivers(&given, args.output),
        ([], _) => return of_text(&given, args.output),
        ([check], PageFormat::Text) => render::explain::text(check, output::width()),
        ([check], PageFormat::Markdown) => render::explain::markdown(check),
        ([check], PageFormat::Json) => render::explain::json(check),
        // Several checks cover the row, so list them.
        (several, PageFormat::Text) => render::list::table(several, output::width()),
        (several, PageFormat::Markdown) => several.iter().map(|check| render::explain::markdown(check)).collect(),
        (several, PageFormat::Json) => render::list::json(several),
    };
    output::print(&text)
}

/// The pages of several checks.
fn of_several(checks: &[&'static checks::Check], form: PageFormat) -> String {
    let page = |check: &&'static checks::Check| match form {
        PageFormat::Text => render::explain::text(check, output::width()),
        PageFormat::Markdown => render::explain::markdown(check),
        PageFormat::Json => render::explain::json(check),
    };
    let pages: Vec<String> = checks.iter().map(page).collect();
    match form {
        // One document after the other.
        PageFormat::Json => pages.concat(),
        PageFormat::Text | PageFormat::Markdown => pages.join("\n"),
    }
}

/// A row of the known defects.
fn of_defect(id: &str, form: PageFormat) -> Result<String, Stop> {
    let knowledge = Knowledge::embedded();
    let row = super::request::defect(id, knowledge)?;
    Ok(match form {
        PageFormat::Json => render::defects::json_of(row, knowledge),
        PageFormat::Text | PageFormat::Markdown => render::defects::text(row, knowledge, output::look()),
    })
}

fn read_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        let cause = format!("the text is larger than {} MiB", MOST >> 20);
        return Err(Stop::usage(cause, "give only the lines in question").into());
    }
    Ok(decoded(&bytes))
}

/// Explains a text that is not the name of a check.
fn of_text(text: &str, form: PageFormat) -> anyhow::Result<u8> {
    let knowledge = Knowledge::embedded();
    let mut explained = explain(knowledge, text);
    // A bare number that is no status code of a response is an exit code.
    let number = text.trim();
    if explained.meanings.is_empty() && number.parse::<u8>().is_ok() {
        explained = explain(knowledge, &format!("exit code {number}"));
    }
    if explained.meanings.is_empty() && knowledge.known_defects().row(text.trim()).is_some() {
        return output::print(&of_defect(text.trim(), form)?);
    }
    if explained.meanings.is_empty() {
        let is_word = !text.trim().is_empty() && !text.trim().contains(|c: char| c.is_whitespace() || c == ':');
        return Err(if is_word { unknown(text.trim()) } else { unrecognized(text) }.into());
    }
    output::print(&match form {
        PageFormat::Json => render::explanation::json(&explained),
        PageFormat::Text | PageFormat::Markdown => {
            output::for_people(render::explanation::text(&explained, output::width()))
        }
    })
}

fn unrecognized(text: &str) -> Stop {
    let cause = "meshdoctor does not know this text";
    Stop { status: exit::FINDINGS, ..Stop::usage(cause, next_after(text, &own("check"))) }
}

/// The checks whose pages mention a text, or else a command.
fn next_after(text: &str, command: &str) -> String {
    match mentioning(text).as_slice() {
        [] => format!("check the mesh: {command}"),
        found => {
            format!("checks that mention it: {}; {} shows one", found.join(", "), own("explain CHECK"))
        }
    }
}

/// Maximum number of checks to suggest for a text.
const SUGGESTED: usize = 3;

/// The checks whose title or page has a text, or else all its longer words, the most frequent first.
fn mentioning(text: &str) -> Vec<&'static str> {
    const SHORTEST: usize = 4;
    let text = text.trim().to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || "-._/".contains(c);
    let words: Vec<&str> = text
        .split(|c| !is_part(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.len() >= SHORTEST)
        .take(MOST_WORDS)
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    // A mention in the title tells more than one in the page.
    const OF_TITLE: usize = 10;
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for check in checks::all() {
        let card = check.card();
        let title = card.front.title.to_lowercase();
        let page = card.prose.concat().to_lowercase();
        let times = |word: &str| OF_TITLE * title.matches(word).count() + page.matches(word).count();
        let whole = times(&text);
        let each: Vec<usize> = words.iter().map(|word| times(word)).collect();
        let least = each.iter().copied().min().unwrap_or_default();
        if whole > 0 || (words.len() > 1 && least > 0) {
            found.push((OF_TITLE * whole + each.iter().sum::<usize>(), check.id));
        }
    }
    found.sort_by(|(one, a), (other, b)| other.cmp(one).then(a.cmp(b)));
    found.into_iter().take(SUGGESTED).map(|(_, id)| id).collect()
}

/// Problems with waivers are explained on the page of waivers.
fn of_waivers(id: &str, form: PageFormat) -> String {
    let page = include_str!("../../docs/waivers.md");
    let from = page.find("## Waivers").unwrap_or_default();
    let section = page[from..].find("\n## Baselines").map_or(&page[from..], |end| &page[from..from + end]);
    let title = PROBLEMS.iter().find(|(known, _)| *known == id).map_or("", |(_, title)| title);
    match form {
        PageFormat::Json => format!(
            "{:#}\n",
            serde_json::json!({"schema": "meshdoctor.check/1", "id": id, "title": title, "page": section})
        ),
        PageFormat::Text => render::explain::page(id, title, section, output::width()),
        PageFormat::Markdown => format!("# {id}\n\n{title}.\n\n{section}"),
    }
}

fn unknown(word: &str) -> Stop {
    if checks::all().any(|check| check.card().front.category == word) {
        return Stop::usage(
            format!("{word:?} is a category, not a check"),
            format!("{} lists its checks", meshdoctor().words("list").arg(word)),
        );
    }
    let anchors = checks::all().flat_map(|check| &check.card().front.linkerd_check);
    let known = checks::all().map(|check| check.id).chain(anchors.map(|row| row.anchor.as_str()));
    let nearest = crate::nearest::closest(word, known);
    // A header of Linkerd rather than an anchor of `linkerd check`.
    if nearest.is_none() && word.to_ascii_lowercase().starts_with("l5d-") {
        return Stop { status: exit::USAGE, ..unrecognized(word) };
    }
    let begins: Vec<&str> = checks::all().map(|check| check.id).filter(|id| id.starts_with(word)).collect();
    let hint = match (begins.as_slice(), nearest) {
        ([_, _, ..], _) if begins.len() <= SUGGESTED => format!("; did you mean {}?", begins.join(" or ")),
        (_, nearest) => nearest.map(|id| format!("; did you mean {id}?")).unwrap_or_default(),
    };
    let next = match mentioning(word).is_empty() {
        true => format!("{} lists all checks; put a longer text in quotes", own("list")),
        false => next_after(word, &own("list")),
    };
    Stop::usage(format!("{:?} is not a check or a known text{hint}", crate::nearest::brief(word)), next)
}
