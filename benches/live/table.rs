//! The table, and its place in docs/cost.md.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use meshdoctor::docgen;

use crate::rounds::{ALL, Measured, What};

fn name(what: What) -> &'static str {
    match what {
        What::BarePlain => "bare read",
        What::CheckPlain => "`check --disable-compression`",
        What::BareGzip => "bare read, gzip",
        What::CheckGzip => "`check`",
        What::Save => "`check --save`",
        What::Bundle => "`check --bundle`",
        What::Proxies => "`check --proxies=1s`",
    }
}

/// The table of ratios, with the times that they refer to.
pub(crate) fn text(all: &[Measured], start: &[(String, Duration)]) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| writeln!(text, "{words}").expect("memory takes all of it");
    line(format_args!(
        "| pods | | wall time | next to the bare read | for each pod, next to the smallest | processor time | requests | MB | peak memory, MB |"
    ));
    line(format_args!("|--:|---|--:|--:|--:|--:|--:|--:|--:|"));
    for measured in all {
        for what in ALL {
            let row = measured.row(what);
            let beside = match what.beside() {
                Some(other) => {
                    format!("{:.2}", row.wall.as_secs_f64() / measured.row(other).wall.as_secs_f64())
                }
                None => "1".to_owned(),
            };
            let each = |measured: &Measured| measured.row(what).wall.as_secs_f64() / measured.pods as f64;
            line(format_args!(
                "| {} | {} | {:.2} s | {beside} | {:.2} | {:.2} s | {} | {:.1} | {} |",
                thousands(measured.pods),
                name(what),
                row.wall.as_secs_f64(),
                each(measured) / each(&all[0]),
                row.busy.as_secs_f64(),
                row.requests,
                row.bytes as f64 / 1e6,
                row.peak.div_ceil(1_000_000),
            ));
        }
    }
    let start: Vec<String> =
        start.iter().map(|(words, time)| format!("`{words}` {:.1} ms", time.as_secs_f64() * 1e3)).collect();
    line(format_args!("\nUntil it is done: {}.", start.join(", ")));
    text
}

fn thousands(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

/// Puts it into its place in a file.
pub(crate) fn put_into(file: &Path, table: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file)?;
    let filled = docgen::fill(&text, "cost", &format!("\n{table}\n"))
        .context("docs/cost.md has no place for the table: <!-- cost: begin -->, <!-- cost: end -->")?;
    Ok(std::fs::write(file, filled)?)
}
