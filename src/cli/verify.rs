//! `meshdoctor check --verify`: reads an earlier report, reruns its checks, and reports the state of each finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use super::args::Check;
use super::evidence::{self, EvidenceSource};
use super::format::{Format, Output};
use super::output;
use super::params::Params;
use super::stop::Stop;
use super::{before, config, examine, files, namespaces, request};
use crate::card::Mode;
use crate::cause;
use crate::checks::{self, Settings, Upgrade, evaluate};
use crate::command::{Arg, Command, meshdoctor, own};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::model::traffic::EarlierTraffic;
use crate::policy::{self, Gate, Policy};
use crate::render::document::{self, Document};
use crate::render::{self, Look};
use crate::report::SCHEMA;
use crate::verify::{
    Earlier, EarlierFinding, EarlierGap, Fresh, SameCluster, Tally, TrafficCheck, Verification, same_cluster, verify,
};

/// Maximum size of a report, in bytes.
const MAX_REPORT: u64 = 64 << 20;

pub(super) fn run(args: &Check, path: &Path) -> anyhow::Result<u8> {
    let began = Instant::now();
    forms(&args.report.output)?;
    files::one_standard_output(&args.report.output)?;
    reject_overwriting(&args.report.output, args.save.as_deref(), path, "--verify")?;
    let document = read(path, "--verify").map_err(|stop| config::placed(stop, "verify", path))?;
    let asked = applicable_options(&document);
    let loaded = request::knowledge(args)?;
    let knowledge = loaded.as_ref().unwrap_or_else(|| Knowledge::embedded());
    let selected = selected(args, asked.mode, knowledge)?;
    let mut earlier = earlier(&document, path)?;
    if let Some(selected) = &selected {
        earlier.findings.retain(|f| checks::find(&f.check).is_some_and(|c| selected.contains(c.id)));
    }
    let before = numbers(&document, path)
        .filter(|_| selected.as_ref().is_none_or(|selected| selected.contains(checks::TRAFFIC)));
    if earlier.findings.is_empty() && before.is_none() {
        return Err(nothing_to_verify(selected.is_some()).into());
    }
    let ids: BTreeSet<&'static str> =
        earlier.findings.iter().filter_map(|f| checks::find(&f.check)).map(|check| check.id).collect();
    let compares = before.as_ref().map(|_| checks::TRAFFIC);
    let policy = Policy {
        only: ids.iter().copied().chain(compares).map(str::to_owned).collect(),
        skip: Vec::new(),
        mode: asked.mode,
        ..Policy::default()
    };
    let checks = if policy.only.is_empty() { Vec::new() } else { request::select(&policy, knowledge)? };
    let settings = Settings { before, ..settings(args, &asked, knowledge)? };

    let mut evidence = args.evidence.clone();
    evidence.linkerd_namespace = evidence.linkerd_namespace.or(asked.linkerd_namespace);
    evidence.cni_namespace = evidence.cni_namespace.or(asked.cni_namespace);
    let mut items = policy::run_items(&checks);
    // They identify the cluster and its current nodes.
    items.extend([Item::List(Kind::Namespace), Item::List(Kind::Node)]);
    let way = EvidenceSource::new(&evidence, &args.connection);
    let read = evidence::read(&way, &args.verbosity, &items, args.save.as_deref().into())?;
    namespaces::of_check(args, &read.collected)?;
    let cluster = &read.collected.cluster;

    let same_cluster = same_cluster(&earlier, cluster, &read.origin);
    if same_cluster == SameCluster::No {
        return Err(Stop::usage(
            format!("{} is the report of another cluster than {}", path.display(), read.origin.name),
            "select the cluster of the report with --context, or its evidence with --bundle",
        )
        .into());
    }
    let time_limit = examine::time_limit(began, args.connection.timeout);
    let settings = Settings { time_limit, ..settings };
    let results = evaluate(&checks, cluster, knowledge, &settings);
    let results: BTreeMap<_, _> = results.into_iter().map(|result| (result.id, result)).collect();
    let found = results.values().flat_map(|result| result.findings.iter().cloned()).collect();
    let linked = cause::link_by_cards(found, &cluster.namespaces);
    let fresh = Fresh { cluster, origin: &read.origin, results: &results, findings: &linked, settings: &settings };
    let findings = verify(&earlier, &fresh);
    // Infos count only on request.
    let gate = args.fail_on.map_or(Gate::Warning, request::gate);
    let traffic = settings.before.as_ref().map(|before| TrafficCheck::new(before, &earlier, &fresh));
    let tally = Tally::count(&findings, |severity| gate.fails(severity));
    let tally = traffic.iter().fold(tally, |tally, traffic| traffic.counted(tally, |one| gate.fails(one)));
    let verification = Verification {
        file: path.display().to_string(),
        earlier,
        run: examine::run_since(began),
        origin: read.origin.clone(),
        at: (cluster.at, cluster.time_source),
        knowledge_date: knowledge.date().to_string(),
        same_cluster,
        findings,
        traffic,
        gate: gate.label(),
        tally,
    };
    write(&verification, args).context("the result could not be written")?;
    read.saved(tally.status())
}

/// A report without findings, or without findings of the selected checks.
fn nothing_to_verify(is_selected: bool) -> Stop {
    let cause = match is_selected {
        true => "the report has no findings of the checks that --only and --skip select",
        false => "the report has no findings, so there is nothing to verify",
    };
    Stop::usage(cause, format!("{} runs all checks", own("check")))
}

/// The numbers of proxies to compare with: those from before the report if it was itself a comparison.
fn numbers(document: &Document, path: &Path) -> Option<EarlierTraffic> {
    let before = document.traffic.as_ref().and_then(|traffic| traffic.before.as_ref());
    match before {
        Some(before) => Some(EarlierTraffic { file: before.file.clone(), workloads: before.workloads.clone() }),
        None => before::earlier(document, &path.display().to_string()),
    }
}

/// The supported formats: `linkerd check` has no row for rechecked findings.
fn forms(outputs: &[Output]) -> Result<(), Stop> {
    let known = |output: &Output| matches!(output.format, Format::Table | Format::Short | Format::Json);
    if outputs.iter().all(known) {
        return Ok(());
    }
    Err(Stop::usage("--verify does not support this format", "use table, short or json"))
}

/// Outputs must not overwrite the report that is read.
pub(super) fn reject_overwriting(outputs: &[Output], save: Option<&Path>, path: &Path, flag: &str) -> Result<(), Stop> {
    let Ok(report) = path.canonicalize() else { return Ok(()) };
    let outputs = outputs.iter().filter_map(|output| output.file.as_deref());
    let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == report);
    match outputs.chain(save).find(|other| same(other)) {
        None => Ok(()),
        Some(other) => {
            Err(Stop::usage(format!("{} would be written over what {flag} reads", other.display()), "use another file"))
        }
    }
}

fn write(verification: &Verification, args: &Check) -> anyhow::Result<()> {
    let text = |format: Format, look: Look| match format {
        Format::Short => render::verify::short(verification),
        Format::Json => render::verify::json(verification),
        Format::Table
        | Format::Yaml
        | Format::Linkerd
        | Format::LinkerdTable
        | Format::Plan
        | Format::Sarif
        | Format::Junit
        | Format::Github
        | Format::Gitlab
        | Format::Markdown
        | Format::Prometheus
        | Format::Ndjson
        | Format::Html
        | Format::Extension => render::verify::table(verification, look),
    };
    output::write(&args.report, &args.verbosity, text)?;
    if args.report.output.iter().all(|output| output.file.is_some())
        && !args.report.output.is_empty()
        && !args.verbosity.quiet
    {
        output::print_line(&render::verify::result_line(verification));
    }
    Ok(())
}

/// The checks that `--only` and `--skip` select; `None` if neither was given.
fn selected(args: &Check, mode: Mode, knowledge: &Knowledge) -> anyhow::Result<Option<BTreeSet<&'static str>>> {
    let selection = &args.selection;
    if selection.only.is_empty() && selection.skip.is_empty() {
        return Ok(None);
    }
    let policy = Policy { only: selection.only.clone(), skip: selection.skip.clone(), mode, ..Policy::default() };
    Ok(Some(request::select(&policy, knowledge)?.into_iter().map(|check| check.id).collect()))
}

/// The options of the report's run that can be applied to this one.
struct ApplicableOptions {
    mode: Mode,
    namespaces: Vec<String>,
    to_cni: Option<String>,
    upgrade: Option<[Option<String>; 3]>,
    cni_expected: bool,
    expected_version: Option<String>,
    linkerd_namespace: Option<String>,
    cni_namespace: Option<String>,
    params: Params,
}

fn applicable_options(document: &Document) -> ApplicableOptions {
    let run = &document.run;
    let then = run.asked.clone().unwrap_or_default();
    // A report of 0.1.0 has only the words of its command line.
    let flag = |word: &str| run.asked.is_none() && run.invocation.command.iter().any(|other| other == word);
    let mode = Mode::ALL.into_iter().find(|mode| mode.label() == then.mode);
    ApplicableOptions {
        mode: mode.unwrap_or(match (flag("--pre"), flag("--crds")) {
            (true, _) => Mode::Pre,
            (false, true) => Mode::Crds,
            (false, false) => Mode::Installed,
        }),
        namespaces: then.namespaces,
        to_cni: run.to_cni.clone(),
        upgrade: then.to.clone().map(|to| [Some(to), then.from, then.to_kubernetes]),
        cni_expected: then.linkerd_cni_enabled || flag("--linkerd-cni-enabled"),
        expected_version: then.expected_version,
        linkerd_namespace: then.linkerd_namespace,
        cni_namespace: then.cni_namespace,
        params: then.params,
    }
}

/// The options of this run: its flags, or else those of the report's run.
fn settings(args: &Check, asked: &ApplicableOptions, knowledge: &Knowledge) -> anyhow::Result<Settings> {
    let wrong = |what: &str, value: &str| {
        Stop::usage(
            format!("the report names {what} {value:?}, which is not valid"),
            "give a report that meshdoctor wrote",
        )
    };
    let named = asked.namespaces.iter().chain(&asked.linkerd_namespace).chain(&asked.cni_namespace);
    if let Some(name) = named.into_iter().find(|name| super::values::namespace(name).is_err()) {
        return Err(wrong("a namespace", name).into());
    }
    let to_cni = match (&args.to_cni, &asked.to_cni) {
        (Some(given), _) => Some(given.clone()),
        (None, Some(then)) => {
            Some(super::values::cni_version(then).map_err(|_| wrong("a version of linkerd-cni", then))?)
        }
        (None, None) => None,
    };
    let expected_version = match (&args.expected_version, &asked.expected_version) {
        (Some(given), _) => Some(given.clone()),
        (None, Some(then)) => {
            Some(super::values::linkerd_version(then).map_err(|_| wrong("a version of Linkerd", then))?)
        }
        (None, None) => None,
    };
    let upgrade = asked.upgrade.as_ref().map(|[to, from, kubernetes]| {
        let given = to.clone().unwrap_or_default();
        let releases = knowledge.releases();
        let from = from
            .as_ref()
            .map(|text| super::values::linkerd_version(text).map_err(|_| wrong("a release of Linkerd", text)));
        let kubernetes = kubernetes
            .as_ref()
            .map(|text| super::values::kubernetes_version(text).map_err(|_| wrong("a version of Kubernetes", text)));
        Upgrade::new(&given, from.transpose()?, kubernetes.transpose()?, releases)
            .map_err(|_| wrong("a release of Linkerd", &given))
    });
    let mut params = Params::new();
    for (check, own) in &asked.params {
        // Your own check that is not loaded now is skipped.
        let Some(found) = checks::find(check) else { continue };
        for (name, value) in own {
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let read = found
                .parameter(name, &written)
                .map_err(|_| wrong("a parameter", &format!("{check}.{name}={written}")))?;
            params.entry(found.id.to_owned()).or_default().insert(name.clone(), read);
        }
    }
    let given_mode = request::mode(args.stage.pre, args.stage.crds);
    Ok(Settings {
        linkerd_version: None,
        values: Vec::new(),
        manifests: Vec::new(),
        before: None,
        namespaces: if args.namespace.is_empty() { asked.namespaces.clone() } else { args.namespace.clone() },
        to_cni,
        mode: if given_mode == Mode::Installed { asked.mode } else { given_mode },
        upgrade: upgrade.transpose()?,
        upgraded: false,
        cni_expected: args.stage.linkerd_cni_enabled || asked.cni_expected,
        expected_version,
        data_plane: false,
        no_grace: true,
        params,
        rerun: super::rerun::rerun(&args.evidence, &args.connection),
        time_limit: None,
    })
}

/// Whether a file contains a report, by its beginning.
pub(super) fn is_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = path.is_file() && File::open(path).is_ok_and(|file| file.take(512).read_to_end(&mut head).is_ok());
    let mark = format!("\"schema\": \"{}\"", SCHEMA);
    read && memchr::memmem::find(&head, mark.as_bytes()).is_some()
}

/// Whether a text contains objects of Kubernetes instead of a report: it begins with their keys, as JSON or YAML.
fn is_dump(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let words: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let is_json = ["{\"apiVersion\":", "{\"kind\":", "{\"items\":[", "[{\"apiVersion\":", "[{\"kind\":"]
        .iter()
        .any(|begin| words.starts_with(begin));
    let is_yaml = |line: &str| ["apiVersion: ", "kind: ", "items:"].iter().any(|key| line.starts_with(key));
    is_json || (!words.starts_with(['{', '[']) && head.lines().any(is_yaml))
}

/// Number of bytes at the beginning of a file that show its form.
const HEAD: usize = 512;

/// Reads a report from its file.
pub(super) fn read(path: &Path, flag: &str) -> Result<Document, Stop> {
    let next = format!("{flag} needs the output file of {}", own("check -o json=FILE"));
    let shown = path.display();
    let unreadable =
        |error: std::io::Error| Stop::usage(format!("cannot read the report {shown}: {error}"), next.clone());
    let mut bytes = Vec::new();
    let file: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(File::open(path).map_err(unreadable)?),
    };
    file.take(MAX_REPORT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_REPORT {
        let cause = format!("the report {shown} is larger than {} MiB", MAX_REPORT >> 20);
        return Err(Stop::usage(cause, "give a smaller report: run check with --only or -n"));
    }
    #[derive(serde::Deserialize)]
    struct Tag {
        schema: String,
    }
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let check = Command::from(meshdoctor().words("check").arg(Arg::path(shown.to_string())));
        return Err(Stop::usage(
            format!("{shown} is an archive, not a report"),
            format!("for a bundle or ticket, run {check}"),
        ));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(Stop::usage(format!("{shown}: the file is empty"), next));
    }
    if is_dump(&bytes) {
        let check = Command::from(meshdoctor().words("check").arg(Arg::path(shown.to_string())));
        return Err(Stop::usage(format!("{shown} is a dump, not a report"), format!("check it: {check}")));
    }
    let tag: Tag = serde_json::from_slice(&bytes).map_err(|error| match error.is_eof() {
        true => Stop::usage(format!("{shown} is incomplete: the document ends in the middle"), next.clone()),
        false => Stop::usage(format!("{shown} is not a report: {error}"), next.clone()),
    })?;
    let family = SCHEMA.rsplit_once('/').map_or(SCHEMA, |(family, _)| family);
    if tag.schema != SCHEMA && tag.schema.starts_with(&format!("{family}/")) {
        return Err(Stop::usage(
            format!("{shown} was written by a newer version of meshdoctor (schema {})", tag.schema),
            "update meshdoctor, and run this again",
        ));
    }
    if tag.schema != SCHEMA {
        return Err(Stop::usage(format!("{shown} is not a report: its schema is {:?}", tag.schema), next.clone()));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Stop::usage(format!("{shown}: the report cannot be read: {error}"), next.clone()))
}

/// Refuses the report of a run without a result, with the reason that the report names.
pub(super) fn no_result(document: &Document, path: &Path) -> Stop {
    let why = document.errors.first().map(|error| format!(": {}", error.message)).unwrap_or_default();
    Stop::usage(
        format!("{} is the report of a run without a result{why}", path.display()),
        "give the report of a run that checked a cluster",
    )
}

/// The findings of a report that can be rechecked.
fn earlier(document: &Document, path: &Path) -> Result<Earlier, Stop> {
    let Some(judged_at) = document.run.judged_at else {
        return Err(no_result(document, path));
    };
    let finding = |finding: &document::Finding| EarlierFinding {
        check: finding.check.clone(),
        severity: finding.severity,
        message: finding.message.clone(),
        fingerprint: finding.fingerprint.clone(),
        subjects: finding.subjects.iter().map(document::About::subject).collect(),
    };
    let gap = |gap: &document::Gap| {
        let of = |check: &String| EarlierGap {
            what: gap.what.clone(),
            part: gap.part.clone(),
            why: gap.why.clone(),
            check: check.clone(),
        };
        gap.checks.iter().map(of).collect::<Vec<_>>()
    };
    Ok(Earlier {
        judged_at,
        cluster_uid: document.subject.as_ref().and_then(|s| s.cluster.as_ref()).map(|c| c.uid.clone()),
        origin: document
            .origin
            .as_ref()
            .map(|origin| crate::source::Origin { kind: origin.kind.clone(), name: origin.name.clone() }),
        namespaces: document.run.asked.as_ref().map(|asked| asked.namespaces.clone()).unwrap_or_default(),
        findings: document.findings.iter().map(finding).collect(),
        gaps: document.coverage.gaps.iter().flat_map(gap).collect(),
    })
}
