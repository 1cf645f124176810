//! `meshdoctor diff`: two reports, and what became of the findings from the one to the other.

use super::args::{Diff, DiffFormat, FailOn};
use super::{check, output, verify};
use crate::exit;
use crate::render::diff;

pub(super) fn run(args: &Diff) -> anyhow::Result<u8> {
    let (before, after) = (verify::read(&args.before, "diff")?, verify::read(&args.after, "diff")?);
    for (path, document) in [(&args.before, &before), (&args.after, &after)] {
        if document.run.judged_at.is_none() {
            let cause = format!("{} is of a run that came to no result", path.display());
            return Err(
                super::stop::Stop::usage(cause, "give reports of runs that looked at a cluster").into()
            );
        }
    }
    let difference = diff::compare(&before, &after);
    output::print(&match args.output {
        DiffFormat::Table => output::for_people(difference.table(output::width())),
        DiffFormat::Json => difference.json(),
    })?;
    let gate = check::gate(args.fail_on.unwrap_or(FailOn::Error));
    let fails = |severity: Option<_>| severity.is_some_and(|severity| gate.fails(severity));
    Ok(match (fails(difference.worst_new()), fails(difference.worst_unknown())) {
        (true, _) => exit::FINDINGS,
        (false, true) => exit::NOT_CHECKED,
        (false, false) => exit::FINE,
    })
}
