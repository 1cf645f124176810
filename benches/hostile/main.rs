//! The cost of hostile input: the same shapes at 1, 2 and 4 MB, with the time and its growth. Linear cost
//! doubles with the size; a ratio near 4 is quadratic. Nothing is asserted: read the ratios.
//!
//! `cargo bench --bench hostile`, or `cargo bench --bench hostile -- WORD` for the shapes whose name contains
//! the word. `MESHDOCTOR=PATH` measures another build, and `KEEP=DIR` writes the shapes of 1 MB there without
//! measuring.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

mod shapes;
#[path = "../shared/mod.rs"]
mod shared;

use shapes::{SHAPES, Shape};
use shared::{is_selected, shown, shown_growth, timed, words};

/// Time limit of a run; a longer one is ended and reported.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sizes, in bytes.
const SIZES: [usize; 3] = [1 << 20, 2 << 20, 4 << 20];

fn main() -> io::Result<()> {
    let words = words();
    let folder = tempfile::tempdir()?;
    if let Some(keep) = std::env::var_os("KEEP") {
        return SHAPES.iter().filter(|shape| is_selected(shape.name, &words)).try_for_each(|shape| {
            let folder = Path::new(&keep).join(shape.name.replace([' ', ':'], "-"));
            std::fs::create_dir_all(&folder)?;
            shapes::write(shape, SIZES[0], &folder.join(shape.file))
        });
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{:<34}{:>9}{:>9}{:>9}   2 MB/1 MB  4 MB/2 MB", "shape", "1 MB", "2 MB", "4 MB")?;
    for shape in SHAPES.iter().filter(|shape| is_selected(shape.name, &words)) {
        let mut times = Vec::new();
        for size in SIZES {
            times.push(measured(shape, size, folder.path())?);
        }
        writeln!(
            out,
            "{:<34}{:>9}{:>9}{:>9}   {:>9}  {:>9}",
            shape.name,
            shown(times[0], PATIENCE),
            shown(times[1], PATIENCE),
            shown(times[2], PATIENCE),
            shown_growth(times[0], times[1]),
            shown_growth(times[1], times[2])
        )?;
        out.flush()?;
    }
    Ok(())
}

/// Duration of a check of it; the better of two runs.
fn measured(shape: &Shape, size: usize, folder: &Path) -> io::Result<Option<Duration>> {
    let path = folder.join(shape.file);
    shapes::write(shape, size, &path)?;
    let program = std::env::var_os("MESHDOCTOR").unwrap_or_else(|| env!("CARGO_BIN_EXE_meshdoctor").into());
    let mut best = None;
    for _ in 0..2 {
        match timed(&program, &path, PATIENCE)? {
            None => return Ok(None),
            Some(time) => best = Some(best.map_or(time, |best: Duration| best.min(time))),
        }
    }
    Ok(best)
}
