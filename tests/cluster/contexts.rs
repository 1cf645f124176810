//! One kubeconfig with several clusters: only the selected one is accessed.

use serde_json::{Value, json};

use crate::doctor::Doctor;
use crate::harness::kubeconfig::{ADMIN, Context};
use crate::harness::{Cluster, Options};

#[test]
fn the_context_that_is_named_is_asked() {
    let versions = ["v1.31.5-eks-abcdef0", "v1.33.4-gke.1234000"];
    let [east, west] = versions.map(|version| Options::still().presenting(version));
    let Some((east, west)) = Cluster::start_two(east, west) else { return };
    let doctor = Doctor::with(&[("east", east.context(ADMIN)), ("west", west.context(ADMIN))]);
    let check = |words: &[&str]| doctor.check(&[&["--linkerd-cli", "none"], words].concat());

    for (words, context, version) in [
        (&[][..], "east", versions[0]),
        (&["--context", "east"], "east", versions[0]),
        (&["--context", "west"], "west", versions[1]),
    ] {
        let ran = check(words);
        let subject = ran.document.subject.as_ref().unwrap();
        assert_eq!(subject.versions.kubernetes.as_deref(), Some(version), "{words:?}");
        assert_eq!(ran.document.origin.as_ref().map(|origin| origin.name.as_str()), Some(context));
        // Neither cluster has a mesh, which is reported.
        assert!(ran.found().iter().any(|line| line.starts_with("error control-plane-missing")), "{:?}", ran.found());
        assert_eq!(ran.status, 1);
    }

    // Both in one run, with one that does not answer.
    let nowhere = Context::new("https://127.0.0.1:1", "", ADMIN);
    let fleet = Doctor::with(&[("east", east.context(ADMIN)), ("west", west.context(ADMIN)), ("gone", nowhere)]);
    let words = ["check", "--kubeconfig", "kubeconfig", "--all-contexts", "--linkerd-cli", "none", "-o", "json"];
    let said = fleet.words(&words);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((&said["schema"], &said["status"]), (&json!("meshdoctor.fleet/1"), &json!(1)));
    for (at, (name, status)) in [("east", 1), ("west", 1), ("gone", 3)].into_iter().enumerate() {
        let cluster = &said["clusters"][at];
        assert_eq!((&cluster["name"], &cluster["status"]), (&json!(name), &json!(status)), "{cluster}");
        if status == 1 {
            assert_eq!(cluster["report"]["subject"]["versions"]["kubernetes"], versions[at], "{name}");
        }
    }

    // A CLI version from a flag is reported even if no selected check needs it, live and in the bundle.
    let flag = ["--context", "west", "--linkerd-cli", "edge-25.4.4"];
    let ran = doctor.check_twice(&flag, &["--only", "control-plane-missing"]);
    assert_eq!(ran.document.subject.unwrap().versions.cli.as_deref(), Some("edge-25.4.4"));

    let unknown = check(&["--context", "wets"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("\"wets\" does not exist; did you mean \"west\"?"), "{}", unknown.stderr);

    drop(east);
    let gone = check(&[]);
    assert_eq!(gone.status, 3);
    // One line of cause, one of what to do.
    let lines: Vec<&str> = gone.stderr.lines().collect();
    assert!(matches!(lines[..], [cause, next] if cause.starts_with("error: ") && next.starts_with("  ")), "{lines:?}");
    assert!(lines[0].contains("127.0.0.1"), "{lines:?}");
    assert_eq!(check(&["--context", "west"]).status, 1, "the other one is still there");
}
