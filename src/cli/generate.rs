//! `meshdoctor policy --generate`: manifests of policies, proven on top of the evidence before they are printed.

use std::collections::BTreeSet;

use super::args::Policy;
use super::evidence::EvidenceSource;
use super::stop::Stop;
use super::{change, output, policy};
use crate::checks::change::compare as change_of;
use crate::checks::{self, Check, Settings, evaluate};
use crate::collect::{Collected, Options, collect_now};
use crate::command::meshdoctor;
use crate::exit;
use crate::finding::{Severity, When};
use crate::inspect::evidence::{OutboundEvidence, PolicyEvidence, reach_items};
use crate::inspect::policy_manifests::{Comparison, Manifests, Mode, NotGenerated, absent_clients, compare, generate};
use crate::inspect::reach::Mesh;
use crate::inspect::sync::{self, Sync};
use crate::item::{EXTENSION_LABEL, Item, Kind};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::policy::NotReadable;
use crate::objects::{Namespace, Pod};
use crate::policy::run_items;
use crate::render::policy_manifests as render;
use crate::source::change::{Change, Set};

pub(super) fn run(args: &Policy) -> anyhow::Result<u8> {
    let namespaces = namespaces(args)?;
    let knowledge = Knowledge::embedded();
    let mut items = reach_items();
    let has_metrics = args.evidence.proxies.is_some()
        || args.evidence.prometheus.prometheus.is_some()
        || !args.evidence.diagnostics.is_empty();
    if has_metrics {
        items.extend(sync::items());
    }
    items.insert(Item::List(Kind::Namespace));
    items.extend([Kind::Deployment, Kind::CronJob].map(Item::List));
    let policy_checks: Vec<&'static Check> =
        checks::all().filter(|check| check.card().front.category == POLICY).collect();
    items.extend(run_items(&policy_checks));
    change::items(&mut items);
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let kept = change::gather_and_save(&way, &args.verbosity, &items, None)?;
    let today = &kept.read.collected;
    super::namespaces::known(&namespaces, &args.evidence, false, today, &args.verbosity)?;
    refuse_own(today, &namespaces)?;
    let mode = if args.enforce { Mode::Enforce } else { Mode::Audit };
    let evidence = policies(today)?;
    let sync = has_metrics.then(|| Sync::read(&today.cluster, knowledge, &[]));
    let mut all: Vec<(String, Manifests)> = Vec::new();
    let mut set = Set::default();
    for namespace in &namespaces {
        let manifests = generate(&today.cluster, &evidence, sync.as_ref(), namespace, mode).map_err(unsupported)?;
        for (kind, object) in manifests.ports.iter().flat_map(|port| &port.objects) {
            set.put(*kind, object.clone());
        }
        all.push((namespace.clone(), manifests));
    }
    let missing = evidence.gaps.clone();
    if set.count() == 0 {
        output::print(&render::text(&all, &Comparison::default(), mode))?;
        return Ok(policy::gaps(&missing, &super::rerun::connection(&args.connection)));
    }
    let source = Change::new(&kept.again, &set, knowledge, today.cluster.at);
    let then = collect_now(&source, &items, &options(today), None);
    let clients = clients(today);
    let mut compared = compared(&mesh(today, evidence)?, &mesh(&then, policies(&then)?)?, &namespaces, &clients);
    if mode == Mode::Enforce {
        compared.absent = absent_clients(&today.cluster, &all, &today.cluster.namespaces.control_plane);
    }
    judged(&policy_checks, (today, &then), knowledge, &mut compared);
    output::print(&render::text(&all, &compared, mode))?;
    let gaps = policy::gaps(&missing, &super::rerun::connection(&args.connection));
    if !args.verbosity.quiet {
        render::proof(&compared).iter().for_each(|line| output::print_line(line));
    }
    Ok(match () {
        () if !compared.denied.is_empty() || !compared.problems.is_empty() => exit::FINDINGS,
        () if !compared.unknown.is_empty() || compared.left > 0 => exit::NOT_CHECKED,
        () if !compared.absent.is_empty() || !compared.unread.is_empty() => exit::NOT_CHECKED,
        () => gaps,
    })
}

/// The category of the checks that judge policies.
const POLICY: &str = "policy";

/// Adds the problems that the checks of policies report with the manifests and not today. They cover clients that are
/// not pods, such as the API server and the kubelet.
fn judged(
    policy_checks: &[&'static Check],
    (today, then): (&Collected, &Collected),
    knowledge: &Knowledge,
    compared: &mut Comparison,
) {
    let settings = Settings::default();
    let of = |collected: &Collected| evaluate(policy_checks, &collected.cluster, knowledge, &settings);
    let results = change_of(of(today), of(then));
    let unread = results.iter().flat_map(|result| &result.gaps).filter(|gap| gap.was_asked_for());
    let unread = unread.filter(|gap| CALLERS.iter().any(|kind| gap.request.item == Item::List(*kind)));
    let unread: BTreeSet<String> = unread.map(|gap| gap.request.item.to_string()).collect();
    compared.unread.extend(unread);
    let findings = results.into_iter().flat_map(|result| result.findings);
    let begun = findings
        .filter(|finding| finding.when == When::AfterChange && finding.severity >= Severity::Warning)
        .map(|finding| {
            let subjects: Vec<String> = finding.subjects.iter().map(ToString::to_string).collect();
            format!("{}: {}: {}", finding.check, subjects.join(", "), finding.message)
        });
    compared.problems.extend(begun);
}

/// Kinds of objects with which the API server becomes a client.
const CALLERS: [Kind; 3] = [Kind::ValidatingWebhookConfiguration, Kind::MutatingWebhookConfiguration, Kind::APIService];

/// The namespaces of the command line.
fn namespaces(args: &Policy) -> anyhow::Result<Vec<String>> {
    let targets = args.targets();
    if targets.is_empty() {
        let next = meshdoctor().words("policy --generate NAMESPACE");
        return Err(Stop::usage("--generate needs a namespace", format!("name it: {next}")).into());
    }
    if let Some(named) = targets.iter().find(|target| target.workload.is_some()) {
        let cause = format!("--generate is for whole namespaces, not for {named}");
        return Err(Stop::usage(cause, "name the namespace only").into());
    }
    Ok(targets.into_iter().map(|target| target.namespace).collect())
}

fn unsupported(why: NotGenerated) -> anyhow::Error {
    match why {
        NotGenerated::NoAudit => {
            let cause = "the installed release has no audit policy (Servers of v1beta3, Linkerd 2.16)";
            let next = "upgrade first, or add --enforce for policies that deny every client that they do not name";
            Stop::usage(cause, next).into()
        }
    }
}

fn options(today: &Collected) -> Options {
    let namespaces = &today.cluster.namespaces;
    Options {
        control_plane_namespace: Some(namespaces.control_plane.clone()),
        cni_namespace: Some(namespaces.cni.clone()),
        at: Some(today.cluster.at),
        ..Options::default()
    }
}

/// Refuses namespaces of Linkerd: their charts bring the policies that their clients need.
fn refuse_own(today: &Collected, namespaces: &[String]) -> anyhow::Result<()> {
    let answer = today.cluster.answer(&Item::List(Kind::Namespace));
    let all: &[Namespace] = answer.map_or(&[][..], |answer| answer.objects());
    let is_extension =
        |name: &str| all.iter().any(|one| one.metadata.name == name && one.metadata.label(EXTENSION_LABEL).is_some());
    let own = &today.cluster.namespaces;
    let is_own = |name: &&String| **name == own.control_plane || **name == own.cni || is_extension(name);
    match namespaces.iter().find(is_own) {
        Some(name) => {
            let cause = format!("--generate is not for {name}, which holds a part of Linkerd");
            let next = "name the namespaces of your applications: Linkerd's charts have the policies of its parts";
            Err(Stop::usage(cause, next).into())
        }
        None => Ok(()),
    }
}

/// The namespaces whose workloads may be clients. The control plane connects to no application.
fn clients(today: &Collected) -> Vec<String> {
    let answer = today.cluster.answer(&Item::List(Kind::Pod));
    let pods: &[Pod] = answer.map_or(&[][..], |answer| answer.objects());
    let everywhere: BTreeSet<String> = pods.iter().map(|pod| pod.metadata.namespace.to_string()).collect();
    let control_plane = &today.cluster.namespaces.control_plane;
    everywhere.into_iter().filter(|name| name != control_plane).collect()
}

/// The connections of the clients to these namespaces, today and with the manifests.
fn compared(before: &Mesh<'_>, after: &Mesh<'_>, namespaces: &[String], everywhere: &[String]) -> Comparison {
    let mut all = Comparison::default();
    for namespace in namespaces {
        let one = compare(before, after, everywhere, namespace);
        all.clients = one.clients;
        all.destinations += one.destinations;
        all.kept += one.kept;
        all.opened.extend(one.opened);
        all.unknown.extend(one.unknown);
        all.left += one.left;
        all.denied.extend(one.denied);
    }
    all
}

fn policies(collected: &Collected) -> anyhow::Result<PolicyEvidence<'_>> {
    PolicyEvidence::read(&collected.cluster, Knowledge::embedded()).map_err(unreadable)
}

fn unreadable((trouble, gaps): (NotReadable, Vec<Missing>)) -> anyhow::Error {
    policy::unreadable(&trouble, &gaps)
}

fn mesh<'a>(collected: &'a Collected, policies: PolicyEvidence<'a>) -> anyhow::Result<Mesh<'a>> {
    let knowledge = Knowledge::embedded();
    let outbound = OutboundEvidence::read(&collected.cluster, knowledge).map_err(unreadable)?;
    let connection = crate::command::Connection::default();
    Ok(Mesh::new(policies, outbound, &collected.cluster, knowledge, connection, None))
}
