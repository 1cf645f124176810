//! Reads a live cluster: connects, reads nodes on request, collects, and cleans up on signals.

#[cfg(not(feature = "live"))]
use super::evidence::Beside;
use super::evidence::{EvidenceSource, Read, Reading};
use super::stop::Stop;
#[cfg(feature = "live")]
use crate::source::nodes::NodeEvidence;

#[cfg(not(feature = "live"))]
pub(super) fn read(_: &Reading<'_>, _: &EvidenceSource<'_>, _: Beside) -> anyhow::Result<Read> {
    Err(without_clusters().into())
}

#[cfg(not(feature = "live"))]
pub(super) fn dry_run(_: &EvidenceSource<'_>) -> anyhow::Result<()> {
    Err(without_clusters().into())
}

#[cfg(not(feature = "live"))]
fn without_clusters() -> Stop {
    let cause = "this build of meshdoctor cannot access clusters";
    Stop::usage(cause, "give a bundle or dump with --bundle, or node evidence with --nodes")
}

#[cfg(not(feature = "live"))]
pub(super) fn pause(_: std::time::Duration) -> anyhow::Result<()> {
    Err(without_clusters().into())
}

#[cfg(feature = "live")]
pub(super) use connected::{dry_run, has_files_left, pause, publish, read};

#[cfg(feature = "live")]
mod connected {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use anyhow::Context;
    use tokio::runtime::{Builder, Runtime};

    use super::super::args;
    use super::super::evidence::{Beside, asks_for_logs, finish, warn};
    use super::super::nothing_read::{self, Reached};
    use super::super::signals::Signals;
    use super::super::values::{CliVersionArg, PrometheusArg};
    use super::super::{node_pods, output, prometheus};
    use super::{EvidenceSource, NodeEvidence, Read, Reading, Stop};
    use crate::affected_pods;
    use crate::collect::{Collected, Observer, Saver, collect};
    use crate::destination_sample;
    use crate::fetched::Why;
    use crate::item::{Item, Kind};
    use crate::log_targets;
    use crate::model::Cluster;
    use crate::objects::Pod;
    use crate::proxy_sample::{self, Selection};
    use crate::report_api::{Published, ReportApi};
    use crate::source::Source;
    use crate::source::diagnostics::Diagnostics;
    use crate::source::layered::Layered;
    use crate::source::live::{
        Cli, Connect, ConnectionOverrides, Done, Live, Prometheus, PrometheusAddress, PublishError, WantedPods,
    };
    use crate::source::logs::Logs;

    /// Time limit for reading a cluster, unless `--timeout` limits the whole run.
    const COLLECTION: Duration = Duration::from_secs(5 * 60);

    /// Reads the cluster, in addition to given node evidence and logs.
    pub(in super::super) fn read(
        reading: &Reading<'_>,
        way: &EvidenceSource<'_>,
        given: Beside,
    ) -> anyhow::Result<Read> {
        let Beside { nodes, logs, diagnostics } = given;
        let began = Instant::now();
        let settings = way.node_pods.map(node_pods::settings).transpose()?;
        let limit = way.connection.timeout.map(|limit| (began, limit));
        let from = metrics_source(way.evidence)?;
        let mut pods_left = false;
        let read = on_runtime(|runtime| {
            finish(reading, None, |saver, progress| {
                runtime.block_on(async {
                    let mut signals = listen()?;
                    let live = connect(way, began, &mut signals).await?;
                    let mut nodes = nodes;
                    if let (Some(settings), Some(flags)) = (&settings, way.node_pods) {
                        let plan = node_pods::plan(&live, settings, &mut signals).await?;
                        let asking =
                            node_pods::Asking { live: &live, plan: &plan, flags, verbosity: reading.verbosity };
                        let (read, left) = asking.read(limit, nodes, &mut signals).await?;
                        warn(read.warnings(), reading.verbosity);
                        pods_left = !left.is_empty();
                        nodes = Some(read);
                    }
                    let live = match way.connection.timeout {
                        Some(_) => live,
                        None => live.with_deadline(Instant::now() + COLLECTION),
                    };
                    // The logs to read depend on the other evidence.
                    let asks = asks_for_logs(way.evidence) && reading.items.contains(&Item::Logs);
                    let (beside, later) = if asks { (None, Some(logs)) } else { (logs, None) };
                    let from = from.filter(|_| reading.items.contains(&Item::Diagnostics));
                    let (given, later_metrics) = match from {
                        Some(from) => (None, Some(LaterMetrics { from, namespaces: way.sampled, given: diagnostics })),
                        None => (diagnostics, None),
                    };
                    let source = Layered::new(live, nodes).with_logs(beside).with_diagnostics(given);
                    let reached = Reached { context: source.base().context(), server: source.base().server() };
                    let stops = |cluster: &Cluster| nothing_read::stop(cluster, &reached, way);
                    let later = Later { logs: later, metrics: later_metrics, stops: &stops };
                    let collecting = collect_in_turn(&source, reading, later, (saver, progress));
                    let collected = tokio::select! {
                        collected = collecting => collected,
                        () = signals.next() => return Err(interrupted().into()),
                    };
                    progress.traffic(&source.base().traffic());
                    Ok((collected?, source.origin()))
                })
            })
        })?;
        Ok(Read { pods_left, ..read })
    }

    /// Evidence that depends on the other evidence, with what was given of it.
    struct Later<'a> {
        /// Logs, if they are read from the cluster.
        logs: Option<Option<Logs>>,
        /// Metrics, if they are read from the cluster.
        metrics: Option<LaterMetrics<'a>>,
        /// The error that ends the run before them, if nothing could be read.
        stops: &'a dyn Fn(&Cluster) -> Option<Stop>,
    }

    /// Metrics that are read from the cluster.
    struct LaterMetrics<'a> {
        /// The way to read them.
        from: MetricsSource,
        /// Namespaces of the proxies; all if empty.
        namespaces: &'a [String],
        /// What was given of them.
        given: Option<Diagnostics>,
    }

    /// The way to read metrics.
    enum MetricsSource {
        /// Port-forwards to a sample of processes: the time between two reads, and the maximum number of proxies.
        Proxies(Duration, usize),
        /// A Prometheus server; without an address, the one of viz.
        Prometheus(PrometheusArg, Prometheus),
    }

    /// The way to read metrics that flags name, if any.
    fn metrics_source(evidence: &args::EvidenceArgs) -> Result<Option<MetricsSource>, Stop> {
        let args = &evidence.prometheus;
        let Some(server) = &args.prometheus else { return Ok(of_proxies(evidence)) };
        let from = Prometheus {
            address: PrometheusAddress::Url(server.to_string()),
            window: args.prometheus_window,
            token: prometheus::token(args)?.map(Into::into),
            certificate_authority: args.prometheus_ca.clone(),
            labels: args.prometheus_label.clone(),
        };
        Ok(Some(MetricsSource::Prometheus(server.clone(), from)))
    }

    fn of_proxies(evidence: &args::EvidenceArgs) -> Option<MetricsSource> {
        let most = evidence.max_proxies.map_or(proxy_sample::OF_WORKLOADS, usize::from);
        evidence.proxies.map(|interval| MetricsSource::Proxies(interval, most))
    }

    /// Reads metrics of the processes that the rest of the evidence, of these items, shows.
    async fn read_metrics(
        live: &Live,
        (cluster, items): (&Cluster, &BTreeSet<Item>),
        later: LaterMetrics<'_>,
    ) -> Diagnostics {
        let LaterMetrics { from, namespaces, given } = later;
        let mut given = given.unwrap_or_default();
        match from {
            MetricsSource::Proxies(interval, most) => {
                let affected = affected_pods::all(cluster, items);
                let selection = Selection { namespaces, affected: &affected, most };
                let sample = proxy_sample::select(cluster, &selection);
                let replicas = destination_sample::select(cluster, namespaces, &affected);
                let metrics = live.metrics(&sample, interval, given);
                let endpoints = live.endpoints(&replicas, interval);
                let certificates = live.certificates(&sample.certificates);
                let (mut all, endpoints, certificates) = tokio::join!(metrics, endpoints, certificates);
                endpoints.into_iter().chain(certificates).for_each(|answer| all.add(answer));
                all
            }
            MetricsSource::Prometheus(server, mut from) => {
                if server == PrometheusArg::Viz {
                    let Some((namespace, pod, port)) = proxy_sample::prometheus_of_viz(cluster) else {
                        given.fail(Why::Failed { message: NO_PROMETHEUS.to_owned() });
                        return given;
                    };
                    from.address = PrometheusAddress::Pod { namespace, pod, port };
                }
                let pods = cluster.answer(&Item::List(Kind::Pod));
                let wanted = WantedPods {
                    pods: pods.map_or(&[][..], |answer| answer.objects::<Pod>()),
                    control_plane: &cluster.namespaces.control_plane,
                    namespaces,
                };
                live.prometheus(&from, &wanted, given).await
            }
        }
    }

    const NO_PROMETHEUS: &str =
        "no running pod of the viz extension's Prometheus was found; give its URL with --prometheus";

    /// Collects the evidence; metrics and logs last, since the processes to read follow from the rest.
    ///
    /// # Errors
    /// Nothing could be read, and metrics and logs would not change that.
    async fn collect_in_turn(
        source: &Layered<Live>,
        reading: &Reading<'_>,
        later: Later<'_>,
        (saver, progress): (Option<&dyn Saver>, &dyn Observer),
    ) -> Result<Collected, Stop> {
        let mut items = reading.items.clone();
        if later.logs.is_some() {
            items.remove(&Item::Logs);
        }
        if later.metrics.is_some() {
            items.remove(&Item::Diagnostics);
        }
        let options = &reading.options;
        let mut collected = collect(source, &items, options, saver, progress).await;
        if let Some(stop) = (later.stops)(&collected.cluster) {
            return Err(stop);
        }
        let alone = || Layered::new(NodeEvidence::default(), None);
        if let Some(metrics) = later.metrics {
            let metrics = read_metrics(source.base(), (&collected.cluster, &items), metrics).await;
            let metrics = alone().with_diagnostics(Some(metrics));
            let item = BTreeSet::from([Item::Diagnostics]);
            collected.add(collect(&metrics, &item, options, saver, progress).await);
            items.extend(item);
        }
        if let Some(given) = later.logs {
            let wanted = log_targets::wanted(&collected.cluster, &items);
            let logs = source.base().tails(&wanted, given.unwrap_or_default()).await;
            let logs = alone().with_logs(Some(logs));
            let item = BTreeSet::from([Item::Logs]);
            collected.add(collect(&logs, &item, options, saver, progress).await);
        }
        Ok(collected)
    }

    /// Prints the pods that `--node-pods` would create.
    pub(in super::super) fn dry_run(way: &EvidenceSource<'_>) -> anyhow::Result<()> {
        let began = Instant::now();
        let Some(flags) = way.node_pods else { return Ok(()) };
        let settings = node_pods::settings(flags)?;
        on_runtime(|runtime| {
            runtime.block_on(async {
                let mut signals = listen()?;
                let live = connect(way, began, &mut signals).await?;
                node_pods::dry_run(&node_pods::plan(&live, &settings, &mut signals).await?)
            })
        })
    }

    /// Writes a report into the cluster, and returns what was done.
    pub(in super::super) fn publish(
        way: &EvidenceSource<'_>,
        wanted: impl FnOnce(ReportApi, &[serde_json::Value]) -> Published,
    ) -> anyhow::Result<Done> {
        let began = Instant::now();
        on_runtime(|runtime| {
            runtime.block_on(async {
                let mut signals = listen()?;
                let live = connect(way, began, &mut signals).await?;
                let writing = async {
                    let standing = live.published().await?;
                    let wanted = wanted(standing.api, &standing.reports);
                    Ok::<Done, PublishError>(live.publish(&standing, &wanted).await)
                };
                tokio::select! {
                    done = writing => Ok(done?),
                    () = signals.next() => Err(interrupted().into()),
                }
            })
        })
    }

    /// Waits for a time, or until a signal ends the run.
    pub(in super::super) fn pause(time: Duration) -> anyhow::Result<()> {
        on_runtime(|runtime| {
            runtime.block_on(async {
                let mut signals = listen()?;
                tokio::select! {
                    () = tokio::time::sleep(time) => Ok(()),
                    () = signals.next() => Err(interrupted().into()),
                }
            })
        })
    }

    /// Minimum number of files that a run opens: sockets, signal pipes, the runtime's own.
    #[cfg(unix)]
    const FILES: usize = 24;

    /// Rejects a run that would reach the limit of open files: the runtime panics in that case.
    #[cfg(unix)]
    pub(in super::super) fn has_files_left() -> Result<(), Stop> {
        use std::os::fd::AsFd;
        let stderr = std::io::stderr();
        let mut held = Vec::new();
        for _ in 0..FILES {
            match stderr.as_fd().try_clone_to_owned() {
                Ok(file) => held.push(file),
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => {
                    let cause = format!(
                        "this process may open only {} more files, but reading a live cluster needs {FILES}",
                        held.len()
                    );
                    return Err(Stop::could_not_run(cause, "raise the limit: ulimit -n 1024"));
                }
                // A closed standard error is not a reason to stop.
                Err(_) => break,
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(in super::super) fn has_files_left() -> Result<(), Stop> {
        Ok(())
    }

    fn on_runtime<T>(work: impl FnOnce(&Runtime) -> anyhow::Result<T>) -> anyhow::Result<T> {
        has_files_left()?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.context("cannot start threads")?;
        let result = work(&runtime);
        // A hanging credential plugin or read must not delay the exit.
        runtime.shutdown_background();
        result
    }

    fn listen() -> anyhow::Result<Signals> {
        Signals::listen().context("cannot listen for signals")
    }

    async fn connect(way: &EvidenceSource<'_>, began: Instant, signals: &mut Signals) -> anyhow::Result<Live> {
        let connection = way.connection;
        if let [_, _, ..] = connection.context.as_slice() {
            return Err(Stop::usage(
                "several contexts are given, but this command reads one cluster",
                format!("{} accepts several", crate::command::own("check")),
            )
            .into());
        }
        let connect = Connect {
            kubeconfig: connection.kubeconfig.clone(),
            context: connection.context.first().cloned(),
            cluster: connection.cluster.clone(),
            user: connection.user.clone(),
            overrides: overrides(&connection.overrides),
            as_user: connection.as_user.clone(),
            as_groups: connection.as_group.clone(),
            request_timeout: connection.request_timeout,
            disable_compression: connection.disable_compression,
            deadline: connection.timeout.map(|limit| began + limit),
            cli: match &way.evidence.linkerd_cli {
                None => Cli::OnPath,
                Some(CliVersionArg::None) => Cli::None,
                Some(CliVersionArg::Path(path)) => Cli::At(path.clone()),
                Some(CliVersionArg::Version(version)) => Cli::Given(version.clone()),
            },
            from_cache: way.from_cache,
            notice: if way.quiet { |_| () } else { output::print_line },
            ..Connect::default()
        };
        let live = tokio::select! {
            live = Live::connect(connect) => live,
            () = signals.next() => return Err(interrupted().into()),
        };
        live.map(|live| live.with_probes(connection.probe)).map_err(|error| {
            let (cause, next) = (error.to_string(), error.next_step());
            let stop = if error.is_usage() { Stop::usage(cause, next) } else { Stop::could_not_run(cause, next) };
            Stop { was_asked: error.had_client(), ..stop }.into()
        })
    }

    fn overrides(given: &args::ConnectionOverrides) -> ConnectionOverrides {
        ConnectionOverrides {
            server: given.server.clone(),
            certificate_authority: given.certificate_authority.clone(),
            insecure_skip_tls_verify: given.insecure_skip_tls_verify,
            tls_server_name: given.tls_server_name.clone(),
            client_certificate: given.client_certificate.clone(),
            client_key: given.client_key.clone(),
            token: given.token.clone().map(|token| token.0.into()),
        }
    }

    fn interrupted() -> Stop {
        Stop::interrupted("interrupted", "nothing was changed in the cluster; run it again")
    }
}
