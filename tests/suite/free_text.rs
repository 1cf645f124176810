//! Secrets of every family in free text: in events, statuses, logs and journals. None may be in a bundle, a
//! report or a ticket, but the useful parts of messages of recorded clusters stay.

use std::collections::BTreeSet;
use std::path::Path;

use meshdoctor::redact;
use serde_json::{Value, json};

use crate::binary::meshdoctor;
use crate::recordings;

/// Names of keys, options and elements.
const NAMES: [&str; 44] = [
    "password",
    "PASSWORD",
    "dbPassword",
    "DB_PASSWORD",
    "passwd",
    "pw",
    "pwd",
    "passcode",
    "passphrase",
    "otp",
    "pin",
    "PIN",
    "license_key",
    "licenseKey",
    "session",
    "session_id",
    "nonce",
    "signature",
    "sig",
    "dsn",
    "secret",
    "client_secret",
    "token",
    "access_token",
    "refreshToken",
    "apikey",
    "X-Api-Key",
    "authToken",
    "private_key",
    "jwt",
    "cookie",
    "salt",
    "hmac",
    "credential",
    "psk",
    "csrf_token",
    "connectionString",
    "AccountKey",
    "aws_secret_access_key",
    "signing_key",
    "MYSQL_PWD",
    "PGPASSWORD",
    "user_pass",
    "webhook_url",
];
/// Separators between a name and its value; `%` is the value.
const PAIRS: [&str; 26] = [
    "=%",
    ": %",
    ":%",
    " = %",
    " : %",
    " => %",
    "=>%",
    " := %",
    ":=%",
    " %",
    "=\"%\"",
    ": '%'",
    "\": \"%\"",
    "=''%''",
    "=\"\"%\"\"",
    "=`%`",
    "\n  %",
    ":\n  %",
    ": |\n    %",
    ": >-\n  %",
    "=\\\"%\\\"",
    "\":\"%\"",
    "\\\":\\\"%\\\"",
    "%3D%",
    "%3A%20%",
    "</x><y>%",
];
/// Values that only their place announces.
const VALUES: [&str; 9] = [
    "c4n4ryHunter2",
    "Tr0ub4dor&3x",
    "s3cr3t9!valux",
    "Zx9Q-w3er7",
    "swordfishq",
    "P4ss,w0rdz;x",
    "aB3$dE6)gH9",
    "Xk29qLm83ZpT0aVn",
    "deadbeefcafebabe0123456789abcdef",
];
/// Text around a pair.
const FRAMES: [&str; 12] = [
    "%",
    "login failed: %",
    "{%}",
    "&{User:app % Host:db}",
    "map[% user:app]",
    "[%]",
    "(%)",
    "GET /login?user=app&%",
    "env %; exit 1",
    "%,ok",
    "config{%}",
    "error=\"%\"",
];
/// Texts in which no name announces the value.
const PLACES: [&str; 56] = [
    "curl -u admin:% https://api.example.com/",
    "curl -uadmin:% x",
    "curl --user admin:% x",
    "mysql -u root -p% db",
    "mysql -uroot -p % db",
    "sshpass -p % ssh root@host",
    "machine api.example.com login app password %",
    "db.local:5432:app:app:%",
    "https://hooks.slack.com/services/T000/B000/%",
    "https://discord.com/api/webhooks/123456789/%",
    "https://api.telegram.org/bot12:%/sendMessage",
    "https://outlook.office.com/webhook/%/IncomingWebhook/x",
    "https://example.com/?sig=%&x=1",
    "https://app:%@db.example.com/x",
    "postgres://app:%@db:5432/app?sslmode=disable",
    "redis://:%@redis:6379/0",
    "Server=db;User Id=app;Password=%;Encrypt=yes",
    "AccountName=x;AccountKey=%;EndpointSuffix=core.windows.net",
    "<password>%</password>",
    "<Password type=\"text\">%</Password>",
    "Cookie: theme=dark; session=%; lang=en",
    "Set-Cookie: id=%; Path=/; HttpOnly",
    "Cookie: a=b; c=%",
    "Authorization: Basic %",
    "Authorization: Bearer %",
    "Proxy-Authorization: Digest %",
    "X-Vault-Token: %",
    "password%3D%%26user%3Dapp",
    "{\"auths\":{\"reg\":{\"auth\":\"%\"}}}",
    "--password % --verbose",
    "-e DB_PASS=%",
    "export TOKEN=%",
    "password is %",
    "using token % for login",
    "api key % rejected",
    "secret \"%\"",
    "invalid token \"%\"",
    "panic: %",
    "unexpected argument %",
    "sha %",
    "sha256 %",
    "https://%/",
    "containerd://%",
    "digest=%",
    "checksum %",
    "Data:map[token:%]",
    "&Secret{Data:{\"token\":[]byte(\"%\")}}",
    "[]string{\"--password\", \"%\"}",
    "args: [--password, %]",
    "PASSWORD\n%",
    "Enter PIN: %",
    "Token(%)",
    "dsn: app:%@tcp(db:3306)/app",
    "p=%",
    "Foo: %",
    "msg=\"%\"",
];
/// Tokens of vendors.
const TOKENS: [&str; 38] = [
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijklmnopqrstuvwxyz",
    "glpat-ABCDEFGHIJKLMNOPQRST",
    "xoxb-123456789012-abcdefGHIJKLmnop",
    "xapp-1-A111-222-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AIzaSyA-1234567890abcdefghijklmnopqrstu",
    "ya29.a0AfH6SMBx",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "SK0123456789abcdef0123456789abcdef",
    "AC0123456789abcdef0123456789abcdef",
    "SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8t",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi-AgEIcHlwaS5vcmcCJDAwMDAw",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "dckr_pat_abcdefghijklmnopqrstuvwxy",
    "dop_v1_0123456789abcdef",
    "shpat_0123456789abcdef",
    "hvs.CAESIJ",
    "rk_test_4eC39HqLyjW",
    "whsec_abcdefghij",
    "lin_api_abcdefghijklmnop",
    "sk-proj-abcdefghijklmnop1234",
    "NRAK-ABCDEFGHIJKLMNOPQ",
    "dp.pt.abcdefghijklmnopqrstuvwxyz",
    "glsa_abcdefgh_12345678",
    "figd_abcdefghij",
    "PMAK-abcdef0123",
    "r8_abcdefghijklmnop",
    "oy2abcdefghijklmnopqrstuvwxyz",
    "key-0123456789abcdef0123456789abcdef",
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "YWRtaW46aHVudGVyMg==",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "AGE-SECRET-KEY-1QQQQ",
    "EAACEdEose0cBA1234",
];

/// A text, and the secret in it.
struct Planted {
    text: String,
    secret: String,
}

fn planted() -> Vec<Planted> {
    let mut all = Vec::new();
    let mut add = |text: String, secret: &str| all.push(Planted { text, secret: secret.to_owned() });
    for (at, name) in NAMES.iter().enumerate() {
        for (on, pair) in PAIRS.iter().enumerate() {
            let value = VALUES[(at * 5 + on) % VALUES.len()];
            let pair = match pair.rsplit_once('%') {
                Some((before, behind)) => format!("{name}{before}{value}{behind}"),
                None => unreachable!("every pair has a value"),
            };
            add(FRAMES[(at + on) % FRAMES.len()].replace('%', &pair), value);
        }
    }
    for place in PLACES {
        for value in VALUES {
            let text = if place.contains("%3D") {
                place.replacen("%3D%", &format!("%3D{value}"), 1)
            } else {
                place.replace('%', value)
            };
            add(text, value);
        }
    }
    for token in TOKENS {
        for frame in ["%", "using % now", "error: %", "\"%\"", "id=%", "(%)", "https://example.com/%", "x %,y"] {
            add(frame.replace('%', token), token);
        }
    }
    for value in VALUES {
        let hidden: String = value.chars().flat_map(|c| [c, '\u{200b}']).collect();
        let wide: String = value.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xfee0)).collect();
        add(format!("password={hidden}"), value);
        add(format!("pass\u{200b}word: {value}"), value);
        add(format!("ｐａｓｓｗｏｒｄ＝{value}"), value);
        add(format!("password: {wide}"), &wide);
    }
    all
}

/// The parts of a secret that must not remain: all of it, and every part that is long enough to be useful.
fn needles(secret: &str) -> BTreeSet<String> {
    let parts = secret.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() >= 4);
    // Common words are not part of a secret.
    let parts = parts.filter(|part| !matches!(*part, "proj" | "live" | "test" | "SECRET" | "1234" | "github"));
    parts.map(str::to_owned).chain([secret.to_owned()]).collect()
}

fn leaked(text: &str, secret: &str) -> Option<String> {
    needles(secret).into_iter().find(|needle| text.contains(needle.as_str()))
}

#[test]
fn no_secret_of_any_family_passes_free_text() {
    let all = planted();
    assert!(all.len() > 1500, "{}", all.len());
    let mut passed = Vec::new();
    for Planted { text, secret } in &all {
        let clean = redact::free_text(text).into_owned();
        if let Some(part) = leaked(&clean, secret) {
            passed.push(format!("{part}: {text:?}\n    -> {clean:?}"));
        }
        assert_eq!(redact::free_text(&clean), clean, "judged twice: {text:?}");
    }
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), all.len(), passed.join("\n"));
}

/// Places that announce a value of any form, also one that would be kept elsewhere.
const ANNOUNCED: [&str; 22] = [
    "root:%",
    "admin:%",
    "login of postgres:% failed",
    "IDENTIFIED BY '%'",
    "identified with % for root",
    "your code is %",
    "verification code %",
    "verification code: %",
    "backup codes %",
    "unlock code is %",
    "password is %",
    "password was reset to %",
    "the password of the admin user of the database is %",
    "password/%",
    "password-%",
    "password.%",
    "passwort %",
    "pasword is %",
    "passwd: %",
    "https://10.0.0.1/api/hook?%",
    "https://10.0.0.1/api/v1/pods?name=%&x=1",
    "POST /api/hooks/% failed",
];
/// Values that look like a number, a word with a number, a version, a duration, an IPv6 address or a uid.
const TYPED: [&str; 6] = [
    "730000",
    "Server47",
    "7391.0012.2208",
    "48291003h77m13s",
    "dead:beef:12:1234:5678:9abc:def0:4321",
    "9f7c5ae4-9a5c-4d9b-8007-0d9cf0a2a3c1",
];

#[test]
fn announced_values_of_any_form_are_replaced() {
    let mut passed = Vec::new();
    for place in ANNOUNCED {
        for value in TYPED {
            // A path may end in a word or a number.
            if place.starts_with("POST") && !value.contains('-') {
                continue;
            }
            let text = place.replace('%', value);
            let clean = redact::free_text(&text).into_owned();
            if clean.contains(value) {
                passed.push(format!("{text} -> {clean}"));
            }
            assert_eq!(redact::free_text(&clean), clean, "judged twice: {text:?}");
        }
    }
    assert!(redact::free_text("host=9f7c5ae4-9a5c-4d9b-8007-0d9cf0a2a3c1").contains("REDACTED"));
    assert!(passed.is_empty(), "{}:\n{}", passed.len(), passed.join("\n"));
}

#[test]
fn useful_parts_of_messages_are_kept() {
    for text in [
        "invalid character 'o' after object key:value pair",
        "backend Service.shop.api:80: service in fail-fast",
        "level=info pod=web-5d4f7b9c66-x7k2p namespace=shop",
        "Get \"https://10.96.0.1:443/api/v1/pods?limit=500&timeout=10s\": dial tcp 10.96.0.1:443: i/o timeout",
        "failed to fetch token from [fd00::1]:6443",
        "bearer token has expired, the token was issued at 2026-01-15T11:58:11Z",
        "failed to sync secret cache: timed out waiting for the condition",
        "MountVolume.SetUp failed for volume \"kube-api-access-x7k2p\" : object \"shop\"/\"kube-root-ca.crt\" not registered",
    ] {
        assert_eq!(redact::free_text(text), text);
    }
}

/// A cluster with every text in its events, conditions, states and malformed containers, and a log and a
/// journal.
fn plant(folder: &Path) -> Vec<Planted> {
    let all = planted();
    let mut items: Vec<Value> = vec![json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": all[0].text}]},
    })];
    for (at, Planted { text, secret }) in all.iter().enumerate() {
        let name = format!("web-{at}");
        let failed = format!("plugin type=\"linkerd-cni\" name=\"linkerd-cni\" failed (add): Unauthorized {text}");
        items.push(json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("e{at}"), "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name},
            "reason": "FailedCreatePodSandBox", "type": "Warning", "count": 3,
            "lastTimestamp": "2026-01-15T11:59:00Z", "message": failed,
        }));
        if at % 7 == 0 {
            items.push(json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "namespace": "shop", "annotations": {"linkerd.io/inject": "enabled"}},
                "spec": {"nodeName": "n1", "containers": [
                    {"name": "web", "image": "web:1", "args": format!("--password={secret}"), "command": [["sh", secret]]},
                ]},
                "status": {"phase": "Pending", "message": text,
                    "conditions": [{"type": "Ready", "status": "False", "reason": "X", "message": text}],
                    "containerStatuses": [{"name": "web", "image": "web:1", "restartCount": 9,
                        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": text}},
                        "lastState": {"terminated": {"reason": "Error", "exitCode": 1, "message": text}}}]},
            }));
        }
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(folder.join("cluster.json"), list.to_string()).unwrap();
    let journal: String = all.iter().map(|planted| format!("cni {}\n", planted.text.replace('\n', "\ncni "))).collect();
    std::fs::write(folder.join("journal.txt"), &journal).unwrap();
    all
}

#[test]
fn no_secret_leaves_in_a_bundle_a_report_or_a_ticket() {
    let folder = tempfile::tempdir().unwrap();
    let all = plant(folder.path());
    let cluster = folder.path().join("cluster.json").display().to_string();
    let journal = folder.path().join("journal.txt").display().to_string();
    let (node, pod) = (format!("n1={journal}"), format!("linkerd-cni/linkerd-cni-x={journal}"));
    let evidence = ["--bundle", &cluster, "--complete", "all", "--logs", &node, "--logs", &pod];
    let saved = folder.path().join("saved");
    let target = format!("{}/", saved.join("bundle").display());
    let ticket = format!("{}/", saved.join("ticket").display());
    std::fs::create_dir(&saved).unwrap();
    let mut written: Vec<(String, String)> = Vec::new();
    for command in [
        &["check", "-v=2", "-o", "json"][..],
        &["check", "-v=2", "-o", "table"],
        &["collect", "-o", &target],
        &["ticket", "-o", &ticket],
    ] {
        let args = [command, &evidence].concat();
        let output = meshdoctor(&args).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(text.len() > 100, "{args:?} says nothing: {text}");
        written.push((format!("{command:?}"), text));
    }
    for entry in walkdir::WalkDir::new(&saved) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            written.push((entry.path().display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    assert!(written.len() > 6, "a bundle of {} files", written.len());
    let needles: BTreeSet<String> = all.iter().flat_map(|planted| needles(&planted.secret)).collect();
    for (what, text) in &written {
        for needle in &needles {
            if let Some(at) = text.find(needle.as_str()) {
                let from = text[..at].char_indices().rev().nth(200).map_or(0, |(at, _)| at);
                panic!("{what} holds {needle:?}: {}", &text[from..at + needle.len()]);
            }
        }
    }
}

/// Every message and note below.
fn messages(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if matches!(key.as_str(), "message" | "note") => {
                        found.insert(text.clone());
                    }
                    other => messages(other, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| messages(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn messages_of_recorded_clusters_lose_no_word() {
    let Some(folder) = recordings::folder() else { return };
    let mut found = BTreeSet::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok) {
        if entry.file_name() == "cluster.json" {
            messages(&recordings::json(entry.path()), &mut found);
        }
    }
    let lost: Vec<String> = found
        .iter()
        .map(|text| (text, redact::free_text(text)))
        .filter(|(text, clean)| clean != *text)
        .map(|(text, clean)| format!("{text}\n    -> {clean}"))
        .collect();
    println!("{} of {} messages lost something", lost.len(), found.len());
    assert!(found.len() > 100 && lost.len() * 100 <= found.len(), "{}", lost.join("\n"));
}
