//! Runs the real binary in its own environment, with the files that it reads, and captures its output.

use std::borrow::BorrowMut;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The binary without the caller's environment.
pub fn meshdoctor(args: &[&str]) -> Command {
    called(env!("CARGO_BIN_EXE_meshdoctor"), args)
}

/// The binary at another path, such as a link to it, without the caller's environment.
pub fn called(program: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).env_clear().env("HOME", "/nonexistent").env("PATH", "/nonexistent").stdin(Stdio::null());
    command
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs a command to its end.
#[track_caller]
pub fn ran(mut command: impl BorrowMut<Command>) -> Ran {
    command.borrow_mut().output().unwrap().into()
}

/// Runs a command that ends with this status.
#[track_caller]
pub fn ran_to(exit: i32, mut command: impl BorrowMut<Command>) -> Ran {
    let command = command.borrow_mut();
    let ran = ran(&mut *command);
    assert_eq!(ran.status, exit, "{command:?}\n{}\n{}", ran.out, ran.err);
    ran
}

impl From<Output> for Ran {
    #[track_caller]
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// Everything that it printed, standard output first.
    pub fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// The document on standard output.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}\n{}\n{}", self.out, self.err))
    }
}

/// Writes a file, and the folders that it is in; gives its path as a command line takes it.
pub fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Metrics as `linkerd diagnostics proxy-metrics` prints them, with the comments of families and one that every proxy
/// exports: without them, a text is only a part of the metrics.
pub fn whole_metrics(text: &str) -> String {
    let (mut whole, mut last, mut begins) = (String::new(), "", false);
    for line in text.lines() {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        begins |= line.starts_with("# POD ");
        if !line.starts_with('#') && !name.is_empty() {
            if begins {
                whole += "# TYPE stack_create_total counter\nstack_create_total{name=\"x\"} 1\n";
                begins = false;
            }
            if last != name {
                whole += &format!("# TYPE {name} gauge\n");
            }
        }
        last = name;
        whole += &format!("{line}\n");
    }
    whole
}
