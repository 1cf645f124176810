//! Clients whose egress policies allow the application ports of meshed servers, but not the port of the
//! proxy. Clients with the same policies are evaluated once, and so are servers for which all policies have
//! the same result.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{All, At, BlockingPolicy, Pods, QUOTED, Quoted, before, new, of_rule};
use crate::checks::data_plane::transport::{OWN, Transport, declared, inbound_port, is_tcp};
use crate::checks::network_policies::cannot_say;
use crate::checks::prelude::*;
use crate::network_policy::{
    Action, AppliedPolicy, Direction, Match, Peer, Policies, Policy, Port, Ports, Rule, RulesByPeer, Verdict,
};

/// Clients that the same policies select, so that each server has the same result for all of them.
struct Clients<'p, 'a> {
    holding: Vec<(&'p AppliedPolicy<'a>, Match)>,
    /// Whether one of their rules has another action than allow.
    denies: bool,
    /// By their index among the workloads.
    pods: Pods<'a>,
}

/// Policies that allow egress to application ports of meshed servers, but not to the port of the proxy.
pub(super) fn outgoing<'a>(
    ctx: &Context<'a>,
    policies: &Policies<'a>,
    transport: &Transport,
    pods: &[&'a Pod],
    shut: &mut All<'a>,
) {
    // Policies treat replicas alike.
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, &Pod> = BTreeMap::new();
    for pod in pods {
        workloads.entry(owners.owner(pod)).or_insert(pod);
    }
    let workloads: Vec<&Pod> = workloads.into_values().collect();
    let groups = grouped(ctx, policies, &workloads);
    if groups.is_empty() {
        return;
    }
    let servers = Servers::new(policies, transport, &workloads);
    let mut reached: BTreeMap<At<'a>, Reached> = BTreeMap::new();
    for clients in &groups {
        let mut found: BTreeMap<At<'a>, (BlockingPolicy<'a>, BTreeSet<usize>)> = BTreeMap::new();
        // No workload is its own client.
        let alone = (clients.pods.len() == 1).then(|| clients.pods.keys().next().copied()).flatten();
        for class in servers.perhaps_selected(clients) {
            let Some((place, server)) = servers.pods(class, alone).next() else { continue };
            let Some((_, client)) = clients.pods.iter().find(|(client, _)| **client != place) else {
                continue;
            };
            let number = inbound_port(server);
            for shut in between(ctx, policies, transport, clients, (client, server)) {
                let at = (Direction::Egress, shut.policy.key(), shut.denies, number);
                let named = shut.named.clone();
                let (known, classes) = found.entry(at).or_insert_with(|| (shut.clone(), BTreeSet::new()));
                known.add_rules(&shut);
                known.add_ports(named);
                classes.insert(class);
            }
        }
        for (at, (new, classes)) in found {
            let mut pods = classes.iter().flat_map(|class| servers.pods(*class, alone));
            let first = pods.next().map(|(place, _)| place);
            let only = first.filter(|_| pods.next().is_none());
            let named = new.named.clone();
            let entry = shut.entry(at).or_insert_with(|| new.clone());
            entry.add_rules(&new);
            entry.add_ports(named);
            entry.pods.extend(clients.pods.iter().filter(|(place, _)| Some(**place) != only));
            let reached = reached.entry(at).or_default();
            for class in classes {
                let without = reached.entry(class).or_insert(alone);
                *without = without.filter(|place| Some(*place) == alone);
            }
        }
    }
    for (at, reached) in reached {
        if let Some(shut) = shut.get_mut(&at) {
            shut.to = servers.quoted(&reached);
        }
    }
}

/// Classes of servers that clients are kept from, and the server of each that is not among them: it is the only client.
type Reached = BTreeMap<usize, Option<usize>>;

/// Servers by class: the policies have the same result for all servers of a class, at the ports of the
/// application and of the proxy.
struct Servers<'p, 'a> {
    /// By their index among the workloads.
    classes: Vec<Pods<'a>>,
    /// The rules that define the classes; `None` if there are also other policies than those of Kubernetes.
    rules: Option<RulesByPeer<'p, 'a>>,
    /// The classes to which each rule applies or may apply, by its index.
    by_rule: HashMap<usize, Vec<usize>>,
}

impl<'p, 'a> Servers<'p, 'a> {
    fn new(policies: &'p Policies<'a>, transport: &Transport, workloads: &[&'a Pod]) -> Servers<'p, 'a> {
        let servers = workloads.iter().copied().enumerate();
        // Other policies depend on more properties of a server than `Answers`.
        if !policies.are_of_kubernetes() {
            let classes = servers.map(|server| Pods::from([server])).collect();
            return Servers { classes, rules: None, by_rule: HashMap::new() };
        }
        let rules = RulesByPeer::new(policies, Direction::Egress);
        let mut known: HashMap<(u16, Vec<(usize, ComparableAnswers)>), usize> = HashMap::new();
        let (mut classes, mut by_rule) = (Vec::new(), HashMap::<usize, Vec<usize>>::new());
        for (place, server) in servers {
            let number = inbound_port(server);
            let port = Port { protocol: "TCP", number, of: Some(server) };
            let answers = rules.about(server).into_iter().map(|(rule_place, rule, means)| {
                let ports = answer(rule.holds_port(port));
                (rule_place, (transport.speaks(rule, server), answer(means), ports))
            });
            let answers: Vec<(usize, ComparableAnswers)> = answers.collect();
            let rules: Vec<usize> = answers.iter().map(|(rule, _)| *rule).collect();
            let class = *known.entry((number, answers)).or_insert_with(|| {
                rules.iter().for_each(|rule| by_rule.entry(*rule).or_default().push(classes.len()));
                classes.push(Pods::new());
                classes.len() - 1
            });
            classes[class].insert(place, server);
        }
        Servers { classes, rules: Some(rules), by_rule }
    }

    /// The classes to which a rule of the clients' policies applies or may apply.
    fn perhaps_selected(&self, clients: &Clients<'_, 'a>) -> BTreeSet<usize> {
        let Some(index) = &self.rules else { return (0..self.classes.len()).collect() };
        let rules = clients.holding.iter().flat_map(|(held, _)| held.rules.iter().map(move |rule| (held, rule)));
        let places = rules.filter_map(|(held, rule)| index.place(held, rule));
        places.filter_map(|place| self.by_rule.get(&place)).flatten().copied().collect()
    }

    /// The servers of a class, except for one index.
    fn pods(&self, class: usize, without: Option<usize>) -> impl Iterator<Item = (usize, &'a Pod)> {
        let pods = self.classes.get(class).into_iter().flatten();
        pods.map(|(place, pod)| (*place, *pod)).filter(move |(place, _)| Some(*place) != without)
    }

    fn quoted(&self, reached: &Reached) -> Quoted<'a> {
        let mut first: Pods<'a> = Pods::new();
        let mut count = 0;
        for (class, without) in reached {
            first.extend(self.pods(*class, *without).take(QUOTED));
            let len = self.classes.get(*class).map_or(0, Pods::len);
            let is_in = |place: usize| self.classes.get(*class).is_some_and(|pods| pods.contains_key(&place));
            count += len - usize::from(without.is_some_and(is_in));
        }
        Quoted { first: first.into_values().take(QUOTED).collect(), count }
    }
}

/// Whether a rule includes a port of the application, the server, and the proxy's port.
type ComparableAnswers = (bool, ComparableFit, ComparableFit);

/// A comparable form of [`Match`].
type ComparableFit = (u8, &'static str);

/// The comparable form of a match.
fn answer(fits: Match) -> ComparableFit {
    match fits {
        Match::No => (0, ""),
        Match::Yes => (1, ""),
        Match::Perhaps(why) => (2, why),
    }
}

/// Groups the clients among workloads by the policies that select them for egress.
fn grouped<'p, 'a>(ctx: &Context<'_>, policies: &'p Policies<'a>, workloads: &[&'a Pod]) -> Vec<Clients<'p, 'a>> {
    let mut groups: Vec<Clients<'p, 'a>> = Vec::new();
    let mut places: HashMap<Vec<(usize, Option<&str>)>, usize> = HashMap::new();
    let judged = workloads.iter().enumerate().filter(|(_, pod)| ctx.judges(&pod.metadata.namespace));
    for (place, client) in judged {
        let holding = policies.holding(Direction::Egress, client);
        if holding.is_empty() {
            continue;
        }
        let mut key: Vec<(usize, Option<&str>)> = holding
            .iter()
            .map(|(held, fits)| {
                let doubt = match fits {
                    Match::Perhaps(why) => Some(*why),
                    Match::Yes | Match::No => None,
                };
                (std::ptr::from_ref(*held).addr(), doubt)
            })
            .collect();
        if holding.iter().any(|(held, _)| matches!(held.policy, Policy::Calico(_))) {
            // Its rules can select the client too.
            key.push((place, None));
        }
        let group = *places.entry(key).or_insert_with(|| {
            let mut rules = holding.iter().flat_map(|(held, _)| &held.rules);
            let denies = rules.any(|rule| rule.action != Action::Allow);
            groups.push(Clients { holding, denies, pods: Pods::new() });
            groups.len() - 1
        });
        groups[group].pods.insert(place, client);
    }
    groups
}

/// The policies that allow a client's egress to application ports of a server, but not to its proxy.
fn between<'a>(
    ctx: &Context<'a>,
    policies: &Policies<'a>,
    transport: &Transport,
    Clients { holding, denies, .. }: &Clients<'_, 'a>,
    (client, server): (&'a Pod, &'a Pod),
) -> Vec<BlockingPolicy<'a>> {
    let peer = Peer::Pod(server);
    let port = |number| Port { protocol: "TCP", number, of: Some(server) };
    let passage = |number| policies.passage_of(holding, Direction::Egress, client, port(number), peer);
    // Rules that name the pod and a port of its application.
    let speaks = |held: &AppliedPolicy<'a>| {
        let allows = |rule: &&Rule<'_>| rule.action == Action::Allow && rule.ports.iter().any(is_tcp);
        let mut rules = held.rules.iter().filter(allows).filter(|rule| transport.speaks(rule, server));
        rules.find(|rule| policies.means(held, rule, Direction::Egress, client, peer) != Match::No).cloned()
    };
    let speaking: Vec<(&AppliedPolicy<'a>, Rule<'a>)> =
        holding.iter().filter_map(|(held, _)| Some((*held, speaks(held)?))).collect();
    if speaking.is_empty() && !denies {
        return Vec::new();
    }
    let by = match passage(inbound_port(server)) {
        Verdict::Open | Verdict::Through(_) => return Vec::new(),
        Verdict::Unknown(doubts) => {
            if !speaking.is_empty() {
                cannot_say(ctx, &doubts);
            }
            return Vec::new();
        }
        Verdict::Shut(by) => by,
    };
    let denies = by.iter().find(|decides| decides.denies);
    let counts =
        |(held, rule): &(&AppliedPolicy<'a>, Rule<'a>)| denies.is_none_or(|denies| before(held, rule, denies, holding));
    let speaking: Vec<_> = speaking.into_iter().filter(counts).collect();
    if let (Some(denies), true) = (denies, speaking.is_empty()) {
        let is_let_out = let_out(transport, server, passage);
        return is_let_out.then(|| new(denies.policy, &denies.field, None, true)).into_iter().collect();
    }
    let mut found = Vec::new();
    for (held, rule) in speaking {
        match policies.means(held, &rule, Direction::Egress, client, peer) {
            Match::Yes => {
                let means = |rule: &&Rule<'_>| {
                    rule.action == Action::Allow
                        && policies.means(held, rule, Direction::Egress, client, peer) != Match::No
                };
                let ports = held.rules.iter().filter(means).flat_map(|rule| &rule.ports);
                found.push(BlockingPolicy { named: ports.map(Ports::describe).collect(), ..of_rule(held, &rule) });
            }
            // It is unknown whether the rule selects the pod; if it does, the rule must be extended.
            Match::Perhaps(why) => cannot_say(ctx, &[held.doubt(&rule.field, why)]),
            Match::No => {}
        }
    }
    found
}

/// Whether egress is allowed to an application port for which clients connect to the proxy instead.
fn let_out<'a>(transport: &Transport, server: &Pod, said: impl Fn(u16) -> Verdict<'a>) -> bool {
    declared(server).filter(|number| !OWN.contains(number)).any(|number| {
        (transport.is_header() || transport.is_opaque(server, number))
            && matches!(said(number), Verdict::Open | Verdict::Through(_))
    })
}
