//! `meshdoctor explain`: the page of one check, the checks that cover a row of `linkerd check`, or the meaning of a
//! pasted text.

use std::collections::BTreeSet;
use std::io::Read;

use super::args::{Explain, PageFormat};
use super::output;
use super::stop::Stop;
use crate::command::{meshdoctor, own};
use crate::explanation::explain;
use crate::knowledge::Knowledge;
use crate::policy::PROBLEMS;
use crate::{checks, exit, render};

/// Maximum size of a text, in bytes.
const MOST: u64 = 1 << 20;

/// Maximum number of words of a text that are compared with titles.
const MOST_WORDS: usize = 20;

pub(super) fn run(args: &Explain) -> anyhow::Result<u8> {
    let given = args.text.join(" ");
    if given == "-" {
        return of_text(&read_input()?, args.output);
    }
    if let Some((checks::KNOWN_DEFECT, id)) = given.split_once('/') {
        return output::print(&of_defect(id, args.output)?);
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
        (several, PageFormat::Markdown) => {
            several.iter().map(|check| render::explain::markdown(check)).collect()
        }
        (several, PageFormat::Json) => render::list::json(several),
    };
    output::print(&text)
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
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
        let is_word =
            !text.trim().is_empty() && !text.trim().contains(|c: char| c.is_whitespace() || c == ':');
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
    let similar = similar(text);
    let next = match similar.is_empty() {
        true => format!("check the mesh: {}", own("check")),
        false => {
            format!("checks with similar titles: {}; or check the mesh: {}", similar.join(", "), own("check"))
        }
    };
    Stop { status: exit::FINDINGS, ..Stop::usage("meshdoctor does not know this text", next) }
}

/// Maximum number of checks to suggest for a text.
const SUGGESTED: usize = 3;

/// The checks whose titles have at least half of the longer words of a text, best first.
fn similar(text: &str) -> Vec<&'static str> {
    const SHORTEST: usize = 5;
    let words = |text: &str| -> BTreeSet<String> {
        let all = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= SHORTEST);
        all.map(str::to_lowercase).collect()
    };
    let titles: Vec<(&'static str, BTreeSet<String>)> =
        checks::all().map(|check| (check.id, words(&check.card().front.title))).collect();
    let known: BTreeSet<&str> = titles.iter().flat_map(|(_, title)| title).map(String::as_str).collect();
    let asked = words(text);
    let spelled = |word: &String| crate::nearest::closest(word, known.iter().copied());
    let meant: BTreeSet<String> = asked.iter().take(MOST_WORDS).filter_map(spelled).collect();
    let mut found: Vec<(usize, &'static str)> = titles
        .iter()
        .map(|(id, title)| (title.intersection(&meant).count(), *id))
        .filter(|(count, _)| *count > 0 && 2 * count >= asked.len())
        .collect();
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
    Stop::usage(
        format!("{:?} is not a check or a known text{hint}", crate::nearest::brief(word)),
        format!("{} lists all checks; put a longer text in quotes", own("list")),
    )
}
