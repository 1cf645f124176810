//! The report as a page: nothing of a cluster is markup in it, nothing is fetched, all of it can be read without a script, and a
//! real browser shows it.

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
        "Versions",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    // Only links that somebody follows lead away.
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
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"), "the value is quoted");
    assert!(!page.contains("<img") && !page.contains("<script>alert"), "and is no markup");
}

#[test]
fn a_run_that_came_to_nothing_is_a_page_that_says_so() {
    let page = page(&["check", "--bundle", "/nonexistent"]);
    assert!(page.contains("role=\"alert\"") && page.contains("exit 3"), "{page}");
}

/// A browser of this machine; `None` where there is none.
fn browser() -> Option<&'static str> {
    let is_there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there);
    if found.is_none() {
        skipped(Need::Browser, "no chromium is on PATH");
    }
    found
}

/// A run of it without a screen. No name is looked up and nothing leaves the machine; it ends by itself.
fn browse(browser: &str, home: &Path) -> Command {
    let mut command = Command::new("timeout");
    command
        .args([
            "60",
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
        ])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--disable-component-update"])
        .arg(format!("--user-data-dir={}", home.display()));
    command
}

/// Paper cannot be unfolded: what is folded on a screen is printed as if somebody had unfolded it, but for the list of all checks.
#[test]
fn what_is_folded_is_printed() {
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
    let folded = page(&["demo", "cni-exit-127"]);
    let (head, checks) = folded.split_once("<section id=\"checks\">").unwrap();
    let open = format!("{}<section id=\"checks\">{checks}", head.replace("<details>", "<details open>"));
    let all = sheets("open", &open);
    assert!(head.contains("<details>") && all > 1, "{all}");
    assert_eq!(sheets("folded", &folded), all);
    let begin = folded.find("<script>").unwrap();
    assert_eq!(sheets("without-a-script", &folded[..begin]), all);
}

#[test]
fn a_real_browser_shows_it_and_the_script_only_helps() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    std::fs::write(&path, page(&["demo", "cni-exit-127"])).unwrap();
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
        assert!(shown.contains("10 of 10 findings"), "and counts what is shown");
        let goes_on = shown.contains("class=\"picture wide wider\"");
        assert_eq!(goes_on, width < 1600, "a picture that goes on beside a page of {width} px says so");
    }
}
