//! The answers of `meshdoctor policy`, as text and as JSON.

mod json;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::look::Look;
use super::text::{BOUND, clean, count, escape_ci_commands, pad, some_of, width, wrap};
use crate::inspect::evidence::PolicyEvidence;
use crate::inspect::policy::{ADMIN, PortAnswer, WorkloadAnswer, taken_by, without_effect};
use crate::model::policy::{Authorization, AuthorizedBy, Inbound, REQUIRE_IDENTITY, TakenBy, Who};
use crate::objects::Server;
pub use json::json;

/// Maximum number of names of equivalent pods.
const NAMED: usize = 3;
/// All clients, meshed or not.
const ALL: &str = "all clients";
/// A port that denies all connections.
const NO_CLIENT: &str = "no client is allowed";
/// The rule of a port that no Server selects.
const DEFAULT: &str = "default policy";
/// The rule of a port whose annotation requires an identity.
const REQUIRED: &str = "required identity";
/// A port whose connections no policy governs.
const SKIPS: &str = "skips the proxy";
/// The rule that allows the kubelet's probes.
const PROBES: &str = "probes";

/// As text.
pub fn table(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>], look: Look) -> String {
    let mut text = String::new();
    let own = evidence.index.controller.identity_suffix();
    if let Some(away) = &evidence.away {
        for line in wrap(&format!("not in force: {}", clean(away)), look.prose()) {
            _ = writeln!(text, "{line}");
        }
        text.push('\n');
    }
    let mut ordered: Vec<&WorkloadAnswer<'_>> = answers.iter().collect();
    ordered.sort_by_key(|answer| strictness(answer, &own));
    let closed: Vec<String> =
        answers.iter().filter(|answer| strictness(answer, &own) == Strictness::Closed).map(label).collect();
    if answers.len() > 1 && !closed.is_empty() {
        let (all, closed) = (answers.len(), some_of(&closed, NAMED));
        let said = format!("a port that no client may use: {closed} (listed first, of {all})");
        wrap(&clean(&said), look.prose()).iter().for_each(|line| _ = writeln!(text, "{line}"));
        text.push('\n');
    }
    for answer in ordered {
        let is_split = answers.iter().filter(|other| label(other) == label(answer)).count() > 1;
        let pods = pods_of(answer, is_split || look.verbose);
        _ = writeln!(text, "{}{}", look.strong(&clean(&label(answer))), clean(&pods));
        match &answer.ports {
            None => text.push_str("  not injected, so no policy applies to it\n"),
            Some(ports) if ports.is_empty() => text.push_str("  no port is known; name one: NAMESPACE/POD:PORT\n"),
            Some(ports) => {
                let by_age = evidence.index.controller.quirks.servers_by_age;
                let unknown = unknown_accounts(evidence, ports, &own);
                text.push_str(&ports_of(ports, &own, by_age, &unknown, look));
                for line in wrap(&clean(&note_unknown(&unknown)), look.prose().saturating_sub(2)) {
                    if !line.is_empty() {
                        _ = writeln!(text, "  {line}");
                    }
                }
            }
        }
        text.push('\n');
    }
    if answers.is_empty() {
        text.push_str("no injected pod and no ExternalWorkload\n\n");
    }
    text.push_str(&ignored(evidence, answers, look));
    escape_ci_commands(&text).into_owned()
}

/// How many clients the strictest port of a workload allows; the strictest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strictness {
    /// No client on a port.
    Closed,
    /// Some clients.
    Restricted,
    /// All clients on every port, or it is not injected.
    Open,
}

fn strictness(answer: &WorkloadAnswer<'_>, own: &str) -> Strictness {
    let ports = answer.ports.iter().flatten().filter(|port| port.port != ADMIN);
    let of_port = |port: &PortAnswer<'_>| match allowed_on(port, own) {
        result if result == NO_CLIENT => Strictness::Closed,
        result if result.starts_with(ALL) => Strictness::Open,
        _ => Strictness::Restricted,
    };
    ports.map(of_port).min().unwrap_or(Strictness::Open)
}

/// The owner of a workload, or its first pod: `Deployment shop/api`.
fn label(answer: &WorkloadAnswer<'_>) -> String {
    match answer.owner {
        Some((kind, name)) => format!("{kind} {}/{name}", answer.namespace),
        None => {
            let name = answer.names.first().map(ToString::to_string).unwrap_or_default();
            format!("{} {}/{name}", answer.kind, answer.namespace)
        }
    }
}

/// `  2 pods` or, if the workload alone does not tell them apart, `  pods web-1, web-2`.
fn pods_of(answer: &WorkloadAnswer<'_>, by_name: bool) -> String {
    if answer.owner.is_none() && answer.names.len() == 1 {
        return String::new();
    }
    match by_name {
        true => format!("  pods {}", some_of(&answer.names, NAMED)),
        false => format!("  {}", count(answer.names.len(), "pod", "pods")),
    }
}

/// The policy that all ports have by default, if no Server selects any.
fn only_default<'p>(ports: &[&PortAnswer<'p>], own: &str) -> Option<String> {
    let mut defaults = ports.iter().map(|port| match port.inbound.taken_by {
        TakenBy::Default(policy)
            if !port.skips_proxy
                && !port.inbound.identity_required
                && port.inbound.routes.iter().all(|route| route.route.is_none()) =>
        {
            Some((policy.to_string(), allowed_on(port, own)))
        }
        TakenBy::Default(_) | TakenBy::Server(_) => None,
    });
    let first = defaults.next()??;
    defaults.all(|other| other.as_ref() == Some(&first)).then_some(first.0)
}

/// The ports of a workload: one line if all have the same default, else a table; and the ports that every workload has
/// in one line.
fn ports_of(ports: &[PortAnswer<'_>], own: &str, by_age: bool, unknown: &BTreeSet<String>, look: Look) -> String {
    let of_proxy = |port: &&PortAnswer<'_>| {
        let by_default = matches!(port.inbound.taken_by, TakenBy::Default(_))
            && port.inbound.routes.iter().all(|route| route.route.is_none());
        port.port == ADMIN && by_default && ports.len() > 1 && !look.verbose
    };
    let (folded, shown): (Vec<_>, Vec<_>) = ports.iter().partition(of_proxy);
    let mut text = String::new();
    let one_line = only_default(&shown, own).filter(|_| !look.verbose);
    match &one_line {
        Some(policy) => {
            let said = format!("{} ({DEFAULT} {policy})", summary(&shown, own));
            for line in wrap(&clean(&said), look.prose().saturating_sub(2)) {
                _ = writeln!(text, "  {line}");
            }
        }
        None => {
            let mut rows: Vec<[String; 5]> = shown.iter().flat_map(|port| rows_of(port, own, look.verbose)).collect();
            rows.iter_mut().for_each(|row| row[3] = remarked(&row[3], unknown));
            text.push_str(&layout(rows, look.columns()));
        }
    }
    let is_open = |port: &PortAnswer<'_>| allowed_on(port, own).starts_with(ALL);
    let probed: Vec<String> = shown
        .iter()
        .filter(|port| allows_probes(&port.inbound) && !is_open(port))
        .map(|port| port.port.to_string())
        .collect();
    let defaults: BTreeSet<String> = shown
        .iter()
        .filter_map(|port| match port.inbound.taken_by {
            TakenBy::Default(_) if port.inbound.identity_required => {
                Some(format!("port {} requires a mesh identity ({REQUIRE_IDENTITY})", port.port))
            }
            TakenBy::Default(policy) => Some(format!("{DEFAULT}: {policy}")),
            TakenBy::Server(_) => None,
        })
        .filter(|_| one_line.is_none())
        .collect();
    let of_proxy = folded
        .iter()
        .filter(|port| !is_open(port))
        .map(|port| format!("{} (proxy): {}", port.port, of_admin(&port.inbound, own)));
    let mut notes: Vec<String> = defaults.into_iter().chain(of_proxy).collect();
    if !probed.is_empty() && !look.verbose {
        notes.push(format!("kubelet probes, with exactly their paths, are allowed on {}", probed.join(", ")));
    }
    if !notes.is_empty() {
        for line in wrap(&notes.join("; "), look.prose().saturating_sub(2)) {
            _ = writeln!(text, "  {}", look.faint(&line));
        }
    }
    for port in ports.iter().filter(|port| denies_opaque(port)) {
        let said = format!(
            "note: meshed clients are denied on port {}, which is opaque to their proxies: {} declares {}",
            port.port,
            taken_by(&port.inbound),
            port.inbound.protocol.label()
        );
        note(&mut text, &said, look);
    }
    for port in ports.iter().filter(|port| !port.passed_over.is_empty()) {
        let (others, taken) = (names_of(&port.passed_over).join(", "), taken_by(&port.inbound));
        let why = if by_age {
            format!("and is ignored: {taken} {}", precedence(&port.inbound, &port.passed_over))
        } else {
            format!("and this release may apply either it or {taken}")
        };
        let said = format!("note: {others} also selects port {}, {why}", port.port);
        note(&mut text, &said, look);
    }
    text
}

/// The authorized service accounts that do not exist, as `NAMESPACE/NAME`.
fn unknown_accounts(evidence: &PolicyEvidence<'_>, ports: &[PortAnswer<'_>], own: &str) -> BTreeSet<String> {
    let Some(accounts) = &evidence.accounts else { return BTreeSet::new() };
    let shown = ports.iter().filter(|port| !port.skips_proxy).map(|port| &port.inbound);
    let all = shown.flat_map(|inbound| {
        let of_routes = inbound.routes.iter().flat_map(|route| &route.authorizations);
        inbound.authorizations.iter().chain(of_routes)
    });
    let mut unknown: BTreeSet<String> = BTreeSet::new();
    for one in all {
        let Who::Identities(matches) = &one.who else { continue };
        for identity in matches.iter().map(ToString::to_string) {
            let named = identity.strip_suffix(own).and_then(|rest| rest.split_once('.'));
            let is_unknown = |(account, namespace): &(&str, &str)| {
                !account.contains('*') && !accounts.contains(&(*namespace, *account))
            };
            if let Some((account, namespace)) = named.filter(is_unknown) {
                unknown.insert(format!("{namespace}/{account}"));
            }
        }
    }
    unknown
}

/// The clients of a row, with a remark at each service account that does not exist.
fn remarked(clients: &str, unknown: &BTreeSet<String>) -> String {
    const ACCOUNT: &str = "ServiceAccount ";
    let each = clients.split(", ").map(|client| {
        let Some((_, account)) = client.split_once(ACCOUNT) else { return client.to_owned() };
        let name = account.split(' ').next().unwrap_or(account);
        match unknown.contains(name) {
            true => {
                let remark = "(does not exist)".replace(' ', BOUND);
                client.replacen(name, &format!("{name} {remark}"), 1)
            }
            false => client.to_owned(),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A note about authorized service accounts that do not exist; empty if there are none.
fn note_unknown(unknown: &BTreeSet<String>) -> String {
    let listed: Vec<&String> = unknown.iter().collect();
    match listed.as_slice() {
        [] => String::new(),
        [one] => format!("note: ServiceAccount {one} does not exist, so its authorization allows no client"),
        many => format!(
            "note: ServiceAccounts {} do not exist, so their authorizations allow no client",
            some_of(many, NAMED)
        ),
    }
}

fn names_of<'a>(servers: &[&'a Server]) -> Vec<&'a str> {
    servers.iter().map(|server| server.metadata.name.as_str()).collect()
}

/// Why a Server takes precedence over others: `is older (T against T)`.
fn precedence(inbound: &Inbound<'_>, others: &[&Server]) -> String {
    let created = |server: &Server| server.metadata.creation_timestamp.get();
    let own = match inbound.taken_by {
        TakenBy::Server(server) => created(server),
        TakenBy::Default(_) => None,
    };
    match (own, others) {
        (Some(own), [other]) => match created(other) {
            Some(at) if at > own => format!("is older ({own} against {at})"),
            Some(at) if at == own => "has the same age and is first by name".to_owned(),
            _ => "takes precedence".to_owned(),
        },
        _ => "is older, or of the same age and first by name".to_owned(),
    }
}

/// The result for each port, ports with the same result together: `port 8080: no client is allowed`.
fn summary(ports: &[&PortAnswer<'_>], own: &str) -> String {
    let mut results: Vec<(String, Vec<String>)> = Vec::new();
    for port in ports {
        let result = allowed_on(port, own);
        match results.iter_mut().find(|(known, _)| *known == result) {
            Some((_, ports)) => ports.push(port.port.to_string()),
            None => results.push((result, vec![port.port.to_string()])),
        }
    }
    let each = results.iter().map(|(result, ports)| {
        format!("{} {}: {result}", if ports.len() == 1 { "port" } else { "ports" }, ports.join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// A note below the ports.
fn note(text: &mut String, said: &str, look: Look) {
    for (at, line) in wrap(&clean(said), look.columns().saturating_sub(4)).iter().enumerate() {
        _ = writeln!(text, "{}{line}", if at == 0 { "  " } else { "    " });
    }
}

/// Whether the port denies the opaque connections of meshed clients.
fn denies_opaque(port: &PortAnswer<'_>) -> bool {
    port.opaque_to_clients && port.inbound.protocol.is_http() && !port.skips_proxy
}

/// The clients that reach a port: all of them if it skips the proxy.
fn allowed_on(port: &PortAnswer<'_>, own: &str) -> String {
    let clients = if port.skips_proxy { format!("{ALL} are allowed") } else { allowed(&port.inbound, own) };
    match port.skips_from.as_str() {
        "" => clients,
        _ if port.skips_proxy => clients,
        ranges => format!("{clients}, apart from {}, which skip the proxy", clean(ranges)),
    }
}

/// The clients that a port allows, without the kubelet's probes.
fn allowed(inbound: &Inbound<'_>, own: &str) -> String {
    let of_routes = inbound.routes.iter().filter(|route| route.route.is_some()).flat_map(|route| &route.authorizations);
    let by_port = !inbound.authorizations.is_empty();
    let mut clients: Vec<String> = Vec::new();
    for one in inbound.authorizations.iter().chain(of_routes) {
        let client = who(one, own);
        if !matches!(one.by, AuthorizedBy::Probe) && !clients.contains(&client) {
            clients.push(client);
        }
    }
    match clients.as_slice() {
        [] => NO_CLIENT.to_owned(),
        _ if clients.iter().any(|client| client == ALL) && by_port => format!("{ALL} are allowed"),
        _ if by_port => format!("allows {}", some_of(&clients, NAMED)),
        _ => format!("allows {}, on routes only", some_of(&clients, NAMED)),
    }
}

/// The clients of the proxy's own port, whose probes are not listed otherwise.
fn of_admin(inbound: &Inbound<'_>, own: &str) -> String {
    match (allowed(inbound, own), allows_probes(inbound)) {
        (clients, true) if clients == NO_CLIENT => "only kubelet probes are allowed".to_owned(),
        (clients, _) => clients,
    }
}

fn allows_probes(inbound: &Inbound<'_>) -> bool {
    inbound.routes.iter().any(|route| route.route.is_none() && !route.probe_paths.is_empty())
}

/// The rows of a port. Probes are left out unless `verbose`.
fn rows_of(port: &PortAnswer<'_>, own: &str, verbose: bool) -> Vec<[String; 5]> {
    let name = match port.names.as_slice() {
        [] => port.port.to_string(),
        names => format!("{} {}", port.port, names.join(",")),
    };
    let inbound = &port.inbound;
    if port.skips_proxy {
        let cells = [clean(&name).into_owned(), SKIPS.to_owned(), "-".to_owned(), ALL.to_owned()];
        let [name, taken, protocol, clients] = cells;
        return vec![[name, taken, protocol, clients, "no policy applies".to_owned()]];
    }
    let mut rows = admitted(inbound, own);
    if !port.skips_from.is_empty() {
        rows.push((format!("clients with addresses in {}", port.skips_from), SKIPS.to_owned()));
    }
    rows.retain(|(_, by)| verbose || by != PROBES);
    let by_route = inbound.routes.iter().any(|route| route.route.is_some() && !route.authorizations.is_empty());
    if inbound.authorizations.is_empty() && !by_route && port.skips_from.is_empty() {
        let by = match inbound.taken_by {
            TakenBy::Default(_) => DEFAULT.to_owned(),
            TakenBy::Server(server) => format!("no policy for Server {}", server.metadata.name),
        };
        rows.insert(0, ("none".to_owned(), by));
    }
    let each = rows.into_iter().enumerate().map(|(at, (who, by))| {
        let first = |text: &str| if at == 0 { clean(text).into_owned() } else { String::new() };
        [
            first(&name),
            first(&taken_by(inbound)),
            first(inbound.protocol.label()),
            clean(&who).into_owned(),
            clean(&by).into_owned(),
        ]
    });
    each.collect()
}

/// Rows in columns. The last two columns are wrapped between words if the width requires it.
fn layout(rows: Vec<[String; 5]>, columns: usize) -> String {
    let head = ["PORT", "SERVER", "PROTOCOL", "ALLOWED CLIENTS", "ALLOWED BY"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let widest = |at: usize| rows.iter().map(|row| width(&row[at])).max().unwrap_or_default();
    let longest_word = |at: usize| rows.iter().flat_map(|row| row[at].split(' ')).map(width).max().unwrap_or_default();
    let mut widths = [0, 1, 2, 3, 4].map(widest);
    let fixed: usize = 2 + widths[..3].iter().map(|width| width + 2).sum::<usize>();
    let room = columns.saturating_sub(fixed + 2);
    if widths[3] + widths[4] > room {
        widths[4] = widths[4].min((room / 2).max(room.saturating_sub(widths[3]))).max(longest_word(4));
        widths[3] = widths[3].min(room.saturating_sub(widths[4])).max(longest_word(3));
    }
    let mut text = String::new();
    for row in &rows {
        let clients: Vec<String> = wrap(&row[3], widths[3]).iter().map(|line| line.replace(BOUND, " ")).collect();
        let by = wrap(&row[4], widths[4]);
        for at in 0..clients.len().max(by.len()) {
            let first = |column: usize| if at == 0 { row[column].as_str() } else { "" };
            let cells = [
                first(0),
                first(1),
                first(2),
                clients.get(at).map_or("", String::as_str),
                by.get(at).map_or("", String::as_str),
            ];
            let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| pad(cell, width)).collect();
            _ = writeln!(text, "  {}", padded.join("  ").trim_end());
        }
    }
    text
}

/// The authorized clients and their policies, as rows: first for the whole port, then per route.
fn admitted(inbound: &Inbound<'_>, own: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> =
        inbound.authorizations.iter().map(|one| (who(one, own), by(one, inbound))).collect();
    for route in &inbound.routes {
        let on = match (&route.route, route.probe_paths.as_slice()) {
            (Some((kind, object)), _) => format!("{} {}", kind.kind(), object.metadata.name),
            (None, []) => continue,
            (None, paths) => {
                rows.push((format!("kubelet: GET {}", paths.join(", ")), PROBES.to_owned()));
                continue;
            }
        };
        match route.authorizations.as_slice() {
            [] if inbound.authorizations.is_empty() => {
                rows.push((format!("{on}: none"), "no policy for the route or its Server".to_owned()));
            }
            // The route has no policy of its own.
            [] => rows.push((format!("{on}: the same"), "the same".to_owned())),
            each => rows.extend(each.iter().map(|one| (format!("{on}: {}", who(one, own)), by(one, inbound)))),
        }
    }
    if let Some(limit) = &inbound.rate_limit {
        let spec = &limit.by.spec;
        let said = [(&spec.total, "in total"), (&spec.identity, "per client")];
        let said = said.iter().filter_map(|(limit, of)| {
            let limit = limit.as_ref()?.requests_per_second;
            Some(format!("{limit} {} per second {of}", if limit == 1 { "request" } else { "requests" }))
        });
        let said: Vec<String> = said.collect();
        rows.push((said.join(", "), format!("HTTPLocalRateLimitPolicy {}", limit.by.metadata.name)));
    }
    rows
}

/// The authorized clients; service accounts of this mesh, whose identities end in `own`, by their names.
fn who(authorization: &Authorization<'_>, own: &str) -> String {
    let who = match &authorization.who {
        Who::Anybody => ALL.to_owned(),
        Who::Meshed => "meshed clients".to_owned(),
        Who::Identities(matches) if matches.iter().any(|one| one.to_string() == "*") => "meshed clients".to_owned(),
        Who::Identities(matches) => {
            let short = |one: String| match one.strip_suffix(own).and_then(|rest| rest.split_once('.')) {
                Some((account, namespace)) => format!("ServiceAccount {namespace}/{account}"),
                None => one,
            };
            matches.iter().map(|one| short(one.to_string())).collect::<Vec<_>>().join(", ")
        }
    };
    let networks: Vec<String> = authorization.networks.iter().map(ToString::to_string).collect();
    let everywhere = ["0.0.0.0/0", "::/0"].iter().all(|all| networks.iter().any(|net| net == all));
    if everywhere { who } else { format!("{who} from {}", networks.join(", ")) }
}

fn by(authorization: &Authorization<'_>, inbound: &Inbound<'_>) -> String {
    let is_required = inbound.identity_required;
    match authorization.by {
        AuthorizedBy::Default(policy) if matches!(inbound.taken_by, TakenBy::Server(_)) => {
            format!("accessPolicy {}", policy.as_str())
        }
        AuthorizedBy::Default(_) if is_required => REQUIRED.to_owned(),
        AuthorizedBy::Default(_) => DEFAULT.to_owned(),
        AuthorizedBy::Probe => PROBES.to_owned(),
        AuthorizedBy::Policy(policy) => format!("AuthorizationPolicy {}", policy.metadata.name),
        AuthorizedBy::Server(authorization) => format!("ServerAuthorization {}", authorization.metadata.name),
    }
}

fn ignored(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>], look: Look) -> String {
    let nothing = without_effect(evidence, answers);
    let objects = nothing.iter().map(|(kind, (namespace, name), why)| format!("{kind} {namespace}/{name}: {why}"));
    let later = evidence.index.void_later().map(|kind| {
        format!("every {kind} of the cluster, once the policy controller restarts: it cannot read one of them")
    });
    let now = evidence.index.void().iter().map(|kind| {
        format!("every {kind} of the cluster: this release reads none of them while one of them is unreadable")
    });
    let lines: Vec<String> = objects.chain(later).chain(now).collect();
    let mut text = String::new();
    if !lines.is_empty() {
        _ = writeln!(text, "{}", look.strong("No effect"));
    }
    for line in lines {
        for line in wrap(&clean(&line), look.prose().saturating_sub(2)) {
            _ = writeln!(text, "  {line}");
        }
    }
    text
}
