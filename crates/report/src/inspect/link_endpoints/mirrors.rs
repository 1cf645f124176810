//! Compares the exported services of one cluster with the mirrors and federated members in the other.

use std::collections::{BTreeMap, BTreeSet};

use super::{CLUSTER, Mismatch, Pair};
use crate::command::meshdoctor;
use crate::finding::Severity;
use crate::objects::service::{EXPORTED, REMOTE_DISCOVERY};
use crate::objects::{LabelSelector, Service};

const MIRRORED: &str = "mirror.linkerd.io/mirrored-service";
const FEDERATED: &str = "mirror.linkerd.io/federated";
/// The label of the mirror of one pod of a headless service, with the name of that service's mirror.
const OF_HEADLESS: &str = "mirror.linkerd.io/headless-mirror-svc-name";
/// Maximum number of named services.
const NAMED: usize = 5;

/// Namespace and name of a service in the other cluster.
type RemoteService<'s> = (&'s str, &'s str);

/// One way of importing services from the other cluster.
struct MirrorMode<'o> {
    /// The selectors of the link, or the default ones.
    chosen_by: Vec<LabelSelector>,
    /// The selectors that certainly apply: an old link lacks those that its release does not have.
    wanted_by: Vec<LabelSelector>,
    /// The default label of the selector.
    label: &'static str,
    /// The services that exist in this cluster.
    here: BTreeSet<RemoteService<'o>>,
    said: MirrorWords,
}

/// The check names and texts of one way.
struct MirrorWords {
    /// For a service of the other cluster that is missing here, and for one that should exist.
    missing: (&'static str, &'static str),
    /// For one that exists here, but not in the other cluster.
    gone: (&'static str, &'static str),
    /// For one that exists in both clusters, but is no longer selected.
    withdrawn: (&'static str, &'static str),
    /// Its kind in this cluster.
    here: &'static str,
}

/// Why an imported service is outdated, with check and consequence from [`MirrorWords`].
enum Stale {
    /// The original does not exist.
    Gone((&'static str, &'static str)),
    /// The original exists, but is not selected.
    Withdrawn((&'static str, &'static str)),
}

const MIRRORS: MirrorWords = MirrorWords {
    missing: ("exported-service-not-mirrored", "exports services that are not mirrored in"),
    gone: ("mirror-of-nothing", "calls to them fail"),
    withdrawn: ("mirror-no-longer-exported", "calls still go there, and the mirrors are not updated"),
    here: "mirrors of services",
};
const MEMBERS: MirrorWords = MirrorWords {
    missing: ("exported-service-not-federated", "exports services that are in no federated service in"),
    gone: ("federated-member-of-nothing", "the remaining members of the federated service receive all calls"),
    withdrawn: ("federated-member-not-exported", "a share of the calls still goes there"),
    here: "federated services with members",
};

fn service_names(all: &[RemoteService<'_>]) -> String {
    let mut words: Vec<String> =
        all.iter().take(NAMED).map(|(namespace, name)| format!("{namespace}/{name}")).collect();
    if all.len() > NAMED {
        words.push(format!("{} more", all.len() - NAMED));
    }
    words.join(", ")
}

impl Pair<'_> {
    /// The mismatches: exported services that are missing here, and mirrors whose original is missing or no
    /// longer exported.
    pub(super) fn mirrors(&self, own: &[Service], theirs: &[Service], namespaces: &BTreeSet<String>) -> Vec<Mismatch> {
        let there: BTreeMap<RemoteService<'_>, &Service> =
            theirs.iter().map(|service| (service.metadata.key(), service)).collect();
        let mut found = Vec::new();
        let mut homeless = BTreeSet::new();
        for way in self.mirror_modes(own) {
            let is = |by: &[LabelSelector], one: &Service| by.iter().any(|by| by.matches(&one.metadata.labels));
            let wanted = theirs
                .iter()
                .filter(|one| is(&way.wanted_by, one) && !self.there.serving.awaits_endpoints(one))
                .map(|one| one.metadata.key());
            let (missing, no_home): (Vec<_>, Vec<_>) = wanted
                .filter(|key| !way.here.contains(key))
                .partition(|(namespace, _)| namespaces.contains(*namespace));
            homeless.extend(no_home);
            let (stays, gone): (Vec<_>, Vec<_>) = way.here.iter().copied().partition(|key| there.contains_key(key));
            let withdrawn: Vec<RemoteService<'_>> =
                stays.into_iter().filter(|key| there.get(key).is_some_and(|one| !is(&way.chosen_by, one))).collect();
            found.extend(self.missing(&way, &missing));
            found.extend(self.stale(&way, Stale::Gone(way.said.gone), &gone));
            found.extend(self.stale(&way, Stale::Withdrawn(way.said.withdrawn), &withdrawn));
        }
        found.extend(self.homeless(&homeless.into_iter().collect::<Vec<_>>()));
        found
    }

    fn mirror_modes<'o>(&self, own: &'o [Service]) -> [MirrorMode<'o>; 2] {
        let spec = &self.link.spec;
        let said = |selector: &Option<LabelSelector>| selector.clone().filter(|said| *said != LabelSelector::default());
        let or = |said: Option<LabelSelector>, key: &str, value: &str| {
            said.or_else(|| LabelSelector::parse(&format!("{key}={value}")))
        };
        let exported = or(said(&spec.selector), EXPORTED, "true");
        let discovered = said(&spec.remote_discovery_selector);
        let federated = said(&spec.federated_service_selector);
        let discovered_by = or(discovered.clone(), EXPORTED, "remote-discovery");
        let federated_by = or(federated.clone(), FEDERATED, "member");
        [
            MirrorMode {
                chosen_by: exported.clone().into_iter().chain(discovered_by).collect(),
                wanted_by: exported.into_iter().chain(discovered).collect(),
                label: EXPORTED,
                here: self.mirrored(own),
                said: MIRRORS,
            },
            MirrorMode {
                chosen_by: federated_by.into_iter().collect(),
                wanted_by: federated.into_iter().collect(),
                label: FEDERATED,
                here: self.members(own),
                said: MEMBERS,
            },
        ]
    }

    /// The mirrored services, by original. The pods of a headless service have mirrors of their own, which
    /// belong to that of the service.
    fn mirrored<'o>(&self, own: &'o [Service]) -> BTreeSet<RemoteService<'o>> {
        let to = self.line.to.as_str();
        let ending = format!("-{to}");
        let mirrors = own
            .iter()
            .map(|service| &service.metadata)
            .filter(|meta| meta.label(MIRRORED) == Some("true") && meta.label(CLUSTER) == Some(to));
        let keys = mirrors.filter_map(|meta| {
            let name = meta.label(OF_HEADLESS).unwrap_or(&meta.name);
            Some((&*meta.namespace, name.strip_suffix(&ending)?))
        });
        keys.collect()
    }

    /// The services in the other cluster that are members of federated services here.
    fn members<'o>(&self, own: &'o [Service]) -> BTreeSet<RemoteService<'o>> {
        let mut all = BTreeSet::new();
        for meta in own.iter().map(|service| &service.metadata) {
            let members = meta.annotation(REMOTE_DISCOVERY).unwrap_or_default().split(',');
            let members = members.filter_map(|member| member.trim().split_once('@'));
            let of_it = members.filter(|(_, cluster)| *cluster == self.line.to);
            all.extend(of_it.map(|(name, _)| (&*meta.namespace, name)));
        }
        all
    }

    fn missing(&self, way: &MirrorMode<'_>, missing: &[RemoteService<'_>]) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let (check, said) = way.said.missing;
        (!missing.is_empty()).then(|| {
            self.mismatch(
                check,
                Severity::Warning,
                format!(
                    "{to} {said} {from}: the controller of the Link cannot reach {to}, or lacks permission \
                     to read it"
                ),
                [
                    (to, format!("{} on {}", way.label, service_names(missing))),
                    (from, format!("has none of them among its {}", way.said.here)),
                ],
                self.ask_controller(),
            )
        })
    }

    /// The mismatch for outdated mirrors.
    fn stale(&self, way: &MirrorMode<'_>, said: Stale, all: &[RemoteService<'_>]) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let (check, harm, over_there, shown) = match said {
            Stale::Gone((check, harm)) => (check, harm, "does not have", "has no such services".to_owned()),
            Stale::Withdrawn((check, harm)) => {
                let shown = format!("its labels ({}) are not those that the Link selects", way.label);
                (check, harm, "no longer exports", shown)
            }
        };
        (!all.is_empty()).then(|| {
            self.mismatch(
                check,
                Severity::Warning,
                format!("{from} has {} that {to} {over_there}: {harm}", way.said.here),
                [(from, format!("{} {}", way.said.here, service_names(all))), (to, shown)],
                self.has_not_cleaned_up(),
            )
        })
    }

    fn homeless(&self, homeless: &[RemoteService<'_>]) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        (!homeless.is_empty()).then(|| {
            self.mismatch(
                "exported-service-without-namespace",
                Severity::Warning,
                format!(
                    "{to} exports services of namespaces that {from} does not have: they are not \
                 mirrored"
                ),
                [(to, format!("exports {}", service_names(homeless))), (from, "has no such namespaces".to_owned())],
                format!(
                    "Create the namespaces in {from}, or let its multicluster chart create them \
                 (controllerDefaults.enableNamespaceCreation, enableNamespaceCreation)"
                ),
            )
        })
    }

    fn ask_controller(&self) -> String {
        let from = &self.line.from;
        format!(
            "Check the log of the Link's controller in {from}: {}",
            meshdoctor().words("check --context").arg(from.as_str()).words("--only multicluster --probe --logs")
        )
    }

    fn has_not_cleaned_up(&self) -> String {
        let from = &self.line.from;
        format!("The controller of the Link in {from} normally removes these, and has not. {}", self.ask_controller())
    }
}
