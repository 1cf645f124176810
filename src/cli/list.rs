//! `meshdoctor list`: lists the checks.

use super::args::{List, ListFormat};
use super::output;
use super::request::knowledge_of;
use super::stop::Stop;
use crate::command::own;
use crate::knowledge::Knowledge;
use crate::policy::Policy;
use crate::render;

pub(super) fn run(args: &List) -> anyhow::Result<u8> {
    if args.defects {
        return defects(args);
    }
    let policy = Policy { only: [args.only.as_slice(), &args.also].concat(), ..Policy::default() };
    let checks =
        policy.of_all_modes().map_err(|e| Stop::usage(e.to_string(), format!("{} lists all checks", own("list"))))?;
    let text = match args.output {
        ListFormat::Table => render::list::table(&checks, output::width()),
        ListFormat::Name => checks.iter().map(|check| format!("{}\n", check.id)).collect(),
        ListFormat::Json => render::list::json(&checks),
    };
    output::print(&text)
}

/// Prints the known defects of releases.
fn defects(args: &List) -> anyhow::Result<u8> {
    let given: Option<Knowledge> = args.knowledge.as_deref().map(knowledge_of).transpose()?;
    let knowledge = match &given {
        Some(given) => given,
        None => Knowledge::embedded(),
    };
    let text = match args.output {
        ListFormat::Table => render::defects::table(knowledge, output::look()),
        ListFormat::Name => knowledge.known_defects().rows().iter().map(|row| format!("{}\n", row.id)).collect(),
        ListFormat::Json => render::defects::json(knowledge),
    };
    output::print(&text)
}
