//! What hostile input costs: the same shapes at 1, 2 and 4 MB, with the time and how it grows. Linear cost doubles with
//! the size; a ratio near 4 is a quadratic place. Nothing is asserted: read the ratios.
//!
//! `cargo bench --bench hostile`, or `cargo bench --bench hostile -- WORD` for the shapes whose name holds the word. With
//! `MESHDOCTOR=PATH` another build is timed, and `KEEP=DIR` writes the shapes of 1 MB there and times nothing.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod shapes;

use shapes::{SHAPES, Shape};

/// A run that takes longer is ended, and said to have.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sizes, in bytes.
const SIZES: [usize; 3] = [1 << 20, 2 << 20, 4 << 20];

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = tempfile::tempdir()?;
    if let Some(keep) = std::env::var_os("KEEP") {
        return SHAPES.iter().filter(|shape| is_meant(shape, &words)).try_for_each(|shape| {
            let folder = Path::new(&keep).join(shape.name.replace([' ', ':'], "-"));
            std::fs::create_dir_all(&folder)?;
            shapes::write(shape, SIZES[0], &folder.join(shape.file))
        });
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{:<34}{:>9}{:>9}{:>9}   2 MB/1 MB  4 MB/2 MB", "shape", "1 MB", "2 MB", "4 MB")?;
    for shape in SHAPES.iter().filter(|shape| is_meant(shape, &words)) {
        let mut times = Vec::new();
        for size in SIZES {
            times.push(measured(shape, size, folder.path())?);
        }
        let shown = |time: &Option<Duration>| match time {
            Some(time) => format!("{:.2} s", time.as_secs_f64()),
            None => format!("> {} s", PATIENCE.as_secs()),
        };
        let ratio = |a: &Option<Duration>, b: &Option<Duration>| match (a, b) {
            (Some(a), Some(b)) => format!("{:.1}", b.as_secs_f64() / a.as_secs_f64().max(0.001)),
            _ => "-".to_owned(),
        };
        writeln!(
            out,
            "{:<34}{:>9}{:>9}{:>9}   {:>9}  {:>9}",
            shape.name,
            shown(&times[0]),
            shown(&times[1]),
            shown(&times[2]),
            ratio(&times[0], &times[1]),
            ratio(&times[1], &times[2])
        )?;
        out.flush()?;
    }
    Ok(())
}

fn is_meant(shape: &Shape, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| shape.name.contains(word))
}

/// How long a check of it takes; the better of two runs.
fn measured(shape: &Shape, size: usize, folder: &Path) -> io::Result<Option<Duration>> {
    let path = folder.join(shape.file);
    shapes::write(shape, size, &path)?;
    let mut best = None;
    for _ in 0..2 {
        match timed(&path)? {
            None => return Ok(None),
            Some(time) => best = Some(best.map_or(time, |best: Duration| best.min(time))),
        }
    }
    Ok(best)
}

fn timed(path: &PathBuf) -> io::Result<Option<Duration>> {
    let began = Instant::now();
    let built = std::env::var_os("MESHDOCTOR").unwrap_or_else(|| env!("CARGO_BIN_EXE_meshdoctor").into());
    let mut child = Command::new(built)
        .args(["check", "-q", "--complete", "all", "--at", "2026-01-15T12:00:00Z", "-o", "json", "--bundle"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(Some(began.elapsed()));
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
