//! `cargo bench --bench beside`: the cost of `meshdoctor check` compared with the real `linkerd check
//! --proxy`, on one real API server with injected pods.
//!
//! It has the requirements of the cluster tests (docs/testing.md), and needs a `linkerd` on PATH or in the
//! folder in `MESHDOCTOR_LINKERD`; the newest of several is used. If something is missing, it prints a
//! message and ends. Both commands run alternately, several times, each as a separate process, and the best
//! run is reported. Absolute times depend on the machine; compare the ratios.
//!
//! `UPDATE=1` writes the table into docs/cost.md. `MESHDOCTOR_BENCH_PODS=1000` creates a smaller cluster than
//! 10,000 pods, and `cargo bench --bench beside -- serve` only keeps the cluster running until its standard
//! input closes, to examine a single run.

#![allow(clippy::print_stdout, clippy::print_stderr)] // What a benchmark is for.
#![allow(clippy::too_many_lines, clippy::unwrap_used)] // As in the tests whose harness it uses.

#[path = "../../tests/cluster/harness/mod.rs"]
#[allow(dead_code, reason = "the cluster tests use the rest")]
mod harness;
#[path = "../live/measure.rs"]
mod measure;
mod world;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use meshdoctor::docgen;

use harness::kubeconfig::{ADMIN, write_kubeconfig};
use harness::linkerd_cli::{LinkerdCli, linkerd_clis};
use measure::Cost;

/// Pods in the cluster.
const PODS: usize = 10_000;
/// Times that each is run; the best counts.
const ROUNDS: usize = 5;

fn main() -> anyhow::Result<()> {
    let Some(cli) = linkerd_clis().pop() else { return Ok(()) };
    let pods = match std::env::var("MESHDOCTOR_BENCH_PODS") {
        Ok(pods) => pods.trim().parse()?,
        Err(_) => PODS,
    };
    let home = tempfile::tempdir()?;
    let Some(cluster) = world::cluster(&cli, pods, home.path()) else { return Ok(()) };
    write_kubeconfig(&home.path().join("kubeconfig"), &[("bench", cluster.context(ADMIN))]);
    if std::env::args().any(|word| word == "serve") {
        println!("KUBECONFIG={}", home.path().join("kubeconfig").display());
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
        return Ok(());
    }
    let table = measure(&cli, home.path(), pods)?;
    drop(cluster);
    println!("{table}");
    if std::env::var_os("UPDATE").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cost.md");
        let filled = docgen::fill(&std::fs::read_to_string(&file)?, "beside", &format!("\n{table}\n"));
        let filled =
            filled.context("docs/cost.md has no place for the table: <!-- beside: begin -->, <!-- beside: end -->")?;
        std::fs::write(file, filled)?;
    }
    Ok(())
}

fn measure(cli: &LinkerdCli, home: &Path, pods: usize) -> anyhow::Result<String> {
    let kubeconfig = home.join("kubeconfig");
    let command = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        // client-go prints warnings about deprecated APIs there.
        command.stderr(Stdio::null());
        command.env_clear().env("HOME", home).env("PATH", "/nonexistent").current_dir(home);
        command.args(words).arg("--kubeconfig").arg(&kubeconfig);
        command
    };
    // Without `--expected-version` it would query a server on the internet for the newest version.
    let theirs = ["check", "--proxy", "-o", "json", "--wait", "1s", "--expected-version", &cli.version];
    let ours = ["check", "--quiet", "--linkerd-cli", "none", "--expected-version", &cli.version];
    let plain = [&ours[..], &["--disable-compression"]].concat();
    let runs: [(&str, &Path, &[&str]); 3] = [
        ("`linkerd check --proxy`", &cli.program, &theirs),
        ("`meshdoctor check --disable-compression`", env!("CARGO_BIN_EXE_meshdoctor").as_ref(), &plain),
        ("`meshdoctor check`", env!("CARGO_BIN_EXE_meshdoctor").as_ref(), &ours),
    ];
    let mut best: [Option<Cost>; 3] = [None; 3];
    for _ in 0..ROUNDS {
        for ((name, program, words), best) in runs.iter().zip(&mut best) {
            let cost = measure::run(&mut command(program, words), &[0]).with_context(|| (*name).to_owned())?;
            eprintln!("{name}: {:.2} s, {} MB", cost.wall.as_secs_f64(), megabytes(&cost));
            *best = Some(match best.take() {
                None => cost,
                Some(known) => Cost {
                    wall: known.wall.min(cost.wall),
                    busy: known.busy.min(cost.busy),
                    peak: known.peak.max(cost.peak),
                },
            });
        }
    }
    let best = best.map(|cost| cost.expect("there is more than one round"));
    let ratio = |of: f64, to: f64| format!("{:.1}", of / to);
    let seconds = Duration::as_secs_f64;
    let mut table = format!(
        "| {pods} pods, {} | wall time | times faster | processor time | peak memory, MB | part of the memory |\n\
         |---|--:|--:|--:|--:|--:|\n",
        cli.version
    );
    for ((name, ..), cost) in runs.iter().zip(&best) {
        table += &format!(
            "| {name} | {:.2} s | {} | {:.2} s | {} | {:.0} % |\n",
            seconds(&cost.wall),
            ratio(seconds(&best[0].wall), seconds(&cost.wall)),
            seconds(&cost.busy),
            megabytes(cost),
            100.0 * cost.peak as f64 / best[0].peak as f64,
        );
    }
    Ok(table)
}

fn megabytes(cost: &Cost) -> u64 {
    cost.peak.div_ceil(1_000_000)
}
