//! Printed commands can be pasted: every command of every card, demo and node set runs in real shells in
//! which only stand-ins exist that record their arguments. Each runs once unchanged, and once with every
//! inserted text replaced by one that contains all special characters of a shell: nothing else may run,
//! arguments arrive whole, and no argument becomes an option. Our own command line parses our own commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command as Process, Stdio};

use meshdoctor::checks;
use meshdoctor::command::{Command, Line, kubectl, linkerd, program};

use crate::skip::{Need, skipped};
use crate::{case, corpus, stories};

/// A text that starts like an option, and would run `touch` if any part of it were interpreted.
const HOSTILE: &str = "-AAA $(touch x) `touch x` ' ; touch x ; \" $HOME \\ & touch x | <y> {a,b} * ~ !!\n touch x #ZZZ";
/// The start of the hostile text in every remaining piece.
const MARK: &str = "AAA";
/// Between arguments, and behind the last one of a call.
const ARGUMENT: char = '\u{1f}';
const CALL: char = '\u{1e}';

/// Programs that a command may run; each is replaced by a stand-in.
const PROGRAMS: [&str; 47] = [
    "aws",
    "install",
    "base64",
    "kubectl",
    "linkerd",
    "helm",
    "meshdoctor",
    "jq",
    "step",
    "curl",
    "cmctl",
    "argocd",
    "flux",
    "gcloud",
    "sh",
    "sed",
    "grep",
    "head",
    "tail",
    "cp",
    "mv",
    "rm",
    "cat",
    "ls",
    "sort",
    "modprobe",
    "openssl",
    "sleep",
    "awk",
    "cut",
    "tr",
    "date",
    "systemctl",
    "touch",
    "env",
    "timedatectl",
    "chmod",
    "sysctl",
    "vi",
    "journalctl",
    "chronyc",
    "crictl",
    "iptables",
    "mount",
    "ln",
    "mkdir",
    "talosctl",
];

/// A program as it was run: its name, then its arguments.
type Ran = Vec<String>;

/// Every command that the cards, demos and node sets print, and its origin.
fn commands() -> BTreeMap<Command, String> {
    let mut commands = BTreeMap::new();
    for check in checks::all() {
        for case in check.cases() {
            let result = case::live(check, case).judge(check);
            let place = format!("{} / {}", check.id, case.title);
            let remedies = result.findings.iter().flat_map(|finding| finding.remedy.commands().cloned());
            let closes = result.gaps.iter().filter_map(|gap| gap.close().command);
            for command in remedies.chain(closes) {
                commands.entry(command).or_insert_with(|| place.clone());
            }
        }
    }
    for (name, report) in stories::demos().into_iter().chain(corpus::judged()) {
        let findings = report.findings.iter();
        let remedies = findings.flat_map(|finding| finding.remedy.commands().cloned());
        let closes = report.coverage.gaps.iter().filter_map(|gap| gap.close.command.clone());
        for command in remedies.chain(closes) {
            commands.entry(command).or_insert_with(|| name.clone());
        }
    }
    assert!(commands.len() > 300, "only {} commands", commands.len());
    commands
}

/// A shell in which nothing exists but what records that it was run.
fn harness(placeholders: &BTreeSet<&'static str>) -> String {
    // One write per call, because the programs of a pipe run concurrently. bash writes at each line break, so
    // the text has none.
    let mut script = String::from(
        "PATH=/nonexistent\nUS=$(printf '\\037') RS=$(printf '\\036') FS=$(printf '\\034') NL='\n'\n\
         run() { RUN=; for ARG in \"$@\"; do RUN=$RUN$ARG$US; done; REST=$RUN$RS; RUN=\n\
         while :; do case \"$REST\" in *\"$NL\"*) RUN=$RUN${REST%%\"$NL\"*}$FS; REST=${REST#*\"$NL\"};; *) break;; esac; done\n\
         printf '%s' \"$RUN$REST\" >> \"$RECORD\"; }\n",
    );
    for name in PROGRAMS {
        script.push_str(&format!("{name}() {{ run {name} \"$@\"; answer \"$@\"; }}\n"));
    }
    // The command for a node's shell runs too; the version of a command is the answer to a guard.
    script.push_str(
        "answer() { while [ $# -gt 0 ]; do case \"$1\" in --short) printf '%s' \"$TEXT\"; return;; -c) if [ \"$LAST\" = sh ]; then \
         ( LAST=; eval \"$2\" ) || exit 9; return; fi;; esac; LAST=$1; shift; done; }\n",
    );
    for name in placeholders {
        script.push_str(&format!("{name}=somewhere\n"));
    }
    script.push_str("for FILE in \"$COMMANDS\"/*; do printf '%s\\035' \"${FILE##*/}\" >> \"$RECORD\"; ( . \"$FILE\" ) </dev/null; done\n");
    script
}

/// The programs that each command runs in a shell, and the shell's errors.
fn pasted(shell: &str, commands: &[String], placeholders: &BTreeSet<&'static str>) -> (Vec<Vec<Ran>>, String) {
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("commands");
    std::fs::create_dir(&lines).unwrap();
    for (at, command) in commands.iter().enumerate() {
        std::fs::write(lines.join(format!("{at:05}")), format!("{command}\n")).unwrap();
    }
    let record = folder.path().join("record");
    let script = folder.path().join("harness");
    std::fs::write(&script, harness(placeholders)).unwrap();
    let ran = Process::new(shell)
        .arg(&script)
        .current_dir(folder.path())
        .env("RECORD", &record)
        .env("COMMANDS", &lines)
        .env("TEXT", HOSTILE)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{shell}: {error}"));
    let record = std::fs::read_to_string(&record).unwrap().replace('\u{1c}', "\n");
    let mut each: Vec<Vec<Ran>> = Vec::new();
    let mut rest = record.as_str();
    for at in 0..commands.len() {
        let start = format!("{at:05}\u{1d}");
        rest =
            rest.strip_prefix(&start).unwrap_or_else(|| panic!("{shell} ran something between commands, before {at}"));
        let end = rest.find(&format!("{:05}\u{1d}", at + 1)).unwrap_or(rest.len());
        let calls = rest[..end].split_terminator(CALL);
        each.push(calls.map(|call| call.split_terminator(ARGUMENT).map(str::to_owned).collect()).collect());
        rest = &rest[end..];
    }
    assert!(!Path::new(&folder.path().join("x")).exists(), "{shell}: a file was made");
    (each, String::from_utf8_lossy(&ran.stderr).into_owned())
}

/// The error in a program's call, if any.
fn wrong(ran: &Ran) -> Option<String> {
    if ran[0] == "touch" {
        return Some("a piece of a text was run".to_owned());
    }
    let script = ran.windows(2).position(|two| two == ["sh", "-c"]).map(|at| at + 2);
    let mut behind_options = false;
    for (at, argument) in ran.iter().enumerate().skip(1) {
        behind_options |= argument == "--";
        if Some(at) == script {
            continue;
        }
        if argument.matches(MARK).count() != argument.matches(&HOSTILE[1..]).count() {
            return Some(format!("an argument did not arrive whole: {argument:?}"));
        }
        if argument.starts_with(HOSTILE) && !behind_options && !ran[at - 1].starts_with('-') {
            return Some("a text is taken for an option".to_owned());
        }
    }
    None
}

#[test]
fn every_command_can_be_pasted_whatever_names_hold() {
    let told = commands();
    let placeholders: BTreeSet<&str> = told.keys().flat_map(Command::placeholders).collect();
    let plain: Vec<String> = told.keys().map(ToString::to_string).collect();
    // No node's name begins like an option: evidence under such a name is refused.
    let nodes: BTreeSet<&str> = told.keys().filter_map(Command::node).collect();
    let worse = |text: &str| if nodes.contains(text) { &HOSTILE[1..] } else { HOSTILE }.to_owned();
    let hostile: Vec<String> = told.keys().map(|command| command.clone().retold(&worse).to_string()).collect();
    let mut faults = BTreeSet::new();
    for shell in ["sh", "bash", "dash"] {
        for commands in [&plain, &hostile] {
            let (each, complaints) = pasted(shell, commands, &placeholders);
            for ((ran, command), place) in each.iter().zip(commands).zip(told.values()) {
                for ran in ran {
                    if let Some(wrong) = wrong(ran) {
                        faults.insert(format!("{shell}: {place}: {wrong}\n{command}\nran {ran:?}"));
                    }
                }
            }
            for complaint in ["not found", "option", "usage", "yntax error", "parameter", "unbound", "Bad ", "expected"]
            {
                assert!(!complaints.contains(complaint), "{shell} says:\n{complaints}");
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn our_own_commands_are_read_by_our_own_command_line() {
    use clap::Parser as _;
    let told = commands();
    let placeholders: BTreeSet<&str> = told.keys().flat_map(Command::placeholders).collect();
    let plain: Vec<String> = told.keys().map(ToString::to_string).collect();
    let (each, _) = pasted("sh", &plain, &placeholders);
    let mut ours = 0;
    for (ran, place) in each.iter().zip(told.values()) {
        for words in ran.iter().filter(|ran| ran[0] == "meshdoctor") {
            ours += 1;
            if let Err(error) = meshdoctor::cli::args::Cli::try_parse_from(words) {
                panic!("{place}: {words:?}\n{error}");
            }
        }
    }
    assert!(ours > 100, "only {ours}");
}

/// Texts that fish splits if they are only quoted for `sh`, and others that a name of a cluster or file can
/// contain.
const NAMES: [&str; 12] = [
    r"\';touch P;#",
    r"\\';touch P;#",
    r"\",
    r"\\\",
    "'",
    "it's",
    "a\\'\n;touch P;\u{200b}#",
    "(touch P)",
    "$(touch P)",
    "%self",
    "a\u{1b}[31m\\'b%c",
    r"{.data.ca\.crt}",
];

#[test]
fn commands_mean_the_same_in_fish() {
    if Process::new("fish").arg("--version").output().is_err() {
        return skipped(Need::Fish, "hostile names in commands that fish runs");
    }
    for shell in ["fish", "sh"] {
        let folder = tempfile::tempdir().unwrap();
        for name in NAMES {
            let command = Command::from(program("printf").arg("%s").operand(name)).to_string();
            let mut run = Process::new(shell);
            let ran =
                run.args(["-c", &command]).current_dir(folder.path()).env("HOME", folder.path()).output().unwrap();
            assert!(ran.status.success(), "{shell}: {command}");
            assert_eq!(String::from_utf8_lossy(&ran.stdout), name, "{shell}: {command}");
        }
        assert!(!folder.path().join("P").exists(), "{shell}");
    }
}

#[test]
fn guarded_pipeline_runs_only_with_its_cli() {
    let folder = tempfile::tempdir().unwrap();
    let programs = [
        ("linkerd", "if [ \"$1\" = version ]; then echo edge-25.4.4; else echo manifests; fi"),
        ("kubectl", "echo \"$@ $(cat)\" >> applied"),
    ];
    for (name, script) in programs {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let search = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    for shell in ["sh", "bash", "dash", "zsh", "fish"] {
        match Process::new(shell).args(["-c", "true"]).output() {
            Ok(_) => {}
            Err(_) if shell == "fish" => {
                skipped(Need::Fish, "a guarded pipeline in fish");
                continue;
            }
            // The others prove the same; most Linux machines lack zsh.
            Err(_) => continue,
        }
        for (release, applied) in [("edge-25.4.4", Some("apply -f - manifests\n")), ("edge-25.4.5", None)] {
            let upgrade = linkerd().words("upgrade").pipe(kubectl().words("apply -f -"));
            let command = Command::from(Line::only_with_cli(release, upgrade)).to_string();
            let mut run = Process::new(shell);
            run.args(["-c", &command]).current_dir(folder.path()).stdin(Stdio::null());
            let ran = run.env("PATH", &search).env("HOME", folder.path()).output().unwrap();
            let file = folder.path().join("applied");
            assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), applied, "{shell}: {command}: {ran:?}");
            assert_eq!(ran.status.success(), applied.is_some(), "{shell}: {command}");
            let printed = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(printed.contains("edge-25.4.4"), applied.is_some(), "{shell}: {command}: {printed}");
            _ = std::fs::remove_file(file);
        }
    }
}
