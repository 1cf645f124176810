//! Reports and answers as a tired operator reads them on a terminal of 80 columns: real clusters of the lab and of
//! recordings, through the real binary.

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};
use crate::lab_metrics::lab;
use crate::recordings::{folder, json};

/// Runs a command on a recorded cluster at the time of the record, without the CLI and the configuration.
fn on(command: &str, cluster: &str, at: &str, more: &[&str]) -> Ran {
    let words = [command, "--no-config", "--complete", "all", "--at", at, "--bundle", cluster];
    ran(meshdoctor(&[&words[..], more].concat()).env("COLUMNS", "80").env("NO_COLOR", "1"))
}

/// A command on a cluster of the lab; `None` without the lab.
fn in_lab(command: &str, name: &str, more: &[&str]) -> Option<Ran> {
    let scenario = lab()?.join(name);
    let truth: Value = json(&scenario.join("truth.json"));
    let cluster = scenario.join("cluster.json.gz").display().to_string();
    Some(on(command, &cluster, truth["cluster_at"].as_str().unwrap(), more))
}

/// A command on a recording; `None` without recordings.
fn recorded(command: &str, name: &str, more: &[&str]) -> Option<Ran> {
    let recording = folder()?.join(name);
    let meta: Value = json(&recording.join("meta.json"));
    let cluster = recording.join("cluster.json").display().to_string();
    Some(on(command, &cluster, meta["recorded_at"].as_str().unwrap(), more))
}

/// Words in one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn downgrade_leads_back_and_prepares_nothing() {
    let Some(ran) = recorded("check", "healthy-2.20", &["--linkerd-cli", "none", "--to", "2.17"]) else {
        return;
    };
    let text = joined(&ran.out);
    assert_eq!(ran.status, 1, "{}", ran.out);
    let first = text.find("error upgrade-path").unwrap_or_else(|| panic!("{}", ran.out));
    assert!(!text.contains("error gateway-api-missing") && first > 0, "{}", ran.out);
    for words in [
        "symptoms data-plane-skew",
        "gateway-api-missing (Gateway API)",
        "1. Keep edge-26.5.5",
        "meshdoctor check --from edge-24.11.8 --to edge-26.5.5 -o plan",
        "next upgrade-path: Keep edge-26.5.5",
    ] {
        assert!(text.contains(words), "{words}\n{}", ran.out);
    }
    for words in ["experimental-install.yaml", "linkerd inject", "upgrade Linkerd to edge-25.3.1"] {
        assert!(!text.contains(words), "{words}\n{}", ran.out);
    }
    let json = recorded("check", "healthy-2.20", &["--linkerd-cli", "none", "--to", "2.17", "-o", "json"]).unwrap();
    assert!(!json.out.contains("pgrade Linkerd to edge-25.3.1"), "a release below the installed one");
    // The command of the step prints a plan with a rollback.
    let plan = ["--linkerd-cli", "none", "--from", "edge-24.11.8", "--to", "edge-26.5.5", "-o", "plan"];
    let plan = recorded("check", "healthy-2.20", &plan).unwrap();
    assert!(plan.out.contains(". Rollback\n"), "{}", plan.out);
}

/// `verify` runs only checks whose steps are shown.
#[test]
fn verification_covers_the_shown_steps() {
    let Some(ran) = in_lab("check", "identity-down-expired", &["--linkerd-cli", "none"]) else { return };
    assert!(ran.out.contains("\n  verify    meshdoctor check --only control-plane-not-ready\n"), "{}", ran.out);
    let full = in_lab("check", "identity-down-expired", &["--linkerd-cli", "none", "-v"]).unwrap();
    assert!(full.out.contains("--only validator-webhook-missing"), "{}", full.out);
}

#[test]
fn steps_that_depend_on_new_pods_are_not_simulated() {
    let Some(ran) = recorded("fix", "destination-unschedulable", &["--linkerd-cli", "none"]) else { return };
    assert!(!ran.out.contains("repairs no finding alone"), "{}", ran.out);
    let words = "not simulated: whether the pods are then scheduled and become ready is not predicted";
    assert!(joined(&ran.out.replace("\n# ", " ")).contains(words), "{}", ran.out);
}

/// The steps of the finding, and the other steps in one row.
#[test]
fn reach_prints_the_steps_of_the_finding() {
    let calls = |name| in_lab("reach", name, &["shop/web", "shop/api:80"]);
    let Some(ran) = calls("identity-down-expired") else { return };
    for words in [
        "1. Read the log of the container that does not become ready",
        "kubectl -n linkerd describe pods -l linkerd.io/control-plane-component=identity",
        "kubectl -n linkerd rollout restart deployment/linkerd-identity",
    ] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    let ran = calls("client-proxy-dead").unwrap();
    for words in ["describe pod web-", "logs web-", "rollout restart deployment/web"] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    assert!(!ran.out.contains("\n  ok "), "the row of the client is above:\n{}", ran.out);
    let ran = calls("destination-down").unwrap();
    let rows: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("  ok ")).collect();
    assert!(ran.out.contains("\n  partly ") && rows.len() == 1, "{}", ran.out);
}

#[test]
fn alternatives_of_a_fix_are_numbered() {
    let Some(ran) = in_lab("reach", "mixed-endpoints", &["legacy/client", "shop/mix:80"]) else { return };
    for words in [
        "    1. Inject the client",
        "kubectl -n legacy patch deployment client --type merge",
        "3. Instead of steps 1 and 2",
    ] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
}

/// One cause, named once: what the API server cannot reach.
#[test]
fn egress_proxy_of_the_api_server_comes_first() {
    let Some(ran) = recorded("check", "viz-clusterrole-missing", &["--linkerd-cli", "none"]) else { return };
    let text = joined(&ran.out);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}\n{}", ran.out));
    assert!(at("warning 1 viz-tap-api-unavailable") < at("(after warning 1) viz-prometheus-missing"));
    assert!(at("(after warning 1) injector-fails-open") < at("could not call the injector through its egress proxy"));
    assert!(at("1. Repair the API server's egress proxy") < at("kubectl get apiservices"));
    assert!(!text.contains("private clusters need a firewall rule"), "{}", ran.out);
}

/// Errors come before infos, whatever explains them.
#[test]
fn infos_are_last_in_short_output() {
    let Some(ran) = in_lab("check", "injector-down-fail", &["--linkerd-cli", "none", "-o", "short"]) else {
        return;
    };
    let severities: Vec<&str> = ran.out.lines().filter_map(|line| line.split(' ').next()).collect();
    let first_info = severities.iter().position(|word| *word == "info").unwrap();
    let last_other = severities.iter().rposition(|word| ["error", "warning"].contains(word)).unwrap();
    assert!(last_other < first_info, "{}", ran.out);
    assert!(ran.out.lines().take(last_other + 1).any(|line| line.contains("[because of ")), "{}", ran.out);
}

#[test]
fn list_of_a_ticket_fits_the_terminal() {
    let Some(ran) = in_lab("ticket", "injector-down-fail", &["--dry-run"]) else { return };
    let widest = ran.out.lines().map(str::len).max();
    assert!(ran.status == 0 && widest <= Some(80), "{widest:?}\n{}", ran.out);
}

#[test]
fn list_of_defects_fits_the_terminal() {
    let ran = ran(meshdoctor(&["list", "--defects"]).env("COLUMNS", "80"));
    let widest = ran.out.lines().filter(|line| line.starts_with("  ")).map(str::len).max();
    assert!(ran.status == 0 && widest <= Some(80), "{widest:?}\n{}", ran.out);
}

/// A manifest that was given like the dump of a cluster.
#[test]
fn manifests_as_a_bundle_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {}\n";
    let file = write(folder.path(), "web.yaml", manifest);
    let ran = ran(meshdoctor(&["check", "--no-config", "--bundle", &file]).env("COLUMNS", "80"));
    assert!(ran.out.contains(&format!("meshdoctor check --manifests {file}\n")), "{}", ran.out);
    assert_eq!(ran.out.matches("meshdoctor collect --output bundle.tar.gz").count(), 1, "{}", ran.out);
}
