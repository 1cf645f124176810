//! The page of known defects of Linkerd releases.

use std::fmt::Write;

use super::card_link;
use crate::checks::{self, KNOWN_DEFECT};
use crate::knowledge::{Knowledge, KnownDefect};
use crate::page::GENERATED;

/// The page.
pub fn defects() -> String {
    let knowledge = Knowledge::embedded();
    let table = knowledge.known_defects();
    let mut page = format!("# Known defects of Linkerd releases\n\n{GENERATED}\n\n");
    _ = writeln!(
        page,
        "The check {} reports a defect if the installed release has it and something in the cluster triggers it.\n\
         `check --to` also reports the defects that an upgrade brings and ends. `meshdoctor list --defects` prints this list. To add a\n\
         defect, see [Release data](knowledge.md).\n",
        link(KNOWN_DEFECT)
    );
    _ = writeln!(page, "Source: {}. Date: {}.\n", table.source(), table.date());
    let of = |wanted: &dyn Fn(&KnownDefect) -> bool| -> Vec<&KnownDefect> {
        table.rows().iter().filter(|row| wanted(row)).collect()
    };
    page.push_str("## Detected by their trigger\n\n");
    rows(&mut page, knowledge, &of(&|row| row.trigger.is_some()));
    page.push_str("\n## Reported by another check\n\n");
    rows(&mut page, knowledge, &of(&|row| row.reported_by.is_some()));
    page.push_str(
        "\n## Not detected\n\nThe evidence that meshdoctor reads does not show these; the last column states the reason.\n\n",
    );
    rows(&mut page, knowledge, &of(&|row| row.unseen.is_some()));
    page
}

fn rows(page: &mut String, knowledge: &Knowledge, rows: &[&KnownDefect]) {
    page.push_str(
        "| defect | component | releases | fixed in | effect | workaround | detection |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let links = row.references.iter().map(|link| {
            let number = link.rsplit('/').next().unwrap_or_default();
            format!(" ([{number}]({link}))")
        });
        _ = writeln!(
            page,
            "| `{}` | {} | {} {} | {} | {}{} | {} | {} |",
            row.id,
            row.component,
            row.decides.label(),
            row.releases(),
            row.fixed_in(knowledge.releases()).unwrap_or_else(|| "not fixed".to_owned()),
            row.effect,
            links.collect::<String>(),
            row.workaround.as_deref().unwrap_or_default(),
            detection(row),
        );
    }
}

fn link(check: &str) -> String {
    checks::find(check).map_or_else(|| check.to_owned(), card_link)
}

/// How a run detects it, or the reason why it does not.
fn detection(row: &KnownDefect) -> String {
    match (&row.trigger, &row.reported_by, &row.unseen) {
        (Some(trigger), _, _) => {
            trigger.kinds.iter().map(|kind| kind.split('.').next().unwrap_or(kind)).fold(String::new(), |all, kind| {
                if all.is_empty() { kind.to_owned() } else { format!("{all}, {kind}") }
            })
        }
        (None, Some(check), _) => link(check),
        (None, None, reason) => reason.clone().unwrap_or_default(),
    }
}
