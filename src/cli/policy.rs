//! `meshdoctor policy`: the effective policy of workload ports.

use super::args::{Policy, PolicyFormat};
use super::evidence::{self, EvidenceSource, Save};
use super::output;
use super::stop::Stop;
use crate::command::{Connection, meshdoctor, own};
use crate::exit;
use crate::fetched::Why;
use crate::inspect::evidence::{OutboundEvidence, PolicyEvidence, outbound_items, policy_items};
use crate::inspect::outbound::{self as calls, Called};
use crate::inspect::policy as inspected;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::policy::NotReadable;
use crate::nearest::closest;
use crate::render::coverage;
use crate::render::look::Look;
use crate::render::outbound as render_calls;
use crate::render::policy as render;
use crate::render::text::some_of;

pub(super) fn run(args: &Policy) -> anyhow::Result<u8> {
    if args.from.is_some() && args.to.is_empty() {
        let cause = "--from names the namespace of the clients of a Service, which --to must name";
        let example = meshdoctor().words("policy --to shop/api --from web");
        return Err(Stop::usage(cause, format!("add it: {example}")).into());
    }
    if args.generate {
        return super::generate::run(args);
    }
    if !args.to.is_empty() {
        return outbound(args, &called(args)?);
    }
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let read = evidence::read(&way, &args.verbosity, &policy_items(), Save::No)?;
    let cluster = &read.collected.cluster;
    let policies =
        PolicyEvidence::read(cluster, Knowledge::embedded()).map_err(|(trouble, gaps)| unreadable(&trouble, &gaps))?;
    let targets = inspected::resolved(&policies, &args.targets());
    if let [lost, ..] = inspected::lost(&policies, &targets).as_slice() {
        let near = inspected::near(&policies, lost).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let within = if lost.workload.is_none() { "in namespace " } else { "" };
        let cause = format!("no pod, workload or ExternalWorkload {within}{lost} exists{near}");
        let next = match lost.workload {
            _ if args.names_generate() => format!(
                "policies for a namespace are printed by {}",
                meshdoctor().words("policy --generate -n").operand(args.namespace_of_generate())
            ),
            Some(_) => format!(
                "{} lists all injected workloads of the namespace",
                meshdoctor().words("policy").operand(lost.namespace.as_str())
            ),
            None => format!("{} without a name lists all injected workloads", own("policy")),
        };
        return Err(Stop::usage(cause, next).into());
    }
    let text = match args.output {
        PolicyFormat::Controller => document(&inspected::as_controller(&policies, &targets))?,
        PolicyFormat::Json => document(&render::json(&policies, &inspected::answers(&policies, &targets)))?,
        PolicyFormat::Table => {
            let answers = inspected::answers(&policies, &targets);
            let look = Look { verbose: args.verbosity.verbose > 0, ..output::look() };
            render::table(&policies, &answers, look)
        }
    };
    output::print(&text)?;
    let said = gaps(&policies.gaps, &super::rerun::connection(&args.connection));
    let may_change = policies.away.is_some() || policies.index.void_later().next().is_some();
    Ok(if may_change { said.max(exit::NOT_CHECKED) } else { said })
}

/// The destinations of `--to`, with the namespace of those that are given without one.
fn called(args: &Policy) -> Result<Vec<Called>, Stop> {
    let within = |called: &Called| called.clone().within(args.namespace.as_deref().unwrap_or_default());
    let all: Vec<Called> = args.to.iter().map(within).collect();
    match all.iter().find(|called| called.lacks_namespace()) {
        Some(called) => {
            let next = meshdoctor().words("policy --to").arg(called.to_string()).words("-n shop");
            let next = format!("write NAMESPACE/{called}, or add -n NAMESPACE: {next}");
            Err(Stop::usage(format!("--to {called} has no namespace"), next))
        }
        None => Ok(all),
    }
}

/// The name of the Service that is most similar to a destination, as a question.
fn near(policies: &OutboundEvidence<'_>, lost: &Called) -> String {
    let Called::Service { namespace, name, .. } = lost else { return String::new() };
    let here = policies.services.iter().map(|service| service.metadata.key());
    let names = here.filter(|(other, _)| other == namespace).map(|(_, name)| name);
    let near = closest(name, names).map(|near| format!("; did you mean {namespace}/{near}?"));
    near.unwrap_or_default()
}

/// The outbound policy of clients for a destination.
fn outbound(args: &Policy, to: &[Called]) -> anyhow::Result<u8> {
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let read = evidence::read(&way, &args.verbosity, &outbound_items(), Save::No)?;
    let cluster = &read.collected.cluster;
    let policies = OutboundEvidence::read(cluster, Knowledge::embedded())
        .map_err(|(trouble, gaps)| unreadable(&trouble, &gaps))?;
    let answers = calls::answers(&policies, to, args.from.as_deref());
    let lost = to.iter().find(|called| !answers.iter().any(|answer| answer.is_about(called)));
    if let Some(lost) = lost {
        let cause = format!("no Service {lost} with a port exists{}", near(&policies, lost));
        return Err(Stop::usage(cause, "give NAMESPACE/SERVICE:PORT, or ADDRESS:PORT").into());
    }
    let text = match args.output {
        PolicyFormat::Controller => {
            document(&calls::as_controller(&answers, &policies.index.controller().cluster_domain))?
        }
        PolicyFormat::Json => document(&render_calls::json(&policies, &answers))?,
        PolicyFormat::Table => render_calls::table(&policies.index, &answers, output::look()),
    };
    output::print(&text)?;
    Ok(gaps(&policies.gaps, &super::rerun::connection(&args.connection)))
}

fn document(value: &serde_json::Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Maximum number of missing kinds that are named.
const SHOWN_KINDS: usize = 4;

/// Reports missing evidence and its effect on the exit status.
pub(super) fn gaps(gaps: &[Missing], connection: &Connection) -> u8 {
    let (in_part, rest) = kinds_of(gaps.iter().collect(), &Why::PerhapsMore);
    if let Some(kinds) = in_part {
        let count = kinds.len();
        output::print_wrapped(&format!(
            "not checked: {count} kinds that the dump may contain only in part; if it lists all objects, \
             add --complete {}",
            kinds.join(",")
        ));
    }
    let (unseen, rest) = kinds_of(rest, &Why::NotCaptured);
    if let Some(kinds) = unseen {
        output::print_wrapped(&format!(
            "not checked: {} kinds that were not provided; {} collects all of them: {}",
            kinds.len(),
            own("collect --output bundle.tar.gz"),
            some_of(&kinds, SHOWN_KINDS)
        ));
    }
    let rest: Vec<Missing> = rest.into_iter().cloned().collect();
    for (missing, ways) in coverage::of_command(&rest, connection) {
        let ways: Vec<String> = ways.iter().map(ToString::to_string).collect();
        output::print_wrapped(&format!("not checked: {missing}; to check this: {}", ways.join("; ")));
    }
    if gaps.is_empty() { exit::FINE } else { exit::NOT_CHECKED }
}

/// The settings of the policy controller could not be read.
pub(super) fn unreadable(trouble: &NotReadable, missing: &[Missing]) -> anyhow::Error {
    let is_of_deployments = |gap: &&Missing| gap.request.item == Item::List(Kind::Deployment);
    // Without the list, the Deployment is not known to be absent.
    if let Some(gap) = missing.iter().find(is_of_deployments).filter(|_| *trouble == NotReadable::Absent) {
        let cause = format!("{gap}; the settings of the policy controller are unknown without it");
        return Stop::could_not_run(cause, format!("to read it: {}", gap.close())).into();
    }
    let next = missing.first().map_or_else(
        || {
            format!(
                "{} shows what the control plane lacks; if it is in another namespace, name it with \
                 --linkerd-namespace",
                own("check")
            )
        },
        |gap| format!("{gap}; to check this: {}", gap.close()),
    );
    Stop::could_not_run(trouble.to_string(), next).into()
}

/// Resources that are missing for the same reason, if there are several; and the other gaps.
fn kinds_of<'a>(gaps: Vec<&'a Missing>, why: &Why) -> (Option<Vec<String>>, Vec<&'a Missing>) {
    let of = |gap: &Missing| match gap.request.item {
        Item::List(kind) if gap.why == *why && gap.part.is_none() => Some(kind.resource().to_owned()),
        _ => None,
    };
    let kinds: Vec<String> = gaps.iter().filter_map(|gap| of(gap)).collect();
    if kinds.len() < 3 {
        return (None, gaps);
    }
    (Some(kinds), gaps.into_iter().filter(|gap| of(gap).is_none()).collect())
}
