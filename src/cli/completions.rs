//! `meshdoctor completions`: prints the scripts that are checked in under `completions/`, so that packages and the
//! binary have the same.

use super::args::{Completions, Shell};
use super::output;

pub(super) fn run(args: &Completions) -> anyhow::Result<u8> {
    output::print(match args.shell {
        Shell::Bash => include_str!("../../completions/meshdoctor.bash"),
        Shell::Zsh => include_str!("../../completions/meshdoctor.zsh"),
        Shell::Fish => include_str!("../../completions/meshdoctor.fish"),
        Shell::Powershell => include_str!("../../completions/meshdoctor.ps1"),
        Shell::Elvish => include_str!("../../completions/meshdoctor.elv"),
    })
}
