//! Deployment files: the chart and the plain manifests contain the documented role, chart values reach the
//! command, package templates are filled or refused, the hooks and the action use existing flags, and the
//! book contains every page.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary::meshdoctor;
use crate::skip::{Need, skipped};

const IMAGE: &str = "image.repository=registry.example.com/meshdoctor";

fn documents(text: &str) -> Vec<Value> {
    let all = serde_yaml::Deserializer::from_str(text);
    let all = all.map(|document| <Value as serde::Deserialize>::deserialize(document).unwrap());
    all.filter(|document| !document.is_null()).collect()
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    documents.iter().find(|document| document["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// The rendered chart; `None` without helm.
fn rendered(set: &[&str]) -> Option<Result<String, String>> {
    let mut command = Command::new("helm");
    command.args(["template", "meshdoctor", "deploy/chart", "-n", "meshdoctor", "--kube-version", "1.34.0"]);
    set.iter().for_each(|set| _ = command.args(["--set", set]));
    let Ok(output) = command.output() else {
        skipped(Need::Helm, "the chart is not rendered");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    Some(if output.status.success() { Ok(text) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) })
}

#[test]
fn the_role_that_is_deployed_is_that_of_the_documentation() {
    let documented = std::fs::read_to_string("docs/rbac.yaml").unwrap();
    let held = Path::new("deploy/chart/files/rbac.yaml");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(held, &documented).unwrap();
    }
    assert_eq!(std::fs::read_to_string(held).unwrap(), documented, "UPDATE=1 writes it");
    let documented_writes = std::fs::read_to_string("docs/rbac-publish.yaml").unwrap();
    let held = Path::new("deploy/chart/files/rbac-publish.yaml");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(held, &documented_writes).unwrap();
    }
    assert_eq!(std::fs::read_to_string(held).unwrap(), documented_writes, "UPDATE=1 writes it");
    let deployed = documents(&std::fs::read_to_string("deploy/meshdoctor.yaml").unwrap());
    assert_eq!(of_kind(&deployed, "ClusterRole")["rules"], documents(&documented)[0]["rules"], "UPDATE=1 writes it");
}

/// The chart contains the tested rules, and renders a PrometheusRule only if enabled.
#[test]
fn the_alert_rules_of_the_chart_are_those_of_the_file() {
    let rules = std::fs::read_to_string("deploy/monitoring/alerts.yaml").unwrap();
    let held = Path::new("deploy/chart/files/alerts.yaml");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(held, &rules).unwrap();
    }
    assert_eq!(std::fs::read_to_string(held).unwrap(), rules, "UPDATE=1 writes it");
    let Some(plain) = rendered(&[IMAGE]) else { return };
    assert!(!plain.unwrap().contains("PrometheusRule"));
    let asked = ["prometheusRule.enabled=true", "prometheusRule.labels.release=kps"];
    let all = documents(&rendered(&[&[IMAGE], &asked[..]].concat()).unwrap().unwrap());
    let rule = of_kind(&all, "PrometheusRule");
    assert_eq!(rule["spec"], documents(&rules)[0]);
    assert_eq!(rule["metadata"]["labels"]["release"], "kps");
}

/// The command accepts the arguments in the manifests of fleets and nodes; their pods have no rights in this
/// cluster.
#[test]
fn the_manifests_of_fleets_and_nodes_say_words_that_the_command_takes() {
    let own = tempfile::tempdir().unwrap();
    let mut pods = 0;
    for file in ["deploy/fleet.yaml", "deploy/nodes.yaml"] {
        for object in documents(&std::fs::read_to_string(file).unwrap()) {
            let spec = match object["kind"].as_str().unwrap() {
                "CronJob" => &object["spec"]["jobTemplate"]["spec"]["template"]["spec"],
                "DaemonSet" => &object["spec"]["template"]["spec"],
                _ => continue,
            };
            pods += 1;
            assert_eq!(spec["automountServiceAccountToken"], false, "{file}");
            let container = &spec["containers"][0];
            let security = &container["securityContext"];
            assert_eq!(security["readOnlyRootFilesystem"], true, "{file}");
            assert_eq!(security["allowPrivilegeEscalation"], false, "{file}");
            assert!(container["ports"].is_null(), "{file}: it serves nothing");
            let words = container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
            // `--hold` would never return, and these folders do not exist here.
            let words: Vec<&str> = words.filter(|word| *word != "--hold").collect();
            let output = meshdoctor(&words).current_dir(own.path()).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!error.contains("Usage:") && !error.contains("unexpected argument"), "{words:?}: {error}");
        }
    }
    assert_eq!(pods, 3);
}

/// The arguments of a CronJob of the fleet, with local folders in place of the pod's.
fn words_of_fleet(name: &str, own: &Path) -> Vec<String> {
    let all = documents(&std::fs::read_to_string("deploy/fleet.yaml").unwrap());
    let is = |one: &&Value| one["kind"] == "CronJob" && one["metadata"]["name"] == name;
    let container = &all.iter().find(is).unwrap()["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    let own = own.display().to_string();
    let words = container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let folders = ["cluster", "fleet", "summary"];
    let here =
        |word: String| folders.iter().fold(word, |word, of| word.replace(&format!("=/{of}"), &format!("={own}/{of}")));
    words.map(here).collect()
}

/// The job of a cluster whose Secret is missing reports this and fails; the summary evaluates the others and
/// names that cluster.
#[cfg(feature = "live")]
#[test]
fn a_cluster_of_the_fleet_without_its_secret_is_named_and_sinks_no_other() {
    let own = tempfile::tempdir().unwrap();
    for folder in ["cluster", "fleet", "summary"] {
        std::fs::create_dir(own.path().join(folder)).unwrap();
    }
    let words = words_of_fleet("meshdoctor-fleet", own.path());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = meshdoctor(&words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("cluster/kubeconfig does not exist"), "{error}");
    assert!(error.contains("check that the Secret and its key exist"), "{error}");
    // A Secret with an empty key.
    std::fs::write(own.path().join("cluster/kubeconfig"), "").unwrap();
    let output = meshdoctor(&words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("cluster/kubeconfig has no context"), "{error}");

    // The other index left its bundle.
    let west = own.path().join("fleet/west.tar.gz").display().to_string();
    let now = jiff::Timestamp::now().to_string();
    let save =
        ["check", "--bundle", "checks/bases/healthy.yaml", "--complete", "all", "--at", &now, "--fail-on", "never"];
    let saved = meshdoctor(&[&save[..], &["--on-not-checked", "pass", "--save", &west]].concat()).output().unwrap();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let words = words_of_fleet("meshdoctor-fleet-summary", own.path());
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--fail-on=never"]).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "--fail-on=error").collect();
    let output = meshdoctor(&words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("contains no bundle of it"), "{said}");
    assert!(said.contains("1 not judged"), "{said}");
    let fleet: Value = serde_json::from_slice(&std::fs::read(own.path().join("summary/fleet.json")).unwrap()).unwrap();
    assert_eq!(fleet["clusters"][1]["name"], "west");
    assert!(own.path().join("summary/west.html").exists());
}

#[test]
fn the_plain_manifests_are_what_the_chart_renders() {
    let Some(rendered) = rendered(&[IMAGE]) else { return };
    let rendered = rendered.unwrap();
    let path = "deploy/meshdoctor.yaml";
    let before = std::fs::read_to_string(path).unwrap();
    let head: String = before.split_inclusive('\n').take_while(|line| line.starts_with("# ")).collect();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{head}{rendered}")).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{head}{rendered}"), "UPDATE=1 writes it");
}

#[test]
fn what_the_chart_is_given_reaches_the_command() {
    let Some(refused) = rendered(&[]) else { return };
    assert!(refused.unwrap_err().contains("image.repository"));
    let words = rendered(&[IMAGE, "check.failOn=sometimes"]).unwrap().unwrap_err();
    assert!(words.contains("failOn"), "{words}");
    let all = rendered(&[
        IMAGE,
        "keep.enabled=true",
        "metrics.enabled=true",
        "rbac.logs=true",
        "check.proxies=true",
        "check.only={policy,certificates}",
        "check.namespaces={shop}",
        "check.failOn=warning",
        "waivers=waivers: []",
        "checks.one\\.md=text",
    ]);
    let all = documents(&all.unwrap().unwrap());
    let job = &of_kind(&all, "CronJob")["spec"]["jobTemplate"]["spec"]["template"];
    assert_eq!(job["metadata"]["annotations"]["linkerd.io/inject"], "disabled");
    let container = &job["spec"]["containers"][0];
    let words: Vec<&str> = container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    // The command accepts every flag: it only fails at missing files.
    let output = meshdoctor(&words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!error.contains("Usage:") && !error.contains("unexpected argument"), "{words:?}: {error}");
    let mounted: Vec<&Value> = container["volumeMounts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    let volumes: Vec<&Value> = job["spec"]["volumes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(mounted, volumes);
    let rules = of_kind(&all, "ClusterRole")["rules"].to_string();
    assert!(rules.contains("pods/log") && rules.contains("pods/portforward"), "{rules}");
    assert!(words.contains(&"--proxies"), "{words:?}");
    let plain = documents(&rendered(&[IMAGE]).unwrap().unwrap());
    let rules = of_kind(&plain, "ClusterRole")["rules"].to_string();
    assert!(!rules.contains("portforward"), "{rules}");
}

#[test]
fn what_writes_is_granted_only_where_it_is_asked_for() {
    let Some(plain) = rendered(&[IMAGE]) else { return };
    assert!(!plain.unwrap().contains("openreports"), "a CronJob that publishes nothing may write nothing");
    let all = documents(&rendered(&[IMAGE, "publish=true"]).unwrap().unwrap());
    let args = &of_kind(&all, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(args.as_array().unwrap().iter().any(|word| word == "--publish"), "{args}");
    let roles: Vec<&Value> = all.iter().filter(|one| one["kind"] == "ClusterRole").collect();
    let refused = rendered(&[IMAGE, "publish=true", "check.only={certificates}"]).unwrap().unwrap_err();
    assert!(refused.contains("a run of all checks is what is published"), "{refused}");
    let writes = documents(&std::fs::read_to_string("docs/rbac-publish.yaml").unwrap());
    assert!(roles.iter().any(|role| role["rules"] == writes[0]["rules"]), "{roles:#?}");
}

#[test]
fn chart_refuses_schedules_that_no_cron_job_takes() {
    for schedule in ["bogus", "* * * *", "a b c d e"] {
        let Some(refused) = rendered(&[IMAGE, &format!("schedule={schedule}")]) else { return };
        assert!(refused.is_err_and(|error| error.contains("schedule")), "{schedule}");
    }
    for schedule in ["@hourly", "*/5 0-6 ? JAN mon-FRI", "17 * * * *"] {
        assert!(rendered(&[IMAGE, &format!("schedule={schedule}")]).is_some_and(|chart| chart.is_ok()), "{schedule}");
    }
}

#[test]
fn base_images_are_pinned_by_digest() {
    let pinned = regex::Regex::new(r"^FROM \S+:\S+@sha256:[0-9a-f]{64}( AS \w+)?$").unwrap();
    let text = std::fs::read_to_string("Dockerfile").unwrap();
    let images: Vec<&str> = text.lines().filter(|line| line.starts_with("FROM ")).collect();
    assert_eq!(images.len(), 2);
    for image in images {
        assert!(pinned.is_match(image), "{image}");
    }
}

#[test]
fn workflow_pins_what_it_runs() {
    let text = std::fs::read_to_string(".github/workflows/release.yml").unwrap();
    let ci = std::fs::read_to_string(".github/workflows/ci.yml").unwrap();
    let pinned = regex::Regex::new(r"^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").unwrap();
    for line in text.lines().chain(ci.lines()) {
        if let Some((_, action)) = line.split_once("uses: ") {
            assert!(pinned.is_match(action), "{line}");
        }
        if line.contains("cargo install") {
            assert!(line.contains("--version ") && line.contains("--locked"), "{line}");
        }
    }
    // Expressions reach scripts through variables only.
    let workflow = documents(&text);
    for (name, job) in workflow[0]["jobs"].as_object().unwrap() {
        for step in job["steps"].as_array().unwrap() {
            assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{name}: {step}");
        }
    }
    let ci = std::fs::read_to_string(".ci/run").unwrap();
    let installs: Vec<&str> = ci.lines().filter(|line| line.contains("cargo install")).collect();
    assert!(installs.iter().all(|line| line.contains("--version ")), "{installs:?}");
}

#[test]
fn release_is_the_build_that_ci_compares() {
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    for (path, script) in [
        (".github/workflows/release.yml", "scripts/release-build.sh \"$TARGET\""),
        ("scripts/reproducible.sh", "scripts/release-build.sh\" \"$target\""),
        (".github/workflows/ci.yml", "scripts/reproducible.sh"),
    ] {
        assert!(read(path).contains(script), "{path}: {script}");
    }
    assert!(!read(".github/workflows/release.yml").contains("cargo build"));
    // The toolchain is that of the image.
    let rust = regex::Regex::new(r"(?m)^FROM rust:\d+\.\d+-slim@sha256:").unwrap();
    assert!(rust.is_match(&read("Dockerfile")));
    // The oldest Rust has a job, and the page names it.
    assert!(read(".github/workflows/ci.yml").contains("rust-version"));
    let oldest = regex::Regex::new(r#"(?m)^rust-version = "(.+)"$"#).unwrap();
    let manifest = read("Cargo.toml");
    let oldest = &oldest.captures(&manifest).unwrap()[1];
    assert!(read("docs/install.md").contains(&format!("Rust {oldest} or newer")), "{oldest}");
}

#[test]
fn compared_build_is_of_a_released_target() {
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let compared = regex::Regex::new(r"(?m)- run: scripts/reproducible\.sh (\S+)$").unwrap();
    let ci = read(".github/workflows/ci.yml");
    let target = &compared.captures(&ci).unwrap()[1];
    let workflow = documents(&read(".github/workflows/release.yml"));
    let targets = workflow[0]["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    assert!(targets.iter().any(|row| row["target"] == target), "{target} is not released");
    assert!(read("scripts/reproducible.sh").contains(&format!("${{1:-{target}}}")), "{target}");
    assert!(read("SECURITY.md").contains(&format!("`{target}`")), "{target}");
}

#[test]
fn archives_and_image_are_attested() {
    let workflow = documents(&std::fs::read_to_string(".github/workflows/release.yml").unwrap());
    let steps = workflow[0]["jobs"]["publish"]["steps"].as_array().unwrap();
    let position = |is: &dyn Fn(&Value) -> bool| steps.iter().position(is);
    let is_attested = |step: &Value| {
        step["uses"].as_str().is_some_and(|action| action.starts_with("actions/attest-build-provenance@"))
    };
    let image = position(&|step| step["id"] == "image").unwrap();
    assert!(steps[image]["run"].as_str().unwrap().contains("containerimage.digest"));
    let attested = position(&|step| is_attested(step) && step["with"]["push-to-registry"] == true).unwrap();
    assert!(attested > image);
    assert_eq!(steps[attested]["with"]["subject-digest"], "${{ steps.image.outputs.digest }}");
    assert_eq!(steps[attested]["with"]["subject-name"], "${{ steps.image.outputs.name }}");
    let files = position(&|step| is_attested(step) && !step["with"]["subject-path"].is_null());
    assert!(files.is_some());
}

#[test]
fn security_policy_names_all_commands_that_change_something() {
    let policy = std::fs::read_to_string("SECURITY.md").unwrap();
    let readme = std::fs::read_to_string("README.md").unwrap();
    let listed = readme.split("opt-in commands (").nth(1).unwrap().split(')').next().unwrap();
    for command in listed.split(", ").chain(["`fix --write`"]) {
        assert!(policy.contains(command), "{command}");
    }
}

/// The metrics of a query: name, and the labels with their required values.
fn queried_metrics(query: &str) -> Vec<(String, Vec<(String, String)>)> {
    let metric = regex::Regex::new(r"(meshdoctor_[a-z_]+)(\{[^}]*\})?").unwrap();
    let label = regex::Regex::new(r#"([a-z_]+)=~?"([^"]*)""#).unwrap();
    let of = |found: regex::Captures<'_>| {
        let labels = found.get(2).map_or("", |labels| labels.as_str());
        let labels = label.captures_iter(labels).map(|one| (one[1].to_owned(), one[2].to_owned())).collect();
        (found[1].to_owned(), labels)
    };
    metric.captures_iter(query).map(of).collect()
}

#[test]
fn rules_and_dashboard_ask_for_metrics_that_there_are() {
    let output = meshdoctor(&["demo", "injector-fails-open", "-o", "prometheus"]).output().unwrap();
    let metrics = String::from_utf8(output.stdout).unwrap();
    let rules: Value =
        serde_yaml::from_str(&std::fs::read_to_string("deploy/monitoring/alerts.yaml").unwrap()).unwrap();
    let board: Value =
        serde_json::from_str(&std::fs::read_to_string("deploy/monitoring/dashboard.json").unwrap()).unwrap();
    let rules = rules["groups"][0]["rules"].as_array().unwrap().iter().map(|rule| rule["expr"].clone());
    let panels = board["panels"].as_array().unwrap().iter();
    let panels = panels.flat_map(|panel| panel["targets"].as_array().unwrap()).map(|target| target["expr"].clone());
    let mut queries = 0;
    for query in rules.chain(panels) {
        for (metric, labels) in queried_metrics(query.as_str().unwrap()) {
            queries += 1;
            let lines: Vec<&str> = metrics.lines().filter(|line| line.starts_with(&metric)).collect();
            assert!(!lines.is_empty(), "{query}: there is no {metric}");
            for (label, value) in labels.iter().filter(|(label, _)| label != "instance") {
                // Prometheus adds the instance; some values are of other clusters.
                assert!(
                    lines.iter().any(|line| line.contains(&format!("{label}=\""))),
                    "{query}: {metric} has no {label}"
                );
                let known = ["error", "warning", "info", "true", "false", "fails", "pass"];
                assert!(known.contains(&value.as_str()), "{query}: {label} is never {value}");
            }
        }
    }
    assert!(queries > 12, "{queries}");
}

#[test]
fn alerts_fire_when_their_tests_say() {
    let promtool = |words: &[&str]| Command::new("promtool").args(words).output();
    let Ok(checked) = promtool(&["check", "rules", "deploy/monitoring/alerts.yaml"]) else {
        return skipped(Need::Promtool, "the alert rules are not tried");
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let tested = promtool(&["test", "rules", "deploy/monitoring/alerts.test.yaml"]).unwrap();
    let said = String::from_utf8_lossy(&tested.stdout).into_owned() + &String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success(), "{said}");
}

#[test]
#[cfg(unix)]
fn templates_of_packages_are_filled_or_refused() {
    let own = tempfile::tempdir().unwrap();
    let targets =
        ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin"];
    let line = |target: &&str| format!("{}  meshdoctor-v9.9.9-{target}.tar.gz\n", "0".repeat(64));
    let (all, some) = (own.path().join("all"), own.path().join("some"));
    std::fs::write(&all, targets.iter().map(line).collect::<String>()).unwrap();
    std::fs::write(&some, targets[..3].iter().map(line).collect::<String>()).unwrap();
    let fill = |sums: &Path| {
        let mut command = Command::new("packaging/fill.sh");
        command.args(["v9.9.9", "https://example.com/r"]).arg(sums).arg(own.path().join("out")).output().unwrap()
    };
    assert!(fill(&all).status.success());
    let krew = documents(&std::fs::read_to_string(own.path().join("out/meshdoctor.yaml")).unwrap());
    assert_eq!(krew[0]["spec"]["version"], "v9.9.9");
    for platform in krew[0]["spec"]["platforms"].as_array().unwrap() {
        assert!(platform["uri"].as_str().unwrap().starts_with("https://example.com/r/meshdoctor-v9.9.9-"));
        assert_eq!(platform["sha256"].as_str().unwrap().len(), 64);
    }
    let refused = fill(&some);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("SHA256 aarch64-apple-darwin"), "{said}");
}

/// Every string of a document.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// The arguments that a shell passes to meshdoctor: a script instead of it prints them, one per line.
#[cfg(unix)]
fn arguments(folder: &Path, script: &str) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let stub = crate::binary::write(folder, "bin/meshdoctor", "#!/bin/sh\nprintf '%s\\n' \"$@\" >> \"$SEEN\"\n");
    std::fs::set_permissions(&stub, PermissionsExt::from_mode(0o755)).unwrap();
    let seen = folder.join("seen");
    _ = std::fs::remove_file(&seen);
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script]).env_clear().env("PATH", path).env("SEEN", &seen);
    shell.envs([("CONTEXT", "prod"), ("NAMESPACE", "shop"), ("NAME", "web")]);
    assert!(shell.output().unwrap().status.success(), "{script}");
    std::fs::read_to_string(seen).unwrap().lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn plugins_of_other_tools_run_existing_commands() {
    use clap::Parser as _;
    let folder = tempfile::tempdir().unwrap();
    for (file, at_least) in [("packaging/holmesgpt/meshdoctor.yaml", 9), ("packaging/k9s/meshdoctor.yaml", 3)] {
        let document = documents(&std::fs::read_to_string(file).unwrap()).remove(0);
        let mut commands = 0;
        for text in strings(&document).into_iter().filter(|text| text.starts_with("meshdoctor ")) {
            // HolmesGPT quotes each value for the shell.
            let (mut filled, mut values) = (text.to_owned(), ["a/b", "shop/api:80"].into_iter().cycle());
            while let (Some(begin), Some(end)) = (filled.find("{{"), filled.find("}}")) {
                let value = if text.contains("--to=") { "2.20" } else { values.next().unwrap() };
                let value = if text.contains("--namespace=") { "shop" } else { value };
                filled.replace_range(begin..end + 2, &format!("'{value}'"));
            }
            let words = arguments(folder.path(), &filled);
            let all = std::iter::once("meshdoctor").chain(words.iter().map(String::as_str));
            if let Err(error) = meshdoctor::cli::args::Cli::try_parse_from(all) {
                panic!("{file}: {text}\n{error}");
            }
            commands += 1;
        }
        assert!(commands >= at_least, "{file}: only {commands}");
    }
}

#[cfg(unix)]
#[test]
fn k9s_checks_one_namespace_or_all() {
    let folder = tempfile::tempdir().unwrap();
    let document = documents(&std::fs::read_to_string("packaging/k9s/meshdoctor.yaml").unwrap()).remove(0);
    let script = document["plugins"]["meshdoctor-check"]["args"][1].as_str().unwrap();
    let one = arguments(folder.path(), script);
    assert_eq!(one, ["check", "--context", "prod", "--namespace=web", "--color", "always"]);
    let all = arguments(folder.path(), &format!("NAME=all; {script}"));
    assert_eq!(all, ["check", "--context", "prod", "--color", "always"]);
}

/// The script of the action, with a command that only prints its arguments.
#[cfg(unix)]
#[test]
fn the_action_takes_a_flag_with_its_value_on_one_line() {
    use std::os::unix::fs::PermissionsExt;
    let action = documents(&std::fs::read_to_string("action.yml").unwrap());
    let script = action[0]["runs"]["steps"][1]["run"].as_str().unwrap();
    let own = tempfile::tempdir().unwrap();
    let stub = own.path().join("meshdoctor");
    std::fs::write(&stub, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |args: &str| {
        let path = format!("{}:{}", own.path().display(), std::env::var("PATH").unwrap());
        let mut command = std::process::Command::new("bash");
        command.args(["-c", script]).env("PATH", path).env("ARGS", args).env("FAIL_ON", "error").env("SARIF", "");
        command.env("SUMMARY", "false").env("RUNNER_TEMP", own.path());
        command.env("GITHUB_OUTPUT", own.path().join("out")).output().unwrap()
    };
    let words = |args: &str| String::from_utf8(run(args).stdout).unwrap();
    let (before, after) = ("check\n-o\ngithub\n", "--fail-on\nerror\n");
    assert_eq!(
        words("--manifests k8s\nmy folder\n--param 'a.b=two words' --skip=viz\n\n--linkerd-version\n2.20\n"),
        format!(
            "{before}--manifests\nk8s\nmy folder\n--param\na.b=two words\n--skip=viz\n--linkerd-version\n2.20\n{after}"
        )
    );
    assert_eq!(
        words("--only $(touch gone) `touch gone`"),
        format!("{before}--only\n$(touch\ngone)\n`touch\ngone`\n{after}")
    );
    assert_eq!(words(""), format!("{before}{after}"));
    let open = run("--only 'viz");
    assert_eq!(open.status.code(), Some(2), "{}", String::from_utf8_lossy(&open.stdout));
}

#[test]
fn hooks_and_action_say_words_that_the_command_takes() {
    let hooks = documents(&std::fs::read_to_string(".pre-commit-hooks.yaml").unwrap());
    let own = tempfile::tempdir().unwrap();
    let manifest = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    std::fs::write(own.path().join("shop.yaml"), manifest).unwrap();
    let entry = hooks[0][0]["entry"].as_str().unwrap();
    let words: Vec<&str> = entry.split_whitespace().skip(1).chain(["."]).collect();
    let output = meshdoctor(&words).current_dir(own.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // The action's own arguments, with its default inputs.
    let action = documents(&std::fs::read_to_string("action.yml").unwrap());
    let script = action[0]["runs"]["steps"][1]["run"].as_str().unwrap();
    assert!(script.contains("meshdoctor check -o github ${words[@]+\"${words[@]}\"}"), "{script}");
    let mut words = vec!["check", "-o", "github"];
    words.extend(action[0]["inputs"]["args"]["default"].as_str().unwrap().lines());
    words.extend(["-o", "sarif=meshdoctor.sarif", "-o", "markdown=meshdoctor.md"]);
    let output = meshdoctor(&words).current_dir(own.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(own.path().join("meshdoctor.sarif").exists() && own.path().join("meshdoctor.md").exists());
}
