//! `meshdoctor demo`: embedded clusters with a known failure, before and after the fix.

use std::fmt::Write;

use anyhow::Context;

use super::args::Demo;
use super::examine::{Examination, examine};
use super::format::{Format, Output};
use super::output;
use super::stop::Stop;
use crate::collect::collect_now;
use crate::command::{meshdoctor, own};
use crate::demo::{self, DEMOS, DemoState};
use crate::policy::{self, Policy};
use crate::render::text::wrap;

pub(super) fn run(args: &Demo) -> anyhow::Result<u8> {
    let Some(name) = &args.name else { return output::print(&list()?) };
    let Some(demo) = demo::find(name) else {
        let nearest = crate::nearest::closest(name, DEMOS.iter().map(|demo| demo.name));
        let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        return Err(Stop::usage(format!("unknown demo {name:?}{hint}"), format!("{} lists them", own("demo"))).into());
    };
    let scene = demo
        .scene(if args.cured { DemoState::After } else { DemoState::Before })
        .context("an embedded demo is broken")?;
    let checks = Policy::default().select().context("every check can be selected")?;
    let collected = collect_now(&scene.memory, &policy::run_items(&checks), &scene.options, None);
    let origin = crate::source::Source::origin(&scene.memory);
    let status = examine(&Examination {
        checks: &checks,
        policy: &Policy::default(),
        settings: &scene.settings,
        knowledge: crate::knowledge::Knowledge::embedded(),
        origin,
        collected: &collected,
        change: None,
        places: None,
        began: std::time::Instant::now(),
        timeout: None,
        named: (None, None),
        reports: &args.report,
        verbosity: &args.verbosity,
    })?;
    let table = |output: &Output| output.format == Format::Table && output.file.is_none();
    let reads_table = args.report.output.is_empty() || args.report.output.iter().any(table);
    if reads_table && !args.cured {
        let cured = meshdoctor().words("demo").arg(name.as_str()).words("--cured");
        output::print(&format!("\nafter the repair: {cured}\n"))?;
    }
    Ok(status)
}

fn list() -> anyhow::Result<String> {
    let columns = output::width();
    let intro = format!(
        "Embedded clusters, each with one failure. {} checks one; add --cured to check it after the fix.",
        own("demo NAME")
    );
    let mut text = format!("{}\n\n", wrap(&intro, columns).join("\n"));
    let widest = DEMOS.iter().map(|demo| demo.name.len()).max().unwrap_or_default();
    for demo in DEMOS {
        let script = demo.script().context("an embedded demo is broken")?;
        let beside = format!("\n  {:widest$}  ", "");
        let title = wrap(&script.title, columns.saturating_sub(widest + 4)).join(&beside);
        _ = writeln!(text, "  {:widest$}  {title}", demo.name);
    }
    Ok(text)
}
