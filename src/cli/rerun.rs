//! The options to repeat the request of a command line: cluster and evidence, for the commands that a report prints.

use std::path::Path;
use std::time::Duration;

use super::args::{Connection as Flags, EvidenceArgs, PrometheusArgs};
use super::values::{CliVersionArg, LogsArg, NodesArg};
use crate::command::{Connection, Flag, Repeated, Rerun};

/// The default of `--prometheus-window`.
const PROMETHEUS_WINDOW: Duration = Duration::from_secs(600);

/// The evidence options of a run.
pub(super) fn rerun(evidence: &EvidenceArgs, connection: &Flags) -> Rerun {
    let mut options = looked_at(evidence);
    if connection.probe {
        options.push(Flag { option: Repeated::Probe, value: None });
    }
    if evidence.proxies.is_some() {
        options.push(Flag { option: Repeated::Proxies, value: None });
    }
    if let Some(most) = evidence.max_proxies {
        options.push(Flag { option: Repeated::MaxProxies, value: Some(most.to_string()) });
    }
    options.extend(prometheus(&evidence.prometheus));
    if evidence.logs.contains(&LogsArg::Live) {
        options.push(Flag { option: Repeated::Logs, value: None });
    }
    Rerun { connection: self::connection(connection), options, provided: provided(evidence) }
}

/// The options of a run that reads bundles: those at collection time, unless its own flags override them.
pub(super) fn of_bundle(kept: Option<Rerun>, evidence: &EvidenceArgs, connection: &Flags) -> Rerun {
    let own = rerun(evidence, connection);
    let is_dump = kept.is_none();
    let kept = kept.unwrap_or_default();
    let has_own = own.connection != Connection::default();
    let mut options = if own.options.is_empty() { kept.options } else { own.options };
    // Only the run on a dump is without a CLI: the repair is verified on the cluster.
    options.retain(|flag| !is_dump || flag.option != Repeated::LinkerdCli || flag.value.as_deref() != Some("none"));
    // Logs are read again in the cluster; other additional evidence is collected again, and judged together with it.
    let all = kept.provided.into_iter().chain(own.provided);
    let (logs, mut provided): (Vec<Flag>, Vec<Flag>) = all.partition(|flag| flag.option == Repeated::Logs);
    if !logs.is_empty() && options.iter().all(|flag| flag.option != Repeated::Logs) {
        options.push(Flag { option: Repeated::Logs, value: None });
    }
    if provided.iter().all(|flag| flag.option == Repeated::Live) {
        provided.clear();
    }
    if !provided.is_empty() && provided.iter().all(|flag| flag.option != Repeated::Live) {
        provided.insert(0, Flag { option: Repeated::Live, value: None });
    }
    Rerun { connection: if has_own { own.connection } else { kept.connection }, options, provided }
}

/// The connection options; defaults are omitted.
pub(super) fn connection(flags: &Flags) -> Connection {
    let instead = &flags.overrides;
    Connection {
        kubeconfig: flags.kubeconfig.as_deref().map(text),
        context: flags.context.first().cloned(),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
        as_user: flags.as_user.clone(),
        as_groups: flags.as_group.clone(),
        server: instead.server.clone(),
        other_credentials: instead.token.is_some()
            || instead.client_certificate.is_some()
            || instead.client_key.is_some(),
    }
}

fn looked_at(evidence: &EvidenceArgs) -> Vec<Flag> {
    let cli = match &evidence.linkerd_cli {
        Some(CliVersionArg::Path(path)) => Some(text(path)),
        Some(CliVersionArg::None) => Some("none".to_owned()),
        // Omitted, since the version may have changed by the time of the rerun.
        Some(CliVersionArg::Version(_)) | None => None,
    };
    let flags = [
        (Repeated::LinkerdNamespace, evidence.linkerd_namespace.clone()),
        (Repeated::CniNamespace, evidence.cni_namespace.clone()),
        (Repeated::LinkerdCli, cli),
    ];
    let given = flags.into_iter().filter(|(_, value)| value.is_some());
    given.map(|(option, value)| Flag { option, value }).collect()
}

/// The Prometheus server, if metrics are read from one. A token is not repeated, only its file.
fn prometheus(args: &PrometheusArgs) -> Vec<Flag> {
    let Some(server) = &args.prometheus else { return Vec::new() };
    let flag = |option, value: String| Flag { option, value: Some(value) };
    let mut flags = vec![flag(Repeated::Prometheus, server.to_string())];
    if args.prometheus_window != PROMETHEUS_WINDOW {
        let seconds = args.prometheus_window.as_secs();
        flags.push(flag(Repeated::PrometheusWindow, format!("{seconds}s")));
    }
    let files =
        [(Repeated::PrometheusTokenFile, &args.prometheus_token_file), (Repeated::PrometheusCa, &args.prometheus_ca)];
    let files = files.into_iter().filter_map(|(option, path)| Some(flag(option, text(path.as_deref()?))));
    flags.extend(files);
    let labels = args.prometheus_label.iter();
    flags.extend(labels.map(|(name, value)| flag(Repeated::PrometheusLabel, format!("{name}={value}"))));
    flags
}

fn provided(evidence: &EvidenceArgs) -> Vec<Flag> {
    let nodes = evidence.nodes.iter().map(|given| match given {
        NodesArg::One { name, path } => (Repeated::Nodes, format!("{name}={}", path.display())),
        NodesArg::Folder(path) => (Repeated::Nodes, text(path)),
    });
    let nodes = nodes.map(|(option, value)| Flag { option, value: Some(value) });
    let logs = evidence.logs.iter().filter_map(|logs| match logs {
        LogsArg::File(name, path) => {
            Some(Flag { option: Repeated::Logs, value: Some(format!("{name}={}", path.display())) })
        }
        LogsArg::Live => None,
    });
    let live = evidence.live.then_some(Flag { option: Repeated::Live, value: None });
    let diagnostics =
        evidence.diagnostics.iter().map(|given| Flag { option: Repeated::Diagnostics, value: Some(given.to_string()) });
    let given: Vec<Flag> = nodes.chain(logs).chain(diagnostics).collect();
    // Without additional evidence, a cluster is read by default.
    if given.is_empty() { given } else { live.into_iter().chain(given).collect() }
}

pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}
