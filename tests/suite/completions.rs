//! What the completion script offers in a real shell: bash, which tests can drive without a terminal.

use std::process::Command;

/// What bash offers for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = folder.path().join("kubectl");
    std::fs::write(
        &kubectl,
        "#!/bin/sh\n[ \"$*\" = 'config get-contexts -o name' ] && printf 'west\\neast\\n$HOME\\n'\n",
    )
    .unwrap();
    let mut mode = std::fs::metadata(&kubectl).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&kubectl, mode).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let script = "source completions/meshdoctor.bash; COMP_WORDS=(meshdoctor \"$@\"); COMP_CWORD=$#
        _meshdoctor meshdoctor \"${COMP_WORDS[$#]}\" \"${COMP_WORDS[$#-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash"])
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_offers_checks_categories_demos_forms_and_contexts() {
    assert_eq!(offered(&["explain", "pod-missing-p"]), ["pod-missing-proxy"]);
    assert!(offered(&["explain", ""]).len() > 100);
    assert_eq!(offered(&["check", "--only", "pod-missing-p"]), ["pod-missing-proxy"]);
    assert_eq!(offered(&["check", "--skip", "cni,pod-missing-p"]), ["cni,pod-missing-proxy"]);
    let category = "multicluster".to_owned();
    assert!(offered(&["check", "--only", "multicl"]).contains(&category));
    assert!(offered(&["list", "multicl"]).contains(&category));
    assert!(!offered(&["explain", "multicl"]).contains(&category), "a category has no page");
    assert_eq!(offered(&["demo", "cni-e"]), ["cni-exit-127"]);
    assert_eq!(offered(&["check", "-o", "sar"]), ["sarif"]);
    assert_eq!(
        offered(&["check", "--context", ""]),
        ["west", "east", "$HOME"],
        "names are no text of the shell"
    );
    assert_eq!(offered(&["check", "--context", "we"]), ["west"]);
    assert_eq!(offered(&["check", "--only", "no-such"]), Vec::<String>::new());
}

#[test]
fn no_script_holds_what_stands_for_something() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/completions")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["__LISTED__", "__CHECK__", "__CONTEXT__"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}
