//! The page of known defects of Linkerd releases.

use std::fmt::Write;

use crate::checks::KNOWN_DEFECT;
use crate::knowledge::{Knowledge, KnownDefect};
use crate::page::GENERATED;

/// The page.
pub fn defects() -> String {
    let knowledge = Knowledge::embedded();
    let table = knowledge.known_defects();
    let (detected, listed): (Vec<_>, Vec<_>) = table.rows().iter().partition(|row| row.trigger.is_set());
    let mut page = format!("# Known defects of Linkerd releases\n\n{GENERATED}\n\n");
    _ = writeln!(
        page,
        "The check [{id}](checks/{id}.md) reports a defect if the installed release has it and something in the cluster triggers it.\n\
         `check --to` also reports the defects that an upgrade brings and ends. `meshdoctor list --defects` prints this list. To add a\n\
         defect, see [Release data](knowledge.md).\n",
        id = KNOWN_DEFECT
    );
    _ = writeln!(page, "Source: {}. Date: {}.\n", table.source(), table.date());
    page.push_str("## Detected\n\n");
    rows(&mut page, knowledge, &detected);
    page.push_str(
        "\n## Listed only\n\nThese leave no trace in the evidence that meshdoctor reads, or one that has other causes too.\n\n",
    );
    rows(&mut page, knowledge, &listed);
    page
}

fn rows(page: &mut String, knowledge: &Knowledge, rows: &[&KnownDefect]) {
    page.push_str(
        "| defect | component | releases | fixed in | effect | workaround |\n|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let links = row.references.iter().map(|link| {
            let number = link.rsplit('/').next().unwrap_or_default();
            format!(" ([{number}]({link}))")
        });
        _ = writeln!(
            page,
            "| `{}` | {} | {} {} | {} | {}{} | {} |",
            row.id,
            row.component,
            row.decides.label(),
            row.releases(),
            row.fixed_in(knowledge.releases()).unwrap_or_else(|| "not fixed".to_owned()),
            row.effect,
            links.collect::<String>(),
            row.workaround.as_deref().unwrap_or_default(),
        );
    }
}
