//! Reports as they are read: by people at 80 and 200 columns, by grep, by programs. The texts are golden files; the
//! rules that hold for every text are tests of their own.

use meshdoctor::render::{self, Look};

use crate::golden;
use crate::samples;

#[test]
fn people_read_these() {
    for (name, report) in samples::all() {
        for width in [80, 200] {
            let text = render::table::report(&report, Look::plain(width));
            golden::check(&format!("tests/suite/golden/{name}.{width}.txt"), &text);
        }
    }
    let look = Look { width: 100, colour: false, verbose: true };
    golden::check(
        "tests/suite/golden/bad-night.verbose.txt",
        &render::table::report(&samples::bad_night(), look),
    );
}
