//! One server process that never outlives the test that started it.
//!
//! The program runs under a small shell that kills it as soon as its own standard input ends. Only this
//! process holds that pipe, so it ends when the value is dropped, when a test panics, and when the whole run
//! is killed with SIGKILL. A parent-death signal would follow the thread of one test instead of the process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

const KEEPER: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ cat <&3 >/dev/null; kill -KILL $child 2>/dev/null; } &
keeper=$!
exec 3<&-
wait $child
status=$?
kill $keeper 2>/dev/null
exit $status
"#;

/// A running server, its log, and the pipe whose end is its end.
#[derive(Debug)]
pub struct Process {
    name: String,
    shell: Child,
    held: Option<ChildStdin>,
    log: PathBuf,
}

impl Process {
    /// Starts `program` with its own environment; its output goes to `<folder>/<name>.log`.
    pub fn start(name: &str, program: &Path, arguments: &[String], folder: &Path) -> Process {
        let log = folder.join(format!("{name}.log"));
        let output = File::create(&log).unwrap();
        let mut shell = Command::new("/bin/sh")
            .args(["-c", KEEPER, "sh"])
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            // Neither a proxy nor a configuration of the user may reach the servers.
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder)
            .stdin(Stdio::piped())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("starting {name}: {error}"));
        let held = shell.stdin.take();
        Process { name: name.to_owned(), shell, held, log }
    }

    /// The last lines of its log, if it has ended on its own.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.shell.try_wait().unwrap()?;
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        Some(format!("{} ended ({status}):\n{}", self.name, lines[lines.len().saturating_sub(15)..].join("\n")))
    }

    /// Ends it at once, as a power failure would.
    pub fn kill(&mut self) {
        drop(self.held.take());
        let _ = self.shell.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
