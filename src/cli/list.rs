//! `meshdoctor list`: lists the checks.

use super::args::{List, ListFormat};
use super::output;
use super::stop::Stop;
use crate::command::own;
use crate::policy::Policy;
use crate::render;

pub(super) fn run(args: &List) -> anyhow::Result<u8> {
    let policy = Policy { only: args.only.clone(), ..Policy::default() };
    let checks = policy
        .select()
        .map_err(|e| Stop::usage(e.to_string(), format!("{} lists all checks", own("list"))))?;
    let text = match args.output {
        ListFormat::Table => render::list::table(&checks, output::width()),
        ListFormat::Name => checks.iter().map(|check| format!("{}\n", check.id)).collect(),
        ListFormat::Json => render::list::json(&checks),
    };
    output::print(&text)
}
