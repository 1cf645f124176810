//! The completion script in a real shell: bash, which tests can run without a terminal.

use std::process::Command;

/// A kubectl with three contexts, and the namespaces and objects of one cluster.
const KUBECTL: &str = r#"#!/bin/sh
case "$*" in
'config get-contexts -o name') printf 'west\neast\n$HOME\n' ;;
*'--context=hangs'*'get namespaces'*) exec sleep 60 ;;
*'--context=west'*'get namespaces'*) printf 'west-only\n' ;;
*'config view'*) printf '\nshop\n$(reboot)\n' ;;
*'get namespaces'*) printf 'linkerd\nshop\nshop-eu\n-x\n' ;;
*'-n shop get '*) printf 'web\nweb-5d9f\n`id`\n' ;;
esac
"#;

/// The completions of bash for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = folder.path().join("kubectl");
    std::fs::write(&kubectl, KUBECTL).unwrap();
    let mut mode = std::fs::metadata(&kubectl).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&kubectl, mode).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let script = "source completions/meshdoctor.bash; COMP_WORDS=(meshdoctor \"$@\"); COMP_CWORD=$#
        _meshdoctor_complete meshdoctor \"${COMP_WORDS[$#]}\" \"${COMP_WORDS[$#-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash"])
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    String::from_utf8_lossy(&output.stdout).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
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
    assert_eq!(offered(&["check", "--context", ""]), ["west", "east", "$HOME"], "names are not evaluated by the shell");
    assert_eq!(offered(&["check", "--context", "we"]), ["west"]);
    assert_eq!(offered(&["check", "--only", "no-such"]), Vec::<String>::new());
}

#[test]
fn bash_offers_namespaces_and_what_is_in_them() {
    assert_eq!(offered(&["check", "-n", ""]), ["linkerd", "shop", "shop-eu"]);
    assert_eq!(offered(&["check", "--namespace", "shop,li"]), ["shop,linkerd"]);
    assert_eq!(offered(&["ticket", "-n", "shop-"]), ["shop-eu"]);
    assert_eq!(offered(&["reach", "--matrix", "-n", "sh"]), ["shop", "shop-eu"]);
    for flag in ["-L", "--linkerd-namespace", "--cni-namespace"] {
        assert_eq!(offered(&["check", flag, "lin"]), ["linkerd"], "{flag}");
    }
    assert_eq!(offered(&["policy", "--to", "shop/web", "--from", "li"]), ["linkerd"]);
    assert_eq!(offered(&["policy", "li"]), ["linkerd/"]);
    assert_eq!(offered(&["policy", "shop/"]), ["shop/web", "shop/web-5d9f"]);
    assert_eq!(offered(&["reach", "shop/web", "shop/web-"]), ["shop/web-5d9f"]);
    assert_eq!(offered(&["reach", "--matr"]), ["--matrix"]);
}

#[test]
fn bash_asks_the_cluster_that_the_line_names_and_none_beside_a_bundle() {
    let of_contexts = ["shop".to_owned(), "west-only".to_owned()];
    assert_eq!(offered(&["check", "--context", "west", "-n", ""]), of_contexts);
    assert_eq!(offered(&["check", "--context", "=", "west", "-n", ""]), of_contexts, "as bash splits --context=west");
    assert_eq!(offered(&["check", "--bundle", "b.tar.gz", "-n", ""]), Vec::<String>::new());
    assert_eq!(offered(&["policy", "--bundle", "b.tar.gz", "sh"]), Vec::<String>::new());
}

#[test]
fn a_cluster_that_does_not_answer_keeps_no_shell() {
    let began = std::time::Instant::now();
    assert_eq!(offered(&["check", "--context", "hangs", "-n", ""]), ["shop"]);
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn no_script_holds_what_stands_for_something() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/completions")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["__LISTED__", "__CHECK__", "__CONTEXT__", "__NAMESPACE__", "__NAMESPACES__", "__TARGET__"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}
