//! `meshdoctor explain`: the page of one check.

use super::args::{Explain, PageFormat};
use super::output;
use super::role;
use super::stop::Stop;
use crate::{checks, policy, render};

pub(super) fn run(args: &Explain) -> anyhow::Result<u8> {
    let Some(check) = checks::find(&args.check) else {
        let nearest = policy::closest(&args.check, checks::all().map(|check| check.id));
        let hint = nearest.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
        let cause = format!("no check is named {:?}{hint}", args.check);
        return Err(Stop::usage(cause, "meshdoctor list shows every check").into());
    };
    let text = match args.output {
        PageFormat::Text => role::as_typed(render::explain::text(check, output::width())),
        PageFormat::Markdown => render::explain::markdown(check),
        PageFormat::Json => render::explain::json(check),
    };
    output::print(&text)
}
