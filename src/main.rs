//! The `meshdoctor` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(meshdoctor::cli::main(std::env::args_os()))
}
