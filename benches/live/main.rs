//! `cargo bench --bench live`: the cost of `meshdoctor check` compared with a bare read of the same lists.
//!
//! A server on 127.0.0.1 simulates the API of a cluster with 1,000, 10,000 and 50,000 injected pods. The real
//! binary checks it, saves it, and checks the saved bundle; a bare reader reads the same lists page by page
//! and discards them. All of them run alternately, several times, each as a separate process. Compare the
//! ratios: absolute times depend on the machine.
//!
//! `UPDATE=1` writes the table into docs/cost.md. `MESHDOCTOR_BENCH_PODS=1000,10000` measures other sizes,
//! and `cargo bench --bench live -- serve 1000` only serves a cluster for ten minutes, to examine a single
//! run.

#![allow(clippy::print_stdout, clippy::print_stderr)] // What a benchmark is for.

mod bare;
mod certificates;
mod fields;
mod forward;
mod measure;
mod rounds;
mod server;
mod start;
mod table;
mod templates;
mod world;

use std::path::Path;

use anyhow::Context;

/// Pods in the clusters that are measured.
const SIZES: [usize; 3] = [1_000, 10_000, 50_000];

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = &words[..]
        && word == bare::WORD
    {
        return bare::main(rest);
    }
    if let [word, pods, ..] = &words[..]
        && word == "serve"
    {
        let server = server::Server::start(world::World::with(pods.parse()?)?)?;
        println!("{}", rounds::kubeconfig_for(server.address()));
        std::thread::sleep(std::time::Duration::from_secs(600));
        return Ok(());
    }
    let sizes = match std::env::var("MESHDOCTOR_BENCH_PODS") {
        Ok(list) => list.split(',').map(|size| size.trim().parse()).collect::<Result<Vec<_>, _>>()?,
        Err(_) => SIZES.to_vec(),
    };
    let mut measured = Vec::new();
    for pods in sizes {
        eprintln!("{pods} pods ...");
        measured.push(rounds::measure(pods).with_context(|| format!("{pods} pods"))?);
    }
    let text = table::text(&measured, &start::measure()?);
    println!("{text}");
    if std::env::var_os("UPDATE").is_some() {
        table::put_into(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cost.md"), &text)?;
    }
    Ok(())
}
