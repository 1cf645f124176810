//! The tools of the server: their names, texts and arguments, and the command that each runs.

use std::sync::Arc;

use clap::ValueEnum;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::args::{Confirmed, Rotated, StageArg, TrafficArg};
use super::super::stop::Stop;
use super::answer::ToolAnswer;
use super::documents::{COVERAGE, DocumentKind, WITHOUT, WITHOUT_OF_PLAN};
use super::session::{Ran, Session, Shape};

/// Maximum size of manifests in an argument, in bytes.
const MOST_MANIFESTS: usize = 4 << 20;
/// Name under which texts refer to manifests of an argument.
const MANIFESTS: &str = "manifests.yaml";

/// Reports without the outcome of each check, which the verdict counts.
const REPORT: Shape = Shape { list: &["findings"], without: &WITHOUT, is_report: true };
/// The upgrade plan of a report.
const PLAN: Shape = Shape { list: &["rehearsal", "plan"], without: &WITHOUT_OF_PLAN, is_report: true };
const fn listing(list: &'static [&'static str]) -> Shape {
    Shape { list, without: &[], is_report: false }
}

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// The JSON Schema of the arguments.
    pub(super) schema: fn() -> Result<Arc<JsonObject>, String>,
    /// The documents that it answers with.
    pub(super) documents: &'static [DocumentKind],
    /// Answers a call.
    pub(super) call: fn(&Session, JsonObject) -> anyhow::Result<ToolAnswer>,
}

/// The tools, in the order in which a client lists them.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        title: "Check the mesh",
        about: "Diagnose the mesh: findings with cause, evidence and repair steps, the worst first, and one repair \
                plan. The answer names the report, for diff and coverage.",
        schema: schema::<CheckArguments>,
        documents: &[DocumentKind::Report],
        call: |session, arguments| check(session, &parsed(arguments)?),
    },
    Tool {
        name: "explain",
        title: "Explain a check or a text",
        about: "The page of a check: what it finds, why it matters, how to fix it, and its limits. Or the meaning of a \
                text: a log line, the header l5d-proxy-error, a status code with its headers, an event message, or an \
                exit code of a Linkerd program.",
        schema: schema::<ExplainArguments>,
        documents: &[DocumentKind::Check, DocumentKind::Explanation],
        call: |session, arguments| explain(session, &parsed(arguments)?),
    },
    Tool {
        name: "reach",
        title: "Trace a connection",
        about: "Trace a connection between two workloads step by step, and show where it fails; or, with only a \
                namespace, which of its workloads can connect to which Service ports.",
        schema: schema::<ReachArguments>,
        documents: &[DocumentKind::Reach],
        call: |session, arguments| reach(session, &parsed(arguments)?),
    },
    Tool {
        name: "policy",
        title: "Show effective policy",
        about: "The effective policy of workload ports: who may connect, why, and which policies have no effect. \
                With to, the outbound policy of clients for a Service.",
        schema: schema::<PolicyArguments>,
        documents: &[DocumentKind::Policy, DocumentKind::Outbound],
        call: |session, arguments| policy(session, &parsed(arguments)?),
    },
    Tool {
        name: "injection",
        title: "Predict injection",
        about: "Which pods the injector would give a proxy and why, the annotations that take effect, and the \
                resulting proxy settings; of the cluster, or of manifests given as text.",
        schema: schema::<InjectionArguments>,
        documents: &[DocumentKind::Injection],
        call: |session, arguments| injection(session, &parsed(arguments)?),
    },
    Tool {
        name: "rehearse",
        title: "Preview an upgrade",
        about: "Preview an upgrade of Linkerd: what it breaks and changes on this cluster. With part plan, the \
                phases of the plan in order, with their commands.",
        schema: schema::<RehearseArguments>,
        documents: &[DocumentKind::Report],
        call: |session, arguments| rehearse(session, &parsed(arguments)?),
    },
    Tool {
        name: "with",
        title: "Preview a change",
        about: "Check the cluster as it would be with these manifests applied: what the change introduces, what it \
                fixes, and what stays. Nothing is applied.",
        schema: schema::<WithArguments>,
        documents: &[DocumentKind::Report],
        call: |session, arguments| with(session, &parsed(arguments)?),
    },
    Tool {
        name: "fix",
        title: "Plan repairs",
        about: "The repair plan of the mesh: its steps in order, each with its command and its simulated result. With \
                format, the lines of a shell script, of patches for a kustomization, or of chart values. Nothing is \
                run or written.",
        schema: schema::<FixArguments>,
        documents: &[DocumentKind::Fix, DocumentKind::FixText],
        call: |session, arguments| fix(session, &parsed(arguments)?),
    },
    Tool {
        name: "rotate",
        title: "Plan a rotation of certificates",
        about: "The state of a rotation of the trust anchor or the issuer, its next safe step with the commands, and \
                the steps that must wait.",
        schema: schema::<RotateArguments>,
        documents: &[DocumentKind::Rotation],
        call: |session, arguments| rotate(session, &parsed(arguments)?),
    },
    Tool {
        name: "diff",
        title: "Compare two reports",
        about: "Compare two reports of this server: new, changed, fixed and unchanged findings.",
        schema: schema::<DiffArguments>,
        documents: &[DocumentKind::Diff],
        call: |session, arguments| diff(session, parsed(arguments)?),
    },
    Tool {
        name: "coverage",
        title: "Show missing evidence",
        about: "What was not checked completely: each missing piece of evidence, the reason, the affected checks, and \
                how to provide it.",
        schema: schema::<CoverageArguments>,
        documents: &[DocumentKind::Coverage],
        call: |session, arguments| coverage(session, &parsed(arguments)?),
    },
    Tool {
        name: "list",
        title: "List the checks",
        about: "The checks, with severity and required evidence; or the known defects of Linkerd releases.",
        schema: schema::<ListArguments>,
        documents: &[DocumentKind::List, DocumentKind::Defects],
        call: |session, arguments| list(session, &parsed(arguments)?),
    },
    Tool {
        name: "next_page",
        title: "Continue an answer",
        about: "The next part of a long answer, from the nextCursor of its page.",
        schema: schema::<PageArguments>,
        documents: &[],
        call: |session, arguments| next_page(session, &parsed(arguments)?),
    },
];

/// Which checks run, and on what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckArguments {
    /// Run only these checks or categories; by default all. The tool list names them.
    #[serde(default)]
    only: Vec<String>,
    /// Skip these checks or categories.
    #[serde(default)]
    skip: Vec<String>,
    /// Check only workloads in these namespaces. The control plane is always checked.
    #[serde(default)]
    namespaces: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExplainArguments {
    /// A check id, a hint anchor of linkerd check such as l5d-identity-issuer-cert-is-time-valid, or a text to explain.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReachArguments {
    /// The client: a pod or workload, NAMESPACE/NAME.
    from: Option<String>,
    /// The destination: a Service, workload or pod, NAMESPACE/NAME:PORT; or HOST:PORT.
    to: Option<String>,
    /// Without from and to: show all connections within this namespace.
    namespace: Option<String>,
    /// Kind of traffic; by default, the answer names the kinds that fail.
    traffic: Option<TrafficArg>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PolicyArguments {
    /// NAMESPACE, or NAMESPACE/NAME:PORT of a pod or workload; by default all injected workloads.
    #[serde(default)]
    targets: Vec<String>,
    /// Show the outbound policy for a Service, NAMESPACE/NAME:PORT, or an address, ADDRESS:PORT, instead.
    #[serde(default)]
    to: Vec<String>,
    /// With to: namespace of the clients.
    from: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InjectionArguments {
    /// NAMESPACE, or NAMESPACE/NAME of a pod or workload; by default everything.
    #[serde(default)]
    targets: Vec<String>,
    /// YAML or JSON manifests, as text: show their pods instead of those of the cluster.
    manifests: Option<String>,
    /// Namespace for manifests that name none.
    namespace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RehearseArguments {
    /// The release to upgrade to: a minor such as 2.20, or a release such as edge-26.8.3.
    to: String,
    /// Kubernetes version at the time of the upgrade, such as 1.35.
    to_kubernetes: Option<String>,
    /// The installed release, if the evidence does not contain it.
    from: Option<String>,
    /// Run only these checks or categories; by default all.
    #[serde(default)]
    only: Vec<String>,
    /// Check only workloads in these namespaces. The control plane is always checked.
    #[serde(default)]
    namespaces: Vec<String>,
    /// The part that is answered in pages.
    #[serde(default)]
    part: RehearsalPart,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RehearsalPart {
    /// What the upgrade breaks and changes; a long plan is shortened.
    #[default]
    Findings,
    /// The phases of the plan with all of their commands, without the findings.
    Plan,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithArguments {
    /// YAML or JSON manifests, as text; several documents are separated by lines with ---.
    manifests: String,
    /// Namespace for manifests that name none.
    namespace: Option<String>,
    /// Also delete objects with these labels that the manifests do not contain, like kubectl apply --prune.
    prune: Option<String>,
    /// Run only these checks or categories; by default all.
    #[serde(default)]
    only: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixArguments {
    /// Repair only findings of these checks or categories; by default of all.
    #[serde(default)]
    only: Vec<String>,
    /// Skip these checks or categories.
    #[serde(default)]
    skip: Vec<String>,
    /// Repair only workloads in these namespaces. The control plane is always checked.
    #[serde(default)]
    namespaces: Vec<String>,
    /// Give the plan as lines of text in this format, instead of its steps.
    format: Option<RepairFormat>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RepairFormat {
    /// A shell script that stops at the first failure and at each manual step.
    Script,
    /// Patches of objects, in the form of a kustomization.
    Patch,
    /// The chart values that steps set, for the values files of each chart.
    Values,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RotateArguments {
    /// What to rotate; by default the issuer alone if it expires within 60 days and its trust anchor does not, else
    /// both. A rotation that is in progress is continued in any case.
    of: Option<Rotated>,
    /// Decide whether this step may be done now, instead of the next step.
    may: Option<StageArg>,
    /// A time at which the current issuer was already in place, if no event shows it (RFC 3339).
    issuer_since: Option<String>,
    /// A time at which the current bundle of trust anchors was already in place (RFC 3339).
    bundle_since: Option<String>,
    /// What a person has checked and found ready for the next step.
    #[serde(default)]
    confirm: Vec<Confirmed>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffArguments {
    /// The earlier report, such as r1, or baseline; by default the baseline of the server, else its last report.
    before: Option<String>,
    /// The later report; by default the mesh is checked now.
    after: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CoverageArguments {
    /// A report of this server, such as r1; by default the mesh is checked now.
    report: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// List only these checks or categories.
    #[serde(default)]
    only: Vec<String>,
    /// List known defects of Linkerd releases instead of checks.
    #[serde(default)]
    defects: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PageArguments {
    /// The nextCursor of the page before.
    cursor: String,
}

fn schema<T: JsonSchema + 'static>() -> Result<Arc<JsonObject>, String> {
    rmcp::handler::server::tool::schema_for_input::<T>()
}

/// The arguments of a tool. A single text in place of a list is a list of one.
fn parsed<T: DeserializeOwned + JsonSchema + 'static>(mut arguments: JsonObject) -> Result<T, Stop> {
    let schema = schema::<T>().unwrap_or_default();
    for (name, value) in arguments.iter_mut().filter(|(_, value)| value.is_string()) {
        let wanted = schema.get("properties").map(|properties| &properties[name.as_str()]["type"]);
        if wanted.is_some_and(|wanted| wanted == "array") {
            *value = Value::Array(vec![value.take()]);
        }
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Stop::usage(format!("wrong arguments: {error}"), "the input schema of the tool describes its arguments")
    })
}

/// Words of a command line.
struct Words(Vec<String>);

impl Words {
    fn new(command: &str) -> Words {
        Words::with_output(command, "json")
    }

    fn with_output(command: &str, format: &str) -> Words {
        Words(vec![command.to_owned(), format!("--output={format}")])
    }

    /// Adds a flag once for each value. The value cannot become another flag.
    fn flags<'a>(mut self, flag: &str, values: impl IntoIterator<Item = &'a String>) -> Words {
        self.0.extend(values.into_iter().map(|value| format!("--{flag}={value}")));
        self
    }

    /// Adds operands, which cannot be flags. Call it last.
    fn operands<'a>(mut self, values: impl IntoIterator<Item = &'a String>) -> Words {
        self.0.push("--".to_owned());
        self.0.extend(values.into_iter().cloned());
        self
    }
}

/// A value as the command line takes it.
fn word<T: ValueEnum>(value: Option<T>) -> Option<String> {
    Some(value?.to_possible_value()?.get_name().to_owned())
}

fn answer(session: &Session, words: Words, shape: Shape) -> anyhow::Result<ToolAnswer> {
    Ok(session.keep(session.run(&words.0)?, shape).answer(0))
}

fn check_words(arguments: &CheckArguments) -> Words {
    Words::new("check")
        .flags("only", &arguments.only)
        .flags("skip", &arguments.skip)
        .flags("namespace", &arguments.namespaces)
}

fn check(session: &Session, arguments: &CheckArguments) -> anyhow::Result<ToolAnswer> {
    answer(session, check_words(arguments), REPORT)
}

fn explain(session: &Session, arguments: &ExplainArguments) -> anyhow::Result<ToolAnswer> {
    if arguments.text.trim() == "-" {
        let next = "give the text itself: standard input carries the protocol";
        return Err(Stop::usage("the text is missing", next).into());
    }
    answer(session, Words::new("explain").operands([&arguments.text]), listing(&["checks"]))
}

fn reach(session: &Session, arguments: &ReachArguments) -> anyhow::Result<ToolAnswer> {
    let traffic = word(arguments.traffic);
    let mut words = Words::new("reach").flags("traffic", &traffic).flags("namespace", &arguments.namespace);
    let ends = [&arguments.from, &arguments.to].into_iter().flatten();
    if ends.clone().next().is_none() {
        if arguments.namespace.is_none() {
            let next = "give from and to, or namespace for all connections within it";
            return Err(Stop::usage("the client and the destination are missing", next).into());
        }
        words.0.push("--matrix".to_owned());
    }
    answer(session, words.operands(ends), listing(&["calls"]))
}

fn policy(session: &Session, arguments: &PolicyArguments) -> anyhow::Result<ToolAnswer> {
    let outbound = !arguments.to.is_empty();
    let words =
        Words::new("policy").flags("to", &arguments.to).flags("from", &arguments.from).operands(&arguments.targets);
    answer(session, words, if outbound { listing(&["calls"]) } else { listing(&["workloads"]) })
}

fn injection(session: &Session, arguments: &InjectionArguments) -> anyhow::Result<ToolAnswer> {
    let words = Words::new("injection").flags("into", &arguments.namespace);
    let ran = match &arguments.manifests {
        None => session.run(&words.operands(&arguments.targets).0)?,
        Some(text) => {
            with_manifests(text, |path| session.run(&words.flags("manifests", [path]).operands(&arguments.targets).0))?
        }
    };
    Ok(session.keep(ran, listing(&["workloads"])).answer(0))
}

fn rehearse(session: &Session, arguments: &RehearseArguments) -> anyhow::Result<ToolAnswer> {
    let words = Words::new("check")
        .flags("to", [&arguments.to])
        .flags("to-kubernetes", &arguments.to_kubernetes)
        .flags("from", &arguments.from)
        .flags("only", &arguments.only)
        .flags("namespace", &arguments.namespaces);
    let shape = match arguments.part {
        RehearsalPart::Findings => REPORT,
        RehearsalPart::Plan => PLAN,
    };
    answer(session, words, shape)
}

fn with(session: &Session, arguments: &WithArguments) -> anyhow::Result<ToolAnswer> {
    let words = Words::new("check")
        .flags("into", &arguments.namespace)
        .flags("prune", &arguments.prune)
        .flags("only", &arguments.only);
    let ran = with_manifests(&arguments.manifests, |path| session.run(&words.flags("with", [path]).0))?;
    Ok(session.keep(ran, REPORT).answer(0))
}

fn fix(session: &Session, arguments: &FixArguments) -> anyhow::Result<ToolAnswer> {
    let format = arguments.format.map(|format| match format {
        RepairFormat::Script => "script",
        RepairFormat::Patch => "patch",
        RepairFormat::Values => "values",
    });
    let words = Words::with_output("fix", format.unwrap_or("json"))
        .flags("only", &arguments.only)
        .flags("skip", &arguments.skip)
        .flags("namespace", &arguments.namespaces);
    match format {
        None => answer(session, words, listing(&["steps"])),
        Some(format) => {
            let ran = session.run_to_lines(&words.0, format)?;
            Ok(session.keep(ran, listing(&["lines"])).answer(0))
        }
    }
}

fn rotate(session: &Session, arguments: &RotateArguments) -> anyhow::Result<ToolAnswer> {
    let confirm: Vec<String> = arguments.confirm.iter().filter_map(|one| word(Some(*one))).collect();
    let words = Words::new("rotate")
        .flags("of", &word(arguments.of))
        .flags("may", &word(arguments.may))
        .flags("issuer-since", &arguments.issuer_since)
        .flags("bundle-since", &arguments.bundle_since)
        .flags("confirm", &confirm);
    answer(session, words, listing(&["plan"]))
}

/// Runs a command that reads manifests from a file, and names them in its result as the client knows them.
fn with_manifests(text: &str, run: impl FnOnce(&String) -> anyhow::Result<Ran>) -> anyhow::Result<Ran> {
    if text.len() > MOST_MANIFESTS {
        let cause = format!("the manifests are larger than {} MiB", MOST_MANIFESTS >> 20);
        return Err(Stop::usage(cause, "give only the manifests that change").into());
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(MANIFESTS);
    std::fs::write(&path, text)?;
    let path = path.display().to_string();
    let renamed = |text: &str| text.replace(&path, MANIFESTS);
    let ran = run(&path).map_err(|error| match error.downcast::<Stop>() {
        Ok(stop) => {
            let next = stop.next.as_deref().map(renamed);
            Stop { cause: renamed(&stop.cause), next, ..stop }.into()
        }
        Err(error) => error,
    })?;
    Ok(Ran {
        document: serde_json::from_str(&renamed(&serde_json::to_string(&ran.document)?))?,
        notes: ran.notes.iter().map(|note| renamed(note)).collect(),
        ..ran
    })
}

fn diff(session: &Session, arguments: DiffArguments) -> anyhow::Result<ToolAnswer> {
    let before = arguments.before.or_else(|| session.default_before()).ok_or_else(|| {
        Stop::usage("there is no report to compare with", "call check first; its answer names the report")
    })?;
    let folder = tempfile::tempdir()?;
    let before = session.write_report(&before, folder.path())?;
    let after = match arguments.after {
        Some(after) => after,
        None => session.keep(session.run(&check_words(&CheckArguments::default()).0)?, REPORT).id.clone(),
    };
    let after = session.write_report(&after, folder.path())?;
    let files = [before, after].map(|path| path.display().to_string());
    answer(session, Words::new("diff").operands(&files), listing(&["entries"]))
}

fn coverage(session: &Session, arguments: &CoverageArguments) -> anyhow::Result<ToolAnswer> {
    let report = match &arguments.report {
        Some(id) => session.stored_answer(id)?,
        None => session.keep(session.run(&check_words(&CheckArguments::default()).0)?, REPORT),
    };
    let document = report.document.iter().filter(|(key, _)| COVERAGE.contains(&key.as_str()));
    let ran = Ran {
        status: report.status,
        notes: report.notes.clone(),
        document: document.map(|(key, value)| (key.clone(), value.clone())).collect(),
    };
    Ok(session.keep(ran, listing(&["coverage", "gaps"])).answer(0))
}

fn list(session: &Session, arguments: &ListArguments) -> anyhow::Result<ToolAnswer> {
    let mut words = Words::new("list");
    if arguments.defects {
        words.0.push("--defects".to_owned());
    }
    let shape = if arguments.defects { listing(&["defects"]) } else { listing(&["checks"]) };
    answer(session, words.operands(&arguments.only), shape)
}

fn next_page(session: &Session, arguments: &PageArguments) -> anyhow::Result<ToolAnswer> {
    let wrong = || {
        let cause = format!("{:?} is not a cursor", arguments.cursor);
        Stop::usage(cause, "pass the nextCursor of an answer as it is")
    };
    let (id, from) = arguments.cursor.split_once(':').ok_or_else(wrong)?;
    let from: usize = from.parse().map_err(|_| wrong())?;
    let whole = session.stored_answer(id)?;
    match whole.elements() {
        Some(all) if from < all.len() => Ok(whole.answer(from)),
        _ => Err(wrong().into()),
    }
}
