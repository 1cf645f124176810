//! `proxy-init-failing`: linkerd-init cannot write the redirect rules, and its output shows the reason.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::checks::gvisor;
use crate::checks::host_system::system_of;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::rewrite::{self, Operator, Setter};
use crate::checks::upgrade::{self, Options};
use crate::command::{Call, program};
use crate::finding::{Applies, Step};
use crate::knowledge::{Signature, SignatureScope, System};
use crate::objects::container::INIT_CONTAINER;

/// Maximum number of quoted pods per workload.
const QUOTED: usize = 3;
/// Maximum age of a pod that has failed as a whole.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// Annotation with ranges that linkerd-init skips, its argument and its chart value.
const SUBNETS: &str = "config.linkerd.io/skip-subnets";
const SUBNETS_ARGUMENT: &str = "--subnets-to-ignore";
const SUBNETS_VALUE: &str = "proxyInit.skipSubnets";

/// Annotation with the time for which the kernel keeps half-closed connections, its argument and its chart value.
const CLOSE_WAIT: &str = "config.linkerd.io/close-wait-timeout";
const CLOSE_WAIT_ARGUMENT: &str = "--timeout-close-wait-secs";
const CLOSE_WAIT_VALUE: &str = "proxyInit.closeWaitTimeoutSecs";
/// The signature of a linkerd-init that may not set it.
const CLOSE_WAIT_DENIED: &str = "init-close-wait";

/// A failed run of linkerd-init without a later success.
struct FailedInit<'a> {
    pod: &'a Pod,
    /// The field with its output.
    path: &'static str,
    /// The relevant line of the output.
    line: String,
    restarts: u32,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, &str), (&Signature, Vec<FailedInit<'_>>)> = BTreeMap::new();
    // The last pod of each owner whose linkerd-init has succeeded.
    let mut succeeded: BTreeMap<Owner, Timestamp> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| has_succeeded(pod)) {
        if let Some(created) = pod.metadata.creation_timestamp.get() {
            let last = succeeded.entry(owners.owner(pod)).or_insert(created);
            *last = created.max(*last);
        }
    }
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        if pod.metadata.deletion_timestamp.is_some() || pod.status.phase == "Succeeded" {
            continue;
        }
        let owner = owners.owner(pod);
        // A pod with restartPolicy Never fails as a whole. It is of the past once a later one started.
        let created = pod.metadata.creation_timestamp.get();
        let is_past = created.is_some_and(|created| {
            succeeded.get(&owner).is_some_and(|last| *last > created) || ctx.now().duration_since(created) > RECENT
        });
        if pod.is_finished() && is_past {
            continue;
        }
        if let Some((signature, failed)) = failed(ctx, pod) {
            let group = groups.entry((owner, signature.id.as_str()));
            group.or_insert_with(|| (signature, Vec::new())).1.push(failed);
        }
    }
    Ok(groups.iter().map(|((owner, _), (signature, failed))| finding(ctx, owner, signature, failed)).collect())
}

fn has_succeeded(pod: &Pod) -> bool {
    let statuses = &pod.status.init_container_statuses;
    let status = statuses.iter().find(|status| status.name == INIT_CONTAINER);
    status.and_then(|status| status.state.terminated()).is_some_and(|ended| ended.exit_code == 0)
}

/// The known failure of a pod's linkerd-init; `None` if it has succeeded since or its output is unknown.
fn failed<'a>(ctx: &Context<'a>, pod: &'a Pod) -> Option<(&'a Signature, FailedInit<'a>)> {
    let status = pod.status.init_container_statuses.iter().find(|status| status.name == INIT_CONTAINER)?;
    let (now, before) = (&status.state, status.last_state());
    let (path, ended) = match (now.terminated(), before.terminated()) {
        (Some(ended), _) => ("state.terminated.message", ended),
        (None, Some(ended)) => ("lastState.terminated.message", ended),
        (None, None) => return None,
    };
    if ended.exit_code == 0 {
        return None;
    }
    let signatures = ctx.knowledge.signatures();
    // The log has one line per command; line ends in the command's own output are escaped.
    let mut lines = ended.message.lines().flat_map(|line| line.split("\\n"));
    let known = lines.find_map(|line| {
        signatures.matching(SignatureScope::Init, line).map(|signature| (signature, without_prefix(line)))
    });
    let failed = |path, line: String| FailedInit { pod, path, line, restarts: status.restart_count };
    if let Some((signature, line)) = known {
        return Some((signature, failed(path, line.to_owned())));
    }
    // It sets the timeout first. The help text that follows the error often displaces it from the kept output.
    let signature = signatures.get(CLOSE_WAIT_DENIED)?;
    // The runtime ends a container with another status, or names another error.
    let is_help = ended.message.lines().any(|line| line.trim_start().starts_with('-'));
    let is_own_exit = ended.exit_code == 1 && (ended.message.is_empty() || is_help);
    (is_own_exit && is_denied_close_wait(pod)).then(|| {
        let path = if path.starts_with("state") { "state.terminated" } else { "lastState.terminated" };
        (signature, failed(path, format!("exit code {}", ended.exit_code)))
    })
}

/// Whether linkerd-init has to set the close-wait timeout and runs as a user other than root.
fn is_denied_close_wait(pod: &Pod) -> bool {
    let user = pod.spec.container(INIT_CONTAINER).and_then(|init| init.security_context.as_ref()?.run_as_user);
    user.is_some_and(|user| user != 0) && argument(pod, CLOSE_WAIT_ARGUMENT).is_some_and(|seconds| seconds != "0")
}

/// The value of an argument of linkerd-init.
fn argument<'a>(pod: &'a Pod, name: &str) -> Option<&'a str> {
    pod.spec.container(INIT_CONTAINER)?.argument(name)
}

/// The timeout and the user of a linkerd-init that may not set it.
fn close_wait(pod: &Pod) -> Vec<Evidence> {
    let object = || pod.described();
    let annotation = pod.metadata.annotation(CLOSE_WAIT);
    let annotation =
        annotation.map(|value| Evidence::field(object(), format!("metadata.annotations[{CLOSE_WAIT}]"), value));
    let argument = argument(pod, CLOSE_WAIT_ARGUMENT).map(|seconds| {
        let path = format!("spec.initContainers[{INIT_CONTAINER}].args: {CLOSE_WAIT_ARGUMENT}");
        Evidence::field(object(), path, seconds)
    });
    let user = pod.spec.container(INIT_CONTAINER).and_then(|init| init.security_context.as_ref()?.run_as_user);
    let user = user.map(|user| {
        let path = format!("spec.initContainers[{INIT_CONTAINER}].securityContext.runAsUser");
        Evidence::field(object(), path, user.to_string())
    });
    annotation.or(argument).into_iter().chain(user).collect()
}

/// Removes the logger's prefix from a line, in both of its formats.
fn without_prefix(line: &str) -> &str {
    let starts = ["msg=\"", "\"msg\":\""].into_iter().filter_map(|start| line.split_once(start));
    starts.map(|(_, rest)| rest).next().unwrap_or(line).trim()
}

fn finding(ctx: &Context<'_>, owner: &Owner, signature: &Signature, group: &[FailedInit<'_>]) -> Finding {
    let names: Vec<String> = group.iter().map(|failed| failed.pod.metadata.name.clone()).collect();
    let said = group.iter().take(QUOTED).map(|failed| {
        let object = failed.pod.described();
        let again = match failed.restarts {
            0 => String::new(),
            restarts => format!("; restarted {restarts} times"),
        };
        let path = format!("status.initContainerStatuses[{INIT_CONTAINER}].{}", failed.path);
        Evidence::field(object, path, format!("{}{again}", failed.line))
    });
    let on: BTreeSet<&str> = group.iter().map(|failed| failed.pod.node_name.as_str()).collect();
    let nodes = ctx.optional_list::<Node>().iter().filter(|node| on.contains(node.metadata.name.as_str()));
    let systems = nodes.take(QUOTED).map(|node| {
        let info = &node.status.node_info;
        Evidence::field(
            format!("Node {}", node.metadata.name),
            "status.nodeInfo",
            format!("{}, kernel {}", info.os_image, info.kernel_version),
        )
    });
    let subnets = group.first().filter(|_| signature.id.starts_with("init-subnet"));
    let rejected = group.first().filter(|_| signature.id == "init-subnet-family");
    let timeout = group.first().filter(|_| signature.id == CLOSE_WAIT_DENIED);
    let cause = rejected.and_then(rejected_range).unwrap_or_else(|| signature.cause.clone());
    let sandbox = group.first().and_then(|failed| gvisor::runtime_class(failed.pod));
    if let Some(runtime) = sandbox {
        let cause = "gVisor has a network stack of its own, which does not accept its rules";
        return ctx
            .finding(owner.subject(names), format!("linkerd-init fails, and the pod does not start: {cause}"))
            .of_several(format!("linkerd-init fails, and the pods do not start: {cause}"))
            .parameter("gvisor")
            .likely()
            .evidences(said)
            .evidence(runtime)
            .remedy(gvisor::remedy());
    }
    ctx.finding(owner.subject(names.clone()), format!("linkerd-init fails, and the pod does not start: {cause}"))
        .of_several(format!("linkerd-init fails, and the pods do not start: {cause}"))
        .parameter(&signature.id)
        .evidences(said)
        .evidences(subnets.and_then(|failed| skipped_subnets(failed.pod)))
        .evidences(timeout.map(|failed| close_wait(failed.pod)).unwrap_or_default())
        .evidences(systems.filter(|_| subnets.is_none() && timeout.is_none()))
        .remedy(remedy(ctx, owner, group, signature))
}

/// The cause if one of both programs rejects a range: ``ip6tables v1.8.11 (nf_tables): host/network
/// `10.20.0.0' not found``.
fn rejected_range(failed: &FailedInit<'_>) -> Option<String> {
    let line = failed.line.as_str();
    let program = if line.starts_with("ip6tables") { "ip6tables" } else { "iptables" };
    let (_, rest) = line.split_once("host/network `")?;
    let (address, _) = rest.split_once('\'')?;
    let family = if address.parse::<std::net::IpAddr>().ok()?.is_ipv4() { "IPv4" } else { "IPv6" };
    let annotation = failed.pod.metadata.annotation(SUBNETS);
    let setting = if annotation.is_some() { SUBNETS } else { SUBNETS_VALUE };
    let mut ranges = annotation.unwrap_or_default().split(',').map(str::trim);
    let range = ranges.find(|range| range.split('/').next() == Some(address)).unwrap_or(address);
    Some(format!("{program} rejects the {family} range {range} in {setting}"))
}

/// The ranges that linkerd-init skips: from the annotation, or as the chart passes them.
fn skipped_subnets(pod: &Pod) -> Option<Evidence> {
    let object = pod.described();
    if let Some(ranges) = pod.metadata.annotation(SUBNETS) {
        return Some(Evidence::field(object, format!("metadata.annotations[{SUBNETS}]"), ranges));
    }
    let said = argument(pod, SUBNETS_ARGUMENT)?;
    let path = format!("spec.initContainers[{INIT_CONTAINER}].args: {SUBNETS_ARGUMENT}");
    Some(Evidence::field(object, path, said))
}

/// Removes or corrects skipped ranges, by annotation or chart value.
fn other_subnets(ctx: &Context<'_>, owner: &Owner, group: &[FailedInit<'_>], is_invalid: bool) -> Remedy {
    let is_annotated = group.iter().any(|failed| failed.pod.metadata.annotation(SUBNETS).is_some());
    let setter = rewrite::setter(ctx, owner, SUBNETS);
    let remedy = match (is_annotated, is_invalid) {
        (true, true) => Remedy::new().step(
            StepKind::Annotation,
            format!("Write each range with its prefix length in {SUBNETS}, {}", setter.place()),
        ),
        (true, false) => rewrite::remove(ctx, Remedy::new(), &format!("Remove {SUBNETS}"), owner, SUBNETS),
        (false, true) => Remedy::new()
            .step(StepKind::ChartValue, format!("Write each range with its prefix length in {SUBNETS_VALUE}")),
        (false, false) => {
            let none = Options::none().set(SUBNETS_VALUE, "");
            upgrade::with_values(ctx, Remedy::new(), "Skip no ranges", none)
        }
    };
    let is_of_ipv4 = group.iter().all(|failed| failed.line.starts_with("ip6tables"));
    if is_invalid {
        return remedy;
    }
    let remedy = match is_of_ipv4 {
        true => {
            let act = "Alternatively, if the cluster needs no IPv6, keep the ranges and write no rules for IPv6";
            upgrade::with_values(ctx, remedy, act, Options::none().set("disableIPv6", "true"))
        }
        false => remedy,
    };
    match is_annotated && setter == Setter::Unknown {
        true => remedy.note("If the namespace sets the annotation, remove it there"),
        false => remedy,
    }
}

/// The annotation for ports of servers whose connections bypass the proxy.
const SKIP: &str = "config.linkerd.io/skip-outbound-ports";

/// Adds the step that skips the ports of the servers in removed ranges, where the ranges were set.
fn skipped_ports(ctx: &Context<'_>, remedy: Remedy, owner: &Owner, group: &[FailedInit<'_>]) -> Remedy {
    let act = format!(
        "If you removed the ranges and connections to them must bypass the proxy, skip the ports of their servers \
         instead: set {SKIP}"
    );
    let earlier = group.iter().find_map(|failed| failed.pod.metadata.annotation(SKIP));
    let list = earlier.map(|list| format!("{list},")).unwrap_or_default();
    let of_template = owner.restartable().is_some() && rewrite::setter(ctx, owner, SUBNETS) == Setter::Template;
    if !of_template {
        return remedy.note(format!("{act} in the same place"));
    }
    let before = format!("{{\"spec\":{{\"template\":{{\"metadata\":{{\"annotations\":{{\"{SKIP}\":\"{list}");
    let patch = Arg::from(before).then(Arg::placeholder("PORTS")).then("\"}}}}}");
    if Operator::of_owner(ctx, owner).is_some() {
        return remedy.note(format!("{act} in the same place"));
    }
    remedy.command(
        format!("{act} (PORTS: such as 5432,6379)"),
        kubectl()
            .namespace(&owner.namespace)
            .words("patch")
            .arg(owner.kind.to_lowercase())
            .operand(&owner.name)
            .words("--type merge")
            .option("-p", patch),
    )
}

/// A command on the host of the node of the first failed pod, or in a root shell there if the node is not known or has
/// none for `chroot`.
fn on_host(ctx: &Context<'_>, group: &[FailedInit<'_>], command: Call) -> Command {
    match group.first().map_or("", |failed| failed.pod.node_name.as_str()) {
        "" => Command::in_node_shell([command]),
        node if system_of(ctx, node).is_some_and(System::lacks_shell) => Command::in_node_shell([command]),
        node => Command::on_node(node, [command]),
    }
}

/// Whether the text or the command of a step contains these words.
fn mentions(step: &Step, words: &str) -> bool {
    step.text.contains(words) || step.command.as_ref().is_some_and(|it| it.to_string().contains(words))
}

/// Why pods must be created again after a change of settings.
const AGAIN: &str = "the init container gets its settings when the pod is created";

/// The steps against a failure, and why pods must be created again afterwards.
fn cure(ctx: &Context<'_>, owner: &Owner, group: &[FailedInit<'_>], signature: &Signature) -> (Remedy, &'static str) {
    let remedy = Remedy::new();
    let value =
        |remedy, act: &str, path, value: &str| upgrade::with_values(ctx, remedy, act, Options::none().set(path, value));
    match signature.id.as_str() {
        "init-legacy-missing" => {
            let remedy = value(remedy, "Let linkerd-init use nf_tables", "proxyInit.iptablesMode", "nft");
            let or = "If only some nodes lack the legacy tables, load the modules ip_tables and iptable_nat \
                there instead, and let their image load them at boot";
            (remedy.note(or), AGAIN)
        }
        "init-target-missing" => {
            let remedy = value(remedy, "Let linkerd-init use nf_tables", "proxyInit.iptablesMode", "nft");
            let load = program("modprobe").words("-a xt_REDIRECT xt_owner xt_multiport xt_comment");
            let or = "Or load the modules on the host of each named node, and let their image load them at boot";
            (remedy.command(or, on_host(ctx, group, load)), AGAIN)
        }
        "init-nft-missing" => {
            let load = program("modprobe").words("-a nf_tables nft_compat xt_REDIRECT xt_owner xt_multiport");
            let remedy = remedy.command(
                "Load the modules on the host of each named node, and let their image load them at boot",
                on_host(ctx, group, load),
            );
            let act = "Or, if the kernel lacks these modules, let linkerd-init use the legacy tables";
            (value(remedy, act, "proxyInit.iptablesMode", "legacy"), AGAIN)
        }
        "init-ipv6-missing" => {
            let remedy = value(remedy, "Write no rules for IPv6", "disableIPv6", "true");
            let too = "If linkerd-cni is installed, set disableIPv6 in its chart too";
            (remedy.note(too), AGAIN)
        }
        id @ ("init-subnet-family" | "init-subnet-invalid") => {
            (other_subnets(ctx, owner, group, id == "init-subnet-invalid"), AGAIN)
        }
        CLOSE_WAIT_DENIED => {
            let remedy = value(remedy, "Let linkerd-init run as root", "proxyInit.runAsRoot", "true");
            let is_annotated = |failed: &FailedInit<'_>| failed.pod.metadata.annotation(CLOSE_WAIT).is_some();
            let remedy = match group.iter().any(is_annotated) {
                true => {
                    let act = format!("Or remove {CLOSE_WAIT}");
                    rewrite::remove(ctx, remedy, &act, owner, CLOSE_WAIT)
                }
                false => {
                    let act = "Or keep the timeout of the nodes";
                    value(remedy, act, CLOSE_WAIT_VALUE, "0")
                }
            };
            (remedy, AGAIN)
        }
        "init-chain-exists" => {
            let remedy = remedy.note(
                "Check why the first run in the pod failed. If SELinux denied it, set \
                 proxyInit.privileged=true or use linkerd-cni. Newer releases of linkerd-init flush the \
                 rules of an earlier run",
            );
            (remedy, "the rules of the first run stay in the pod's network as long as the pod exists")
        }
        _ => {
            let options = Options::none().set("proxyInit.privileged", "true").set("proxyInit.runAsRoot", "true");
            let act = "Let linkerd-init run as root and privileged, as SELinux and some runtimes require";
            let remedy = upgrade::with_values(ctx, remedy, act, options);
            let or = "Or use linkerd-cni, which makes linkerd-init unnecessary";
            (remedy.note(or), AGAIN)
        }
    }
}

/// The places other than the pod template that the steps of a remedy change.
fn other_places(remedy: &Remedy) -> Vec<&'static str> {
    let places = [("the namespace", &["the namespace sets"][..]), ("the chart", &["disableIPv6", "runAsRoot"])];
    let is_changed = |signs: &[&str]| signs.iter().any(|sign| remedy.steps.iter().any(|step| mentions(step, sign)));
    places.into_iter().filter(|(_, signs)| is_changed(signs)).map(|(place, _)| place).collect()
}

fn remedy(ctx: &Context<'_>, owner: &Owner, group: &[FailedInit<'_>], signature: &Signature) -> Remedy {
    let pods: Vec<String> = group.iter().map(|failed| failed.pod.metadata.name.clone()).collect();
    let (remedy, because) = cure(ctx, owner, group, signature);
    // A patch of the pod template creates the pods again.
    let key = if signature.id == CLOSE_WAIT_DENIED { CLOSE_WAIT } else { SUBNETS };
    let is_of_template = rewrite::setter(ctx, owner, key) != Setter::Namespace;
    let is_rolled =
        is_of_template && remedy.steps.iter().any(|step| step.kind == StepKind::Annotation && step.command.is_some());
    let is_of_family = signature.id == "init-subnet-family";
    let others = other_places(&remedy);
    let remedy = if is_of_family { skipped_ports(ctx, remedy, owner, group) } else { remedy };
    if is_rolled && others.is_empty() {
        return remedy;
    }
    let mut restart = renew(ctx, owner, &pods, Needs::NewProxy, because);
    if is_rolled {
        let mut act = restart.text;
        if let Some(first) = act.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        restart.text = format!("If you changed {} and not the pod template, {act}", others.join(" or "));
        restart.applies = Applies::Conditionally;
    }
    remedy.with(restart)
}
