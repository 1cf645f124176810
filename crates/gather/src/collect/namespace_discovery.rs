//! Namespaces of the control plane, linkerd-cni and the extensions, from flags and the first results. Requests for
//! named objects wait for it. Sends no requests; unknown namespaces stay unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::sanitizer::store_of;
use super::{Gathered, Options};
use crate::fetched::{Fetched, Why};
use crate::item::answer::runs;
use crate::item::{EXTENSION_LABEL, Extension, Item, Kind, Namespaces, Probe, Program, Scope, controller_config_of};
use crate::model::cluster::Answer;
use crate::model::ingress_controller::config_map;
use crate::objects::{Link, Meta, Namespace, Object, Pod, Service, Workload};
use crate::request::Request;

/// Namespaces of the control plane and linkerd-cni: from flags, else from labels of running workloads, else the usual
/// names.
pub(super) fn namespaces(options: &Options, gathered: &BTreeMap<Item, Gathered>) -> Namespaces {
    let usual = Namespaces::default();
    let found = |kind: Kind, is_it: fn(&Workload) -> bool, usual: &str| {
        let workloads =
            gathered.get(&Item::List(kind)).and_then(|g| g.answer.as_ref()).map(Answer::objects::<Workload>);
        let homes: BTreeSet<&str> = workloads
            .unwrap_or_default()
            .iter()
            .filter(|workload| is_it(workload))
            .map(|workload| workload.metadata.namespace.as_str())
            .collect();
        if homes.contains(usual) {
            return usual.to_owned();
        }
        homes.first().map_or_else(|| usual.to_owned(), |home| (*home).to_owned())
    };
    let control_plane = |w: &Workload| {
        matches!(
            w.metadata.label("linkerd.io/control-plane-component"),
            Some("destination" | "identity" | "proxy-injector")
        )
    };
    let cni = |w: &Workload| w.metadata.label("k8s-app") == Some("linkerd-cni") || crate::model::cni::is_installer(w);
    Namespaces {
        control_plane: options
            .control_plane_namespace
            .clone()
            .unwrap_or_else(|| found(Kind::Deployment, control_plane, &usual.control_plane)),
        cni: options.cni_namespace.clone().unwrap_or_else(|| found(Kind::DaemonSet, cni, &usual.cni)),
        extensions: extensions(gathered),
        empty_extensions: empty_extensions(gathered),
    }
}

/// Namespaces of the extensions, if the list of namespaces is known. Of several with the label, the first with objects
/// of the extension: a leftover or copied label must not hide the real one. If no namespace with the label has such
/// objects, the first without the label that does.
fn extensions(gathered: &BTreeMap<Item, Gathered>) -> BTreeMap<Extension, String> {
    let chosen = |extension: &Extension| {
        let labelled = labelled(gathered, *extension);
        let homes = homes(gathered, *extension);
        let filled = labelled.iter().find(|namespace| homes.contains(*namespace));
        filled.or(homes.first()).or(labelled.first()).map(|namespace| (*namespace).to_owned())
    };
    let is_known = gathered.get(&Item::List(Kind::Namespace)).is_some_and(|list| list.answer.is_some());
    let all = Extension::ALL.into_iter().filter(|_| is_known);
    all.filter_map(|extension| Some((extension, chosen(&extension)?))).collect()
}

/// Extensions with a labelled namespace but without Deployment and pods. Unknown if Deployments are incomplete.
fn empty_extensions(gathered: &BTreeMap<Item, Gathered>) -> BTreeSet<Extension> {
    let deployments = gathered.get(&Item::List(Kind::Deployment)).map(|gathered| &gathered.fetched);
    if deployments != Some(&Fetched::Complete) {
        return BTreeSet::new();
    }
    let is_empty =
        |extension: &Extension| !labelled(gathered, *extension).is_empty() && homes(gathered, *extension).is_empty();
    Extension::ALL.into_iter().filter(is_empty).collect()
}

/// Whether the namespace of an extension depends on Deployments, but no list of them was requested: one has its label,
/// or named objects in it will be read.
pub(super) fn undecided(items: &BTreeSet<Item>, gathered: &BTreeMap<Item, Gathered>) -> bool {
    let asked = gathered.contains_key(&Item::List(Kind::Deployment));
    let is_in_extension = |item: &Item| matches!(item.scope(), Some(Scope::Extension(_)));
    let is_labelled = || Extension::ALL.iter().any(|extension| !labelled(gathered, *extension).is_empty());
    !asked && (items.iter().any(is_in_extension) || is_labelled())
}

/// Namespaces with the label of an extension, in order.
fn labelled(gathered: &BTreeMap<Item, Gathered>, extension: Extension) -> Vec<&str> {
    let labelled = |n: &&Namespace| n.metadata.label(EXTENSION_LABEL) == Some(extension.name());
    let namespaces = objects::<Namespace>(gathered, Kind::Namespace);
    namespaces.iter().filter(labelled).map(|n| n.metadata.name.as_str()).collect()
}

/// The namespaces with Deployments or pods of an extension, or with Links for multicluster.
fn homes(gathered: &BTreeMap<Item, Gathered>, extension: Extension) -> BTreeSet<&str> {
    let of_it = |meta: &&Meta| meta.label(EXTENSION_LABEL) == Some(extension.name());
    let deployments = objects::<Workload>(gathered, Kind::Deployment).iter().map(|one| &one.metadata);
    let pods = objects::<Pod>(gathered, Kind::Pod).iter().map(|one| &one.metadata);
    let found: BTreeSet<&str> = deployments.chain(pods).filter(of_it).map(|meta| meta.namespace.as_str()).collect();
    if extension == Extension::Multicluster && found.is_empty() {
        let links = objects::<Link>(gathered, Kind::Link).iter();
        return links.map(|link| link.metadata.namespace.as_str()).collect();
    }
    found
}

fn objects<T: Object>(gathered: &BTreeMap<Item, Gathered>, kind: Kind) -> &[T] {
    let answer = gathered.get(&Item::List(kind)).and_then(|gathered| gathered.answer.as_ref());
    answer.map(Answer::objects::<T>).unwrap_or_default()
}

/// Whether all namespaces are known, so that a missing home does not exist.
pub(super) fn namespaces_known(gathered: &BTreeMap<Item, Gathered>) -> Fetched {
    match gathered.get(&Item::List(Kind::Namespace)).map(|g| &g.fetched) {
        Some(Fetched::Complete) => Fetched::Complete,
        Some(Fetched::Partial { reasons }) => {
            Fetched::Missing { reason: reasons.first().cloned().unwrap_or(Why::PerhapsMore) }
        }
        Some(missing @ Fetched::Missing { .. }) => missing.clone(),
        None => Fetched::Missing { reason: Why::NotCaptured },
    }
}

/// The result of a request that needs no source.
pub(super) fn unasked(request: Request, fetched: &Fetched) -> (Item, Gathered) {
    let answer = store_of(&request.item).map(|store| Answer {
        whole: Vec::new(),
        request: request.clone(),
        fetched: fetched.clone(),
        store,
    });
    (request.item, Gathered { answer, fetched: fetched.clone(), raw: Vec::new(), nodes: Vec::new() })
}

/// The Secrets that Links refer to and, if a Service uses endpoints of another cluster, those of the same name in the
/// control-plane namespace.
pub(super) fn link_secrets(gathered: &BTreeMap<Item, Gathered>, namespaces: &Namespaces) -> Vec<Request> {
    let answer = |kind| gathered.get(&Item::List(kind)).and_then(|g| g.answer.as_ref());
    let links = answer(Kind::Link).map(Answer::objects::<Link>).unwrap_or_default();
    let services = answer(Kind::Service).map(Answer::objects::<Service>).unwrap_or_default();
    let discovers = services.iter().any(|service| service.remote_clusters().next().is_some());
    let home = namespaces.control_plane.as_str();
    let named = links.iter().filter(|link| !link.spec.cluster_credentials_secret.is_empty());
    let items: BTreeMap<Item, String> = named
        .flat_map(|link| {
            let copies = discovers.then(|| {
                let copies = [Item::copy_of_credentials(link, home), Item::usual_copy_of_credentials(link, home)];
                copies.map(|copy| (copy, home.to_owned()))
            });
            copies.into_iter().flatten().chain([(Item::credentials_of(link), link.metadata.namespace.to_string())])
        })
        .collect();
    items.into_iter().map(|(item, namespace)| Request { item, namespace: Some(namespace) }).collect()
}

/// The ConfigMaps that the arguments of ingress controllers name.
pub(super) fn controller_configs(gathered: &BTreeMap<Item, Gathered>) -> Vec<Request> {
    /// Limit for ingress controllers: a cluster has a few.
    const MOST: usize = 20;
    let named: BTreeSet<(&str, &str)> = objects::<Pod>(gathered, Kind::Pod).iter().filter_map(config_map).collect();
    let requests = named.into_iter().take(MOST).map(|(namespace, name)| Request {
        item: controller_config_of(namespace, name),
        namespace: Some(namespace.to_owned()),
    });
    requests.filter(|request| !gathered.contains_key(&request.item)).collect()
}

/// The pods to query of each program: running ones in the extension's namespace.
pub(super) fn probes(
    items: &BTreeSet<Item>,
    gathered: &BTreeMap<Item, Gathered>,
    namespaces: &Namespaces,
) -> Vec<Request> {
    /// Limit for replicas: a controller has two or three.
    const MOST: usize = 20;
    let answer = gathered.get(&Item::List(Kind::Pod)).and_then(|g| g.answer.as_ref());
    let pods = answer.map(Answer::objects::<Pod>).unwrap_or_default();
    let programs = items.iter().filter_map(|item| match item {
        Item::Probe(probe) => Some(probe.program),
        _ => None,
    });
    let links = gathered.get(&Item::List(Kind::Link)).and_then(|g| g.answer.as_ref());
    let links = links.map(Answer::objects::<Link>).unwrap_or_default();
    let of_links = items.contains(&Item::Probe(Probe::new(Program::LinkedCluster)));
    let linked = links.iter().filter(|_| of_links).map(|link| Request {
        item: Item::Probe(Probe { program: Program::LinkedCluster, pod: link.metadata.name.clone() }),
        namespace: Some(link.metadata.namespace.to_string()),
    });
    programs
        .filter_map(|program| Some((program, namespaces.extensions.get(&program.extension())?)))
        .flat_map(|(program, home)| {
            let asked = pods.iter().filter(move |pod| pod.metadata.namespace == *home && runs(program, pod));
            asked.take(MOST).map(move |pod| Request {
                item: Item::Probe(Probe { program, pod: pod.metadata.name.clone() }),
                namespace: Some(home.clone()),
            })
        })
        .chain(linked)
        .collect()
}
