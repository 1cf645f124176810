//! The report as a page: text of a cluster is never markup, nothing is loaded, everything is readable without
//! a script, and a real browser displays it.

use std::path::Path;
use std::process::Command;

use crate::binary::meshdoctor;
use crate::skip::{Need, skipped};

fn page(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let output = format!("html={}", path.display());
    let out = meshdoctor(&[arguments, &["-o", &output, "-q"]].concat()).output().unwrap();
    assert!(path.exists(), "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_page_says_what_the_report_says_and_fetches_nothing() {
    let page = page(&["demo", "cni-exit-127"]);
    for wanted in [
        "cni-iptables-binary-missing",
        "--set iptablesMode=plain",
        "Causes and symptoms",
        "<svg",
        "exit 1",
        "versions and evidence",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    // The page has links to other sites, but loads nothing from them.
    for loads in ["src=", "@import", "url(", "<link", "<img", "<iframe", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(page.contains("default-src 'none'"));
    // Every finding has its place, which the picture and the words lead to.
    for link in page.split("href=\"#").skip(1) {
        let to = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{to}\"")), "#{to} leads nowhere");
    }
}

#[test]
fn nothing_of_a_cluster_is_markup() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.yaml");
    let hostile = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  annotations: {\"config.linkerd.io/proxy-log-level\": \"<script>alert(1)</script>\", \"linkerd.io/inject\": \"<img src=x onerror=alert(1)>\"}\n";
    std::fs::write(&dump, hostile).unwrap();
    let dump = dump.display().to_string();
    let page = page(&["check", "--manifests", &dump, "--linkerd-version", "edge-25.4.4"]);
    assert!(page.contains("&lt;img src=x ") && page.contains("=alert(1)&gt;"), "the value is quoted");
    assert!(!page.contains("<img") && !page.contains("<script>alert"), "and is no markup");
}

#[test]
fn a_run_that_came_to_nothing_is_a_page_that_says_so() {
    let page = page(&["check", "--bundle", "/nonexistent"]);
    assert!(page.contains("role=\"alert\"") && page.contains("exit 2"), "{page}");
}

/// A browser of this machine, if any.
fn browser() -> Option<&'static str> {
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there);
    if found.is_none() {
        skipped(Need::Browser, "no chromium is on PATH");
    }
    found
}

/// A headless run that resolves no name, sends nothing to the network, and ends on its own.
fn browse(browser: &str, home: &Path) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["60", browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--disable-component-update"])
        .arg(format!("--user-data-dir={}", home.display()));
    command
}

#[test]
fn paper_has_the_plan_and_the_causes_whatever_was_folded() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let sheets = |name: &str, page: &str| {
        let (path, sheets) = (folder.path().join(format!("{name}.html")), folder.path().join(name));
        std::fs::write(&path, page).unwrap();
        let mut command = browse(browser, &folder.path().join("profile"));
        command.arg(format!("--print-to-pdf={}", sheets.display())).arg(format!("file://{}", path.display()));
        let out = command.output().unwrap();
        assert!(sheets.exists(), "{}", String::from_utf8_lossy(&out.stderr));
        let printed = String::from_utf8_lossy(&std::fs::read(sheets).unwrap()).into_owned();
        printed.matches("/Type /Page\n").count()
    };
    let page = page(&["demo", "cni-exit-127"]);
    let all = sheets("as-it-is", &page);
    assert!(all > 1, "{all}");
    assert_eq!(sheets("folded", &page.replace("<details open>", "<details>")), all);
    let unfolded = page.replace("<details class=\"symptom\"", "<details open class=\"symptom\"");
    assert_eq!(sheets("unfolded", &unfolded), all, "a symptom is one line");
    let begin = page.find("<script>").unwrap();
    assert_eq!(sheets("without-a-script", &page[..begin]), all);
}

/// The page of a recording.
fn recorded(name: &str, more: &[&str]) -> Option<String> {
    let bundle = crate::recordings::folder()?.join(name).display().to_string();
    let words = ["check", "--bundle", &bundle, "--no-config", "--linkerd-cli", "none", "--complete", "all"];
    Some(page(&[&words, more].concat()))
}

#[test]
fn symptom_is_repaired_by_the_steps_of_its_cause() {
    let Some(page) = recorded("anchor-expired", &[]) else { return };
    let (_, symptom) = page.split_once("<h4>issuer-not-trusted</h4>").unwrap();
    let (symptom, _) = symptom.split_once("</details>").unwrap();
    assert!(symptom.contains("trust-anchor-expired</a>, steps 1 to 6</dd>"), "{symptom}");
    assert!(!symptom.contains("<ol>"), "{symptom}");
    assert!(!page.contains("<h3>issuer-not-trusted</h3>"), "a symptom is no card");
    let (_, plan) = page.split_once("id=\"repair-plan\"").unwrap();
    let (plan, _) = plan.split_once("</section>").unwrap();
    assert_eq!(plan.matches("trust-anchor-expired</a>").count(), 1, "no link is repeated: {plan}");
    assert!(
        page.contains("2 errors</strong>: trust-anchor-expired, data-plane-anchors-disjoint"),
        "the findings, in the order of repair"
    );
    assert!(page.contains("this machine&#39;s clock") || page.contains("this machine's clock"), "the time");
}

#[test]
fn healthy_page_begins_with_healthy() {
    let Some(page) = recorded("healthy-2.18", &[]) else { return };
    assert!(page.contains("<title>healthy-2.18: Healthy</title>"));
    assert!(page.contains("<strong class=\"good\">Healthy</strong>: ") && page.contains(" checks passed</p>"));
    let Some(page) = recorded("healthy-2.18", &["--only", "issuer-expired"]) else { return };
    assert!(page.contains("<strong class=\"good\">No errors or warnings</strong>: 1 check passed"));
}

#[test]
fn missing_evidence_that_decides_the_exit_status_is_first() {
    let folder = tempfile::tempdir().unwrap();
    let Some(recordings) = crate::recordings::folder() else { return };
    let own = folder.path().join("prod");
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(recordings.join("healthy-2.18/cluster.json"), own.join("cluster.json")).unwrap();
    let dump = own.join("cluster.json").display().to_string();
    let page = page(&["check", "--bundle", &dump, "--no-config", "--linkerd-cli", "none", "--complete", "all"]);
    assert!(page.contains("<title>prod: Not fully checked</title>"), "the folder's name");
    assert!(page.contains("Not fully checked</strong>: the API server&#39;s version is missing ("), "the reason");
    let (_, unchecked) = page.split_once("id=\"not-checked\"").unwrap();
    let first = unchecked.find("<strong>the API server&#39;s version</strong>").unwrap();
    assert!(unchecked.find("class=\"optional\"").is_some_and(|optional| first < optional));
    assert!(unchecked.contains("requested: makes the exit status 4"));
}

#[test]
fn page_of_a_rehearsal_has_the_upgrade_plan() {
    let Some(page) = recorded("healthy-2.19", &["--to", "2.20"]) else { return };
    let (_, plan) = page.split_once("<section id=\"upgrade-plan\">").unwrap();
    let (plan, _) = plan.split_once("</section>").unwrap();
    assert!(plan.contains("<h3>") && plan.contains("linkerd upgrade"), "{plan}");
    assert!(page.contains("href=\"#upgrade-plan\""));
}

#[test]
fn a_real_browser_shows_it_and_the_script_only_helps() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let page = page(&["demo", "cni-exit-127"]);
    std::fs::write(&path, &page).unwrap();
    let cards = page.matches("<article").count();
    let home = folder.path().join("profile");
    for width in [360, 1280, 1600] {
        let out = browse(browser, &home)
            .arg(format!("--window-size={width},1200"))
            .arg("--dump-dom")
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        assert!(shown.contains("class=\"scripted\""), "its script runs under its own policy");
        let counted = format!("{cards} of {cards} findings");
        assert!(shown.contains(&counted), "and counts what is shown");
        assert_eq!(shown.matches(">Copy</button>").count(), shown.matches("class=\"bar\"").count());
        let goes_on = shown.contains("class=\"picture wide wider\"");
        assert_eq!(goes_on, width < 1600, "a picture wider than a page of {width} px is marked");
    }
}
