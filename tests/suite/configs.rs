//! `meshdoctor.toml`: sets flags, is overridden by the command line, and is refused with the line of an
//! unknown key.

use std::path::Path;
use std::process::Command;

use crate::binary::{Ran, meshdoctor, ran};

fn run(folder: &Path, config: &str, words: &[&str]) -> Ran {
    std::fs::write(folder.join("meshdoctor.toml"), config).unwrap();
    ran(meshdoctor(words).current_dir(folder))
}

const MANIFEST: &str = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: report, namespace: shop}\nspec: {template: {metadata: {annotations: {config.linkerd.io/proxy-native-sidecar: \"true\"}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n";

#[test]
fn what_the_file_says_counts_where_the_command_line_says_nothing() {
    let own = tempfile::tempdir().unwrap();
    let below = own.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir(own.path().join("k8s")).unwrap();
    std::fs::write(own.path().join("k8s/job.yaml"), MANIFEST).unwrap();
    let config = "[check]\nlinkerd-version = \"edge-25.4.4\"\nfail-on = \"warning\"\noutput = \"short\"\n";
    let first = run(own.path(), config, &["check", "--manifests", "k8s"]);
    assert_eq!(first.status, 1, "{}", first.text());
    assert!(first.text().contains("warning native-sidecar-key-misspelled Job shop/report"), "{}", first.text());
    // From a subfolder. The command line takes precedence, also to disable a setting.
    let words = ["check", "--manifests", "../../k8s"];
    let from_below = ran(meshdoctor(&words).current_dir(&below));
    assert_eq!(from_below.status, 1, "{}", from_below.text());
    let never = ran(meshdoctor(&[&words[..], &["--fail-on", "never"]].concat()).current_dir(&below));
    assert_eq!(never.status, 0, "{}", never.text());
    // A named file may set everything; its paths are relative to it.
    let named = format!("{config}manifests = [\"k8s\"]\n");
    let named = crate::binary::write(own.path(), "named.toml", &named);
    let elsewhere = tempfile::tempdir().unwrap();
    let named = ran(meshdoctor(&["check", "--config", &named]).current_dir(elsewhere.path()));
    assert_eq!(named.status, 1, "{}", named.text());
    let none = ran(meshdoctor(&["check", "--no-config", "--manifests", "k8s"]).current_dir(own.path()));
    assert_eq!(none.status, 0, "{}", none.text());
    // Settings that conflict with the command line are ignored: --bundle and a set of manifests to apply on
    // top.
    let other = run(
        own.path(),
        "[check]\nwait = \"1m\"\nfail-on = \"warning\"\n",
        &["check", "--manifests", "k8s", "--linkerd-version", "edge-25.4.4"],
    );
    assert_eq!(other.status, 1, "{}", other.text());
    // `config` shows each setting with its line.
    let shown = run(own.path(), config, &["config"]);
    assert!(shown.text().contains("     3  check --fail-on=warning"), "{}", shown.text());
}

#[test]
fn a_check_is_as_bad_as_the_file_says() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("job.yaml"), MANIFEST).unwrap();
    let words = ["check", "--manifests", "job.yaml", "--linkerd-version", "edge-25.4.4", "-o", "short"];
    let worse = run(own.path(), "[severity]\nnative-sidecar-key-misspelled = \"error\"\n", &words);
    assert_eq!(worse.status, 1, "{}", worse.text());
    assert!(worse.text().contains("error native-sidecar-key-misspelled"), "{}", worse.text());
    let lesser = run(
        own.path(),
        "[severity]\nnative-sidecar-key-misspelled = \"info\"\n",
        &[&words[..], &["--fail-on", "warning"]].concat(),
    );
    assert_eq!(lesser.status, 0, "{}", lesser.text());
    // The command line takes precedence.
    let again = run(
        own.path(),
        "[severity]\nnative-sidecar-key-misspelled = \"info\"\n",
        &[&words[..], &["--severity", "native-sidecar-key-misspelled=error"]].concat(),
    );
    assert_eq!(again.status, 1, "{}", again.text());
}

#[test]
fn what_no_command_takes_is_told_by_line() {
    let own = tempfile::tempdir().unwrap();
    for (config, said) in [
        ("[check]\nfail-onn = \"error\"\n", "meshdoctor.toml:2: check has no flag --fail-onn; did you mean fail-on?"),
        ("# x\n[chek]\n", "meshdoctor.toml:2: unknown command chek; did you mean check?"),
        ("fail-on = \"error\"\n", "meshdoctor.toml:1: fail-on is not in a table"),
        ("[check]\n\nfail-on = \"often\"\n", "meshdoctor.toml:3: invalid value 'often'"),
        ("[check]\nfail-on = \"warn\"\n", "[possible values: error, warning, info, never,"),
        (
            "[check]\nskip = [\"viz\", \"control-plane-outdatd\"]\n",
            "meshdoctor.toml:2: --skip: unknown check or category \"control-plane-outdatd\"; did you mean",
        ),
        ("[check]\nquiet = \"yes\"\n", "meshdoctor.toml:2: quiet must be true or false"),
        ("[check]\nonly = {a = 1}\n", "meshdoctor.toml:2: only takes texts"),
        ("[check\n", "meshdoctor.toml:1: "),
        ("[severity]\nnothing-such = \"error\"\n", "meshdoctor.toml:2: unknown check nothing-such"),
        (
            "[params.trust-anchor-expiring]\ndayz = 3\n",
            "meshdoctor.toml:2: trust-anchor-expiring: the check has no parameter dayz; did you mean days?",
        ),
        (
            "[params.trust-anchor-expirin]\ndays = 3\n",
            "meshdoctor.toml:2: unknown check trust-anchor-expirin; did you mean trust-anchor-expiring?",
        ),
        (
            "[params.trust-anchor-expiring]\n\ndays = true\n",
            "meshdoctor.toml:3: trust-anchor-expiring: days must be a whole number",
        ),
        (
            "[params.trust-anchor-expiring]\ndays = 0\n",
            "meshdoctor.toml:2: trust-anchor-expiring: days must be a whole number of days from 1",
        ),
        ("[params.cni-entry-missing]\ndays = 1\n", "meshdoctor.toml:2: cni-entry-missing: the check has no parameters"),
        (
            "[severity]\ninjector-fails-open = 3\n",
            "meshdoctor.toml:2: the severity of injector-fails-open must be a text",
        ),
        // Two settings that conflict, next to one that is only wrong alone.
        (
            "[check]\nsave = \"b\"\nforce = true\nquiet = true\n\nverbose = 1\n",
            "meshdoctor.toml:6: the argument '--quiet' cannot be used with '--verbose[=<LEVEL>]' (line 4)",
        ),
        ("[check]\nskip = [\n  \"viz\",\n  \"cnii\",\n]\n", "meshdoctor.toml:4: --skip: unknown check"),
        ("check.fail-on = \"often\"\n", "meshdoctor.toml:1: invalid value 'often'"),
        ("[check]\n\nwaivers = \"gone.yaml\"\n", "meshdoctor.toml:3: --waivers: cannot read "),
        ("[check]\nbaseline = \"gone.json\"\n", "meshdoctor.toml:2: --baseline: cannot read the report "),
        // Types.
        ("[check]\nkubeconfig = 3\n", "meshdoctor.toml:2: kubeconfig must be a text in quotes"),
        ("[check]\nto = 2.20\n", "meshdoctor.toml:2: to must be a text in quotes"),
        ("[check]\nparallel = \"3\"\n", "meshdoctor.toml:2: parallel must be a whole number without quotes"),
        (
            "[check]\ntimeout = true\n",
            "meshdoctor.toml:2: timeout must be a text such as \"30s\", or a whole number of seconds",
        ),
        ("[check]\nat = 3\n", "meshdoctor.toml:2: at must be a time such as"),
        ("[check]\nfail-on = [\"error\"]\n", "meshdoctor.toml:2: fail-on takes one value, not a list"),
        (
            "[params.trust-anchor-expiring]\ndays = \"30\"\n",
            "meshdoctor.toml:2: trust-anchor-expiring: days must be a number without quotes",
        ),
        ("[check]\noutput = [\"json\", \"yaml\"]\n", "-o json and -o yaml both write to standard output"),
    ] {
        let output = run(own.path(), config, &["check", "--manifests", "."]);
        assert_eq!(output.status, 2, "{config}: {}", output.text());
        assert!(output.text().contains(said), "{config}: {}", output.text());
        // `config` reports the same error.
        let shown = run(own.path(), config, &["config"]);
        assert_eq!(shown.status, 2, "{config}: {}", shown.text());
        assert!(shown.text().contains(said), "{config}: {}", shown.text());
    }
    // A setting that the command line may still complete is not an error of the file.
    let config = "[check]\nfail-on = \"never\"\nforce = true\n";
    let said = "meshdoctor.toml:3: the following required arguments were not provided: --save <PATH>";
    for (command, status) in [("check", 2), ("config", 0)] {
        let output = run(own.path(), config, &[command, "--config", "meshdoctor.toml"]);
        assert_eq!(output.status, status, "{}", output.text());
        assert!(output.text().contains(said), "{}", output.text());
    }
    let missing = ran(meshdoctor(&["check", "--config", "nowhere.toml"]).current_dir(own.path()));
    assert_eq!(missing.status, 2, "{}", missing.text());
}

/// A severity at or above the card's applies to every finding, including those that are info by default. The
/// configuration file acts like the command line.
#[test]
fn what_is_only_an_info_can_be_made_to_count() {
    let own = tempfile::tempdir().unwrap();
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let words = ["check", "--bundle", dump, "--complete", "all", "--only", "injector-fails-open", "-o", "short"];
    let config = "[severity]\ninjector-fails-open = \"error\"\n";
    let raised = run(own.path(), config, &words);
    assert_eq!(raised.status, 1, "{}", raised.text());
    assert!(raised.text().contains("error injector-fails-open"), "{}", raised.text());
    // Below that of the card it is the most: an info stays one.
    let capped = run(own.path(), "[severity]\ninjector-fails-open = \"warning\"\n", &words);
    assert!(capped.text().contains("info injector-fails-open"), "{}", capped.text());
    let shown = run(own.path(), config, &["config"]);
    assert!(
        shown.text().contains("--severity=injector-fails-open=error   (default at most error)"),
        "{}",
        shown.text()
    );
}

/// Custom checks are known to every command, also if the file lists them for `check`.
#[test]
fn checks_of_ones_own_are_known_to_every_command() {
    let own = tempfile::tempdir().unwrap();
    let words = ["new", "workload-without-owner", "--dir", "mine"];
    let new = ran(meshdoctor(&words).current_dir(own.path()));
    assert_eq!(new.status, 0, "{}", new.text());
    let config = "[check]\nchecks = [\"mine\"]\n[params.workload-without-owner]\nlabel = \"owner\"\n";
    for (words, said) in [
        (&["list", "yours"][..], "workload-without-owner"),
        (&["explain", "workload-without-owner"], "label: default team"),
        (&["rbac", "--only", "workload-without-owner"], "deployments"),
        (&["config"], "(default team)"),
    ] {
        let output = run(own.path(), config, words);
        assert_eq!(output.status, 0, "{words:?}: {}", output.text());
        assert!(output.text().contains(said), "{words:?}: {}", output.text());
    }
    // A command's own table takes precedence over that of `check`. A missing card is only reported by
    // commands that need it.
    let none = run(own.path(), "[check]\nchecks = [\"mine\"]\n[list]\nchecks = [\"other\"]\n", &["list"]);
    assert_eq!(none.status, 2, "{}", none.text());
    let version = run(own.path(), "[check]\nchecks = [\"nowhere\"]\n", &["version"]);
    assert_eq!(version.status, 0, "{}", version.text());
    // The command that the report suggests for further reading works as printed.
    std::fs::write(own.path().join("web.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}\n").unwrap();
    let words = ["check", "--no-config", "--checks", "mine", "--only", "yours", "--manifests", "web.yaml"];
    let found = ran(meshdoctor(&words).current_dir(own.path()));
    assert!(found.text().contains("meshdoctor explain workload-without-owner --checks mine"), "{}", found.text());
}

/// A parameter of a built-in check applies to the run, is in the report, and is shown with its default.
#[test]
fn a_built_in_check_is_set_anew() {
    let own = tempfile::tempdir().unwrap();
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let config = "[params.trust-anchor-expiring]\ndays = 90\n";
    let words = [
        "check",
        "--bundle",
        dump,
        "--complete",
        "all",
        "--at",
        "2035-08-16T10:00:00Z",
        "--only",
        "trust-anchor-expiring",
        "--fail-on",
        "warning",
        "-o",
        "json",
    ];
    let set = run(own.path(), config, &words);
    assert_eq!(set.status, 1, "{}", set.text());
    let set = set.document();
    assert_eq!(set["checks"][0]["params"]["days"], 90);
    assert_eq!(set["run"]["asked"]["params"]["trust-anchor-expiring"]["days"], 90);
    let verify = &set["findings"][0]["remedy"]["verify"];
    assert!(verify.to_string().contains("--param trust-anchor-expiring.days=90"), "{verify}");
    // The command line counts before the file, parameter by parameter.
    let said = run(own.path(), config, &[&words[..], &["--param", "trust-anchor-expiring.days=60"]].concat());
    assert_eq!(said.status, 0, "{}", said.text());
    assert_eq!(said.document()["checks"][0]["params"]["days"], 60);
    let shown = run(own.path(), config, &["config"]);
    assert!(shown.text().contains("--param=trust-anchor-expiring.days=90   (default 60 days)"), "{}", shown.text());
}

/// A found file, a command line that it adds to, and the line of the refusal.
const REFUSED: [(&str, &[&str], usize); 39] = [
    ("[check]\nmanifests = [\"job.yaml\"]\n", &["check", "--kubeconfig", "none"], 2),
    ("[check]\nwith = [\"job.yaml\"]\n", &["check"], 2),
    ("[check]\nchart = \"linkerd-viz\"\nvalues = [\"job.yaml\"]\n", &["check"], 2),
    ("[check]\ncrds = true\n", &["check"], 2),
    ("[check]\npre = true\n", &["check"], 2),
    ("[check]\nkubeconfig = \"kc.yaml\"\n", &["check"], 2),
    ("[check]\ncontext = [\"prod\"]\n", &["check"], 2),
    ("[check]\nall-contexts = true\n", &["check"], 2),
    ("[check]\nas = \"root\"\n", &["check"], 2),
    ("[check]\nprobe = true\n", &["check"], 2),
    ("[check]\nlinkerd-cli = \"./linkerd\"\n", &["check"], 2),
    ("[check]\nfail-on = \"never\"\n", &["check"], 2),
    ("[check]\nfail-on = \"error:observed\"\n", &["check"], 2),
    ("[check]\nfail-on = \"warning:observed\"\n", &["check"], 2),
    ("[check]\nfail-on = \"error\"\n", &["check", "--verify", "report.json"], 2),
    ("[check]\non-not-checked = \"pass\"\n", &["check"], 2),
    ("[check]\nconfidence = \"observed\"\n", &["check"], 2),
    ("[check]\nskip = [\"x\"]\nat = 2020-01-01T00:00:00Z\n", &["check", "--manifests", "job.yaml"], 3),
    ("[check]\nbundle = \"job.yaml\"\n", &["check"], 2),
    ("[check]\nnodes = \"job.yaml\"\n", &["check"], 2),
    ("[check]\nverify = \"job.yaml\"\n", &["check"], 2),
    ("[check]\nknowledge = \"knowledge\"\n", &["check"], 2),
    ("[check]\npublish = true\n", &["check"], 2),
    ("[check]\nquiet = true\n", &["check"], 2),
    ("[check]\nsave = \"bundle.tar.gz\"\n", &["check"], 2),
    ("[check]\nchecks = [\"/etc\"]\n", &["check"], 2),
    ("[check]\nchecks = [\"own:/etc\"]\n", &["list"], 2),
    ("[check]\nwaivers = \"../waivers.yaml\"\n", &["check"], 2),
    ("[check]\nbaseline = \"pipe\"\n", &["check"], 2),
    ("[check]\nchecks = [\n  \"job.yaml\",\n  \"link/passwd\",\n]\n", &["check"], 4),
    ("[collect]\nnode-pods = true\nyes = true\n", &["collect", "-o", "x.tar.gz"], 2),
    ("[collect]\nnode-image = \"evil\"\n", &["collect", "--node-pods", "-o", "x.tar.gz"], 2),
    ("[check]\nforce = true\n", &["check", "--save", "x.tar.gz"], 2),
    ("[ticket]\nforce = true\n", &["ticket", "-o", "x.tar.gz"], 2),
    ("[new]\ndir = \".git/hooks\"\n", &["new", "own-check"], 2),
    ("[new]\ndir = \".github/workflows\"\n", &["new", "own-check"], 2),
    ("[new]\ndir = \"../other\"\n", &["new", "own-check"], 2),
    ("[rbac]\nuser = \"mallory\"\n", &["rbac"], 2),
    ("[node-snapshot]\nroot = \"/\"\n", &["node-snapshot", "-o", "x.tar.gz"], 2),
];

#[test]
fn found_file_chooses_no_cluster_program_or_output() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("job.yaml"), MANIFEST).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", own.path().join("link")).unwrap();
    #[cfg(unix)]
    assert!(Command::new("mkfifo").arg(own.path().join("pipe")).status().unwrap().success());
    for (config, words, line) in REFUSED {
        let ran = run(own.path(), config, words);
        assert_eq!(ran.status, 2, "{config}{}", ran.text());
        let place = format!("error: meshdoctor.toml:{line}: a file that was found cannot set --");
        assert!(ran.err.contains(&place), "{config}{}", ran.err);
        assert!(ran.err.contains("--config meshdoctor.toml, otherwise --no-config"), "{config}{}", ran.err);
        let shown = run(own.path(), config, &["config"]);
        let to_verify = words.contains(&"--verify");
        assert_eq!(shown.status, if to_verify { 0 } else { 2 }, "{config}{}", shown.text());
    }
}

#[test]
fn found_file_writes_reports_into_its_own_folder_only() {
    let own = tempfile::tempdir().unwrap();
    let below = own.path().join("repository/below");
    std::fs::create_dir_all(below.join(".git/hooks")).unwrap();
    std::fs::write(own.path().join("repository/job.yaml"), MANIFEST).unwrap();
    std::fs::write(own.path().join("precious"), "precious").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(own.path(), below.join("up")).unwrap();
        std::os::unix::fs::symlink(own.path().join("precious"), below.join("file")).unwrap();
    }
    let precious = own.path().join("precious").display().to_string();
    let check = |file: &str| {
        let config = format!("[check]\noutput = \"json={file}\"\n");
        std::fs::write(own.path().join("repository/meshdoctor.toml"), config).unwrap();
        ran(meshdoctor(&["check", "--manifests", "../job.yaml"]).current_dir(&below))
    };
    let refused = [
        precious.as_str(),
        "../../precious",
        "up/precious",
        "up/new",
        "file",
        ".git/hooks/pre-commit",
        "none/../../../precious",
        "/dev/stdout",
        "package.json",
    ];
    std::fs::write(below.join("package.json"), "{\"name\": \"shop\"}").unwrap();
    for file in refused {
        let ran = check(file);
        assert_eq!(ran.status, 2, "{file} {}", ran.text());
        assert!(ran.err.contains("meshdoctor.toml:2: a file that was found cannot set"), "{file} {}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(own.path().join("precious")).unwrap(), "precious");
    assert!(!own.path().join("new").exists());
    // A report of an earlier run is overwritten.
    for file in ["report.json", "../report.json", "report.json"] {
        let ran = check(file);
        assert_eq!(ran.status, 0, "{file} {}", ran.text());
        assert!(below.join(file).is_file(), "{file}");
    }
}

#[test]
fn named_file_says_everything() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("job.yaml"), MANIFEST).unwrap();
    let config = "[check]\nmanifests = \"job.yaml\"\nlinkerd-version = \"edge-25.4.4\"\nfail-on = \"never\"\n";
    let file = crate::binary::write(own.path(), "own.toml", config);
    let words = ["check", "-o", "json"];
    let by_flag = ran(meshdoctor(&[&words[..], &["--config", &file]].concat()).current_dir(own.path()));
    let by_variable = ran(meshdoctor(&words).env("MESHDOCTOR_CONFIG", &file).current_dir(own.path()));
    for ran in [by_flag, by_variable] {
        assert_eq!(ran.status, 0, "{}", ran.text());
        let config = &ran.document()["run"]["config"];
        assert_eq!(config["named"], true);
        assert_eq!(config["file"], file);
        assert_eq!(config["gate"], serde_json::json!(["manifests", "linkerd-version", "fail-on"]));
    }
    let ignored = ran(meshdoctor(&["check", "--no-config", "--manifests", "job.yaml"])
        .env("MESHDOCTOR_CONFIG", "/nonexistent")
        .current_dir(own.path()));
    assert_eq!(ignored.status, 0, "{}", ignored.text());
}

#[test]
fn each_run_reports_the_file_that_it_used() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("job.yaml"), MANIFEST).unwrap();
    let config = "[check]\nlinkerd-version = \"edge-25.4.4\"\nskip = [\"annotation-unknown\"]\noutput = \"short\"\n\n[explain]\noutput = \"json\"\n";
    let check = |words: &[&str]| run(own.path(), config, &[&["check", "--manifests", "job.yaml"], words].concat());
    let checked = check(&["-o", "json"]);
    let said = "meshdoctor.toml (found; --no-config ignores it) sets --linkerd-version, --skip";
    assert!(checked.err.lines().any(|line| line == said), "{}", checked.err);
    let document = checked.document();
    assert_eq!(document["run"]["config"]["settings"], serde_json::json!(["linkerd-version", "skip"]));
    assert_eq!(document["run"]["config"]["named"], false);
    // The result names the file also if standard error is silent.
    let table = check(&["-q", "-o", "table"]);
    assert!(table.err.is_empty(), "{}", table.err);
    let result = table.out.split("result").last().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(result.contains("(meshdoctor.toml sets --linkerd-version, --skip)"), "{}", table.out);
    for format in
        ["short", "sarif", "html", "gitlab", "prometheus", "linkerd-table", "json", "markdown", "github", "ndjson"]
    {
        let shown = check(&["-q", "-o", format]);
        let names = shown.out.contains("meshdoctor.toml") && shown.out.contains("skip");
        assert!(names, "{format}: {}", shown.out);
    }
    let explained = run(own.path(), config, &["explain", "annotation-unknown"]);
    assert!(explained.err.contains("sets --output"), "{}", explained.err);
    // A file without a part in the run is not mentioned.
    let listed = run(own.path(), config, &["list"]);
    assert!(listed.err.is_empty(), "{}", listed.err);
}

#[cfg(unix)]
#[test]
fn found_file_that_others_can_write_is_refused() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("meshdoctor.toml");
    let refused = |why: &str| {
        for words in [&["check"][..], &["list"], &["config"]] {
            let ran = ran(meshdoctor(words).current_dir(own.path()));
            assert_eq!(ran.status, 2, "{}", ran.text());
            assert!(ran.err.contains(&format!("meshdoctor.toml: this file was found rather than named, and {why}")));
            assert!(ran.err.contains("--config meshdoctor.toml"), "{}", ran.err);
        }
    };
    std::fs::write(&file, "[check]\nskip = [\"annotation-unknown\"]\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    refused("every user can write it");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(ran(meshdoctor(&["list"]).current_dir(own.path())).status, 0);
    if chown(&file, Some(65_534), None).is_err() {
        crate::skip::skipped(crate::skip::Need::OtherUser, "only root can give a file to another user");
        return;
    }
    refused("it belongs to another user (uid 65534");
    assert_eq!(ran(meshdoctor(&["list", "--config", "meshdoctor.toml"]).current_dir(own.path())).status, 0);
    // A link of another user to a file of root.
    std::fs::rename(&file, own.path().join("other.toml")).unwrap();
    chown(own.path().join("other.toml"), Some(0), None).unwrap();
    symlink("other.toml", &file).unwrap();
    std::os::unix::fs::lchown(&file, Some(65_534), None).unwrap();
    refused("it belongs to another user (uid 65534");
}

#[test]
fn numbers_have_no_quotes() {
    let own = tempfile::tempdir().unwrap();
    for (setting, said) in [
        ("max-proxies = 2000", "a file that was found cannot set --max-proxies=2000"),
        ("max-proxies = \"2000\"", "meshdoctor.toml:2: max-proxies must be a whole number without quotes"),
        ("max-proxies = 70000", "meshdoctor.toml:2: "),
    ] {
        let ran = run(own.path(), &format!("[check]\n{setting}\n"), &["check", "--proxies"]);
        assert!(ran.status == 2 && ran.err.contains(said), "{setting} {}", ran.text());
    }
    let named = crate::binary::write(own.path(), "named.toml", "[check]\nmax-proxies = 2000\n");
    let shown = ran(meshdoctor(&["config", "--config", &named]).current_dir(own.path()));
    assert!(shown.status == 0 && shown.text().contains("--max-proxies=2000"), "{}", shown.text());
}
