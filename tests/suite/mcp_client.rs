//! `meshdoctor mcp` with a client of others: the official SDK, which validates each message, and each result against the
//! schema of its tool.

use std::path::Path;
use std::process::{Command, Stdio};

use meshdoctor::demo::DemoState;
use serde_json::Value;

use crate::skip::{Need, skipped};
use crate::verify::Folder;

const AT: &str = "2026-01-15T12:00:00Z";

/// A Python that has the SDK.
fn python() -> Option<String> {
    let python = std::env::var("MESHDOCTOR_MCP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = Command::new(&python).args(["-c", "import mcp"]).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success()).then_some(python)
}

#[test]
fn client_of_the_official_sdk_is_served() {
    let Some(python) = python() else {
        skipped(Need::McpClient, "the MCP server is not driven by the official SDK");
        return;
    };
    let folder = Folder::new();
    let bundle = folder.bundle("injector-fails-open", DemoState::Before, AT);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/mcp/client.py");
    let mut client = Command::new(python);
    client.arg(script).arg(env!("CARGO_BIN_EXE_meshdoctor")).arg("--bundle").arg(bundle);
    let output = client.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["server"], "meshdoctor", "{seen}");
    assert_eq!(seen["instructions"], true, "{seen}");
    assert_eq!(seen["ok"], true, "{seen}");
    let lists = |list: &str, word: &str| seen[list].as_array().unwrap().iter().any(|one| one == word);
    for tool in ["check", "explain", "reach", "fix", "rotate", "next_page"] {
        assert!(lists("tools", tool), "{seen}");
    }
    assert!(lists("findings", "injector-fails-open"), "{seen}");
    assert_eq!(seen["script"], "#!/bin/sh", "{seen}");
    assert!(seen["phase"].is_string(), "{seen}");
    assert_eq!(seen["wrong"][0], true, "{seen}");
    assert!(seen["wrong"][1].as_str().unwrap().contains("next step: "), "{seen}");
}
