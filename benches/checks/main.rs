//! The cost of each check as a cluster grows: every check on several mixes of objects, at 1, 2 and 4 times
//! their number, and a whole run on each. Linear cost doubles with the size; a ratio near 4 is quadratic.
//! Nothing is asserted. Standard error lists each check that takes a notable time.
//!
//! `cargo bench --bench checks`, or `cargo bench --bench checks -- WORD` for the mixes whose name contains
//! the word.
//! `MESHDOCTOR_BENCH_OBJECTS=200` changes the smallest size, and `UPDATE=1` writes the table into docs/cost.md.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use meshdoctor::checks::{self, Check, evaluate};
use meshdoctor::collect::collect_now;
use meshdoctor::docgen;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy;
use meshdoctor::scene::Scene;

#[path = "../shared/mod.rs"]
mod shared;
mod world;

use shared::{growth, is_selected, shown, shown_growth, timed, words};
use world::{MIXES, Mix};

/// Times as many objects as the smallest size.
const TIMES: [usize; 3] = [1, 2, 4];
/// Minimum time at the largest size; the growth of faster checks is noise.
const NOTABLE: Duration = Duration::from_millis(5);
/// Runs of a check, of which the fastest counts.
const ROUNDS: usize = 7;
/// Time limit of a run.
const PATIENCE: Duration = Duration::from_secs(120);

fn main() -> io::Result<()> {
    let words = words();
    let smallest = std::env::var("MESHDOCTOR_BENCH_OBJECTS").ok().and_then(|text| text.parse().ok());
    let smallest = smallest.unwrap_or(500);
    let mut table = String::from(
        "| mix | objects, smallest | all checks, largest | 2x/1x | 4x/2x | steepest check | its time, largest | its 4x/2x | \
         a whole run, 4x/2x |\n|---|--:|--:|--:|--:|---|--:|--:|--:|\n",
    );
    io::stdout().write_all(table.as_bytes())?;
    for mix in MIXES.iter().filter(|mix| is_selected(mix.name, &words)) {
        let row = row(mix, smallest)?;
        io::stdout().write_all(row.as_bytes())?;
        table.push_str(&row);
    }
    if std::env::var_os("UPDATE").is_some() && words.is_empty() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cost.md");
        let filled = docgen::fill(&std::fs::read_to_string(&file)?, "checks", &format!("\n{table}\n"));
        let filled = filled.ok_or_else(|| io::Error::other("docs/cost.md has no <!-- checks: begin -->"))?;
        std::fs::write(file, filled)?;
    }
    Ok(())
}

/// The times of one mix.
fn row(mix: &Mix, smallest: usize) -> io::Result<String> {
    let all: Vec<&'static Check> = checks::all().collect();
    let (mut times, mut runs, mut objects) = (Vec::new(), Vec::new(), 0_usize);
    for factor in TIMES {
        let scene = world::scene(mix, smallest * factor);
        if factor == 1 {
            objects = scene.memory.objects.values().map(Vec::len).sum();
        }
        times.push(of_checks(&scene, &all));
        runs.push(of_run(&scene)?);
    }
    let total = |at: usize| -> Duration { times[at].iter().sum() };
    let steepest = (0..all.len())
        .filter(|check| times[2][*check] >= NOTABLE)
        .max_by(|a, b| growth(times[1][*a], times[2][*a]).total_cmp(&growth(times[1][*b], times[2][*b])));
    print_notable(&all, &times)?;
    let mut row = String::new();
    let (name, sum) = (mix.name, total(2).as_secs_f64());
    let (first, second) = (growth(total(0), total(1)), growth(total(1), total(2)));
    write!(row, "| {name} | {objects} | {sum:.2} s | {first:.1} | {second:.1} |").map_err(io::Error::other)?;
    match steepest {
        Some(check) => {
            let (before, then) = (times[1][check], times[2][check]);
            let (id, time) = (all[check].id, then.as_secs_f64() * 1e3);
            write!(row, " `{id}` | {time:.0} ms | {:.1} |", growth(before, then)).map_err(io::Error::other)?;
        }
        None => row.push_str(" - | - | - |"),
    }
    let run = match runs[2] {
        Some(_) => shown_growth(runs[1], runs[2]),
        None => shown(None, PATIENCE),
    };
    writeln!(row, " {run} |").map_err(io::Error::other)?;
    Ok(row)
}

/// Prints on stderr each check whose time is notable, with its growth.
fn print_notable(all: &[&'static Check], times: &[Vec<Duration>]) -> io::Result<()> {
    let is_notable = |check: &usize| times[2][*check] >= NOTABLE;
    for check in (0..all.len()).filter(is_notable) {
        let [first, second, third] = [0, 1, 2].map(|at: usize| times[at][check]);
        let (id, time) = (all[check].id, third.as_secs_f64() * 1e3);
        let (doubled, again) = (growth(first, second), growth(second, third));
        writeln!(io::stderr(), "    {id}: {time:.0} ms, {doubled:.1}, {again:.1}")?;
    }
    Ok(())
}

/// Duration of each check; the best of [`ROUNDS`]: whatever else the machine does only makes a run slower.
fn of_checks(scene: &Scene, all: &[&'static Check]) -> Vec<Duration> {
    let collected = collect_now(&scene.memory, &policy::items(all), &scene.options, None);
    let timed = |check: &'static Check| {
        let began = Instant::now();
        drop(evaluate(&[check], &collected.cluster, Knowledge::embedded(), &scene.settings));
        began.elapsed()
    };
    let best = |check| (0..ROUNDS).map(|_| timed(check)).min().unwrap_or_default();
    all.iter().copied().map(best).collect()
}

/// Duration of a run of the binary on all of it.
fn of_run(scene: &Scene) -> io::Result<Option<Duration>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.json");
    let items = scene.memory.objects.values().flatten();
    let items: Vec<String> = items.map(|held| String::from_utf8_lossy(&held.json).into_owned()).collect();
    std::fs::write(&path, format!(r#"{{"kind":"List","apiVersion":"v1","items":[{}]}}"#, items.join(",")))?;
    timed(env!("CARGO_BIN_EXE_meshdoctor").as_ref(), &path, PATIENCE)
}
