//! Checks that did not run, as text: gaps grouped by reason, with the affected checks and the way to provide
//! the evidence. Nothing is omitted that would change the reader's next step; the JSON form has every gap.
//! `unchecked` is the short version.

use std::collections::{BTreeMap, BTreeSet};

use super::look::Look;
use super::subject;
use super::text::{clean, count, shortened, some_of, wrap};
use crate::check_outcome::CheckOutcome;
use crate::checks::Outcome;
use crate::command::own;
use crate::command::{Arg, Call, Command, Connection, Line, kubectl, meshdoctor};
use crate::fetched::Why;
use crate::item::{Item, Kind};
use crate::missing::{GapRemediation, Missing, get_each, grant_links, rbac_of_brought};
use crate::report::{Gap, Report, Unread};

/// Maximum number of checks, parts or messages shown for a group.
const SHOWN: usize = 8;

/// Maximum number of missing things named on a line whose end matters.
const NAMED: usize = 2;

/// Maximum number of named entries of a long list; with more denied rights, the whole role is granted.
const FEW: usize = 3;

/// Gaps with the same reason and sort.
type Groups<'a> = BTreeMap<(&'static str, Sort), Vec<&'a Gap>>;

/// Column at which the text next to a label starts.
const INDENT: usize = 10;

/// The common property of the gaps of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Objects,
    NamedObjects,
    Access,
    Probe,
    Served,
    ServerVersion,
    CliVersion,
    NodeFiles,
    Logs,
    Diagnostics,
    /// Checks that did not run, whatever they need.
    Unevaluated,
}

/// Requested evidence that was unavailable, for one reason.
pub struct Deciding<'a> {
    /// The missing evidence and the reason.
    pub what: String,
    /// The same, with at most two names.
    pub brief: String,
    /// The checks that needed it.
    pub checks: Vec<&'a str>,
    /// How to provide it: a sentence, and the lines to paste.
    pub ways: Vec<(String, Vec<String>)>,
    /// Whether the input only lacks it: no request failed.
    pub is_not_provided: bool,
    /// Whether it is in files that could not be read.
    pub is_unreadable: bool,
}

/// The sentence before commands that save missing objects.
pub fn collect_them() -> String {
    format!("save them, and add the files with --bundle; or use {}", own("collect --output bundle.tar.gz"))
}

/// The gaps that decide the exit status if no finding does.
pub fn deciding(report: &Report) -> Vec<Deciding<'_>> {
    let mut groups = groups(report, |gap| gap.missing.was_asked_for());
    let rendered = |(words, command): (String, Option<Command>)| {
        let command = command.map(|command| command.aimed(&report.connection));
        (words, command.iter().flat_map(Command::rendered).collect())
    };
    if let Some(gaps) = every_list_denied(report, &groups) {
        let what = "the API server denied every list: these credentials may not read the cluster".to_owned();
        let checks = checks_of(&groups.values().flatten().copied().collect::<Vec<_>>());
        let ways = grant_whole_role(gaps).into_iter().map(rendered).collect();
        return vec![Deciding {
            brief: what.clone(),
            what,
            checks,
            ways,
            is_not_provided: false,
            is_unreadable: false,
        }];
    }
    let of_dump = perhaps_incomplete(report, &mut groups);
    let each = groups.iter().map(|((_, sort), gaps)| Deciding {
        what: head(gaps, if gaps.len() > SHOWN { FEW } else { SHOWN }) + &unreadable(gaps),
        brief: head(gaps, NAMED),
        checks: checks_of(gaps),
        ways: closings(*sort, gaps).into_iter().map(rendered).collect(),
        is_not_provided: is_not_provided(gaps[0]),
        is_unreadable: matches!(gaps[0].missing.why, Why::Malformed { .. }),
    });
    of_dump.into_iter().chain(each).collect()
}

/// The missing evidence of gaps, counted: `13 kinds`; or named, if it is one thing: `node files`.
pub fn named(gaps: &[&Gap]) -> String {
    let lists: BTreeSet<String> =
        gaps.iter().filter(|gap| sort(&gap.missing) == Sort::Objects).map(|gap| what(gap)).collect();
    let other: BTreeSet<String> =
        gaps.iter().filter(|gap| sort(&gap.missing) != Sort::Objects).map(|gap| what(gap)).collect();
    let lists = match lists.len() {
        0 => None,
        1 => lists.into_iter().next(),
        many => Some(format!("{many} kinds")),
    };
    let other = match other.len() {
        0 => None,
        1 | 2 => Some(other.into_iter().collect::<Vec<_>>().join(" and ")),
        many => Some(format!("{many} other pieces of evidence")),
    };
    lists.into_iter().chain(other).collect::<Vec<_>>().join(" and ")
}

/// Whether the input only lacks it: no request failed.
fn is_not_provided(gap: &Gap) -> bool {
    matches!(gap.missing.why, Why::NotCaptured | Why::NotOffered | Why::PerhapsMore)
}

/// Takes the objects that a dump lacks, or may lack, out of the groups: one flag states that it has all of them.
fn perhaps_incomplete<'a>(report: &'a Report, groups: &mut Groups<'a>) -> Option<Deciding<'a>> {
    let may_lack = |gaps: &Vec<&Gap>| gaps.iter().any(|gap| gap.missing.why == Why::PerhapsMore);
    if report.origin.kind != "dump" || !groups.values().any(may_lack) {
        return None;
    }
    let mut of_dump: Vec<&Gap> = Vec::new();
    groups.retain(|(_, sort), gaps| {
        let is_of_dump = matches!(sort, Sort::Objects | Sort::NamedObjects) && is_not_provided(gaps[0]);
        if is_of_dump {
            of_dump.append(gaps);
        }
        !is_of_dump
    });
    let what = "objects and kinds that the dump may lack".to_owned();
    let file = report.origin.name.as_str();
    let check = meshdoctor().words("check").arg(Arg::path(file)).words("--complete all");
    let all = match file.contains(' ') {
        true => ("if it lists all objects of the cluster, pass --complete all".to_owned(), Vec::new()),
        false => ("if it lists all objects of the cluster".to_owned(), Command::from(check).rendered()),
    };
    let some = (
        "otherwise name its complete kinds with --complete KIND,..., or collect everything".to_owned(),
        Command::from(meshdoctor().words("collect --output bundle.tar.gz")).rendered(),
    );
    Some(Deciding {
        brief: what.clone(),
        what,
        checks: checks_of(&of_dump),
        ways: vec![all, some],
        is_not_provided: true,
        is_unreadable: false,
    })
}

/// The gaps of the lists, if the API server denied all of them and no other evidence is missing for another reason.
fn every_list_denied<'g, 'a>(report: &Report, groups: &'g Groups<'a>) -> Option<&'g [&'a Gap]> {
    let all_denied = groups.values().flatten().all(|gap| matches!(gap.missing.why, Why::Denied { .. }));
    let (_, lists) = groups.iter().find(|((_, sort), _)| *sort == Sort::Objects)?;
    (report.coverage.objects == 0 && all_denied && lists.len() > FEW).then_some(lists.as_slice())
}

/// How to grant the denied user everything that the selected checks read. The denied credentials cannot do it.
fn grant_whole_role(gaps: &[&Gap]) -> Vec<(String, Option<Command>)> {
    let role = role_of_denied(gaps.iter().map(|gap| &gap.missing)).to_file(ROLE_FILE);
    vec![
        ("write the role that meshdoctor needs".to_owned(), Some(role.into())),
        ("then an administrator applies it".to_owned(), Some(apply_role().into())),
    ]
}

/// The file of a role that an administrator must apply.
const ROLE_FILE: &str = "role.yaml";

/// The command that prints the role for the user of denied requests.
fn role_of_denied<'m>(missing: impl Iterator<Item = &'m Missing> + Clone) -> Call {
    let is_brought = |missing: &Missing| matches!(missing.request.item.kind(), Some(Kind::Foreign(_)));
    let role = meshdoctor().words("rbac");
    let role = if missing.clone().any(is_brought) { role.option("--checks", Arg::placeholder("DIR")) } else { role };
    let user = missing.filter_map(|missing| message(&missing.why).and_then(denied_user)).next();
    match user {
        None => role.option("--user", Arg::placeholder("USER_NAME")),
        Some(user) => match user.strip_prefix("system:serviceaccount:").and_then(|name| name.split_once(':')) {
            Some((namespace, name)) => role.option("--service-account", format!("{namespace}/{name}")),
            None => role.option("--user", user),
        },
    }
}

/// The command of the administrator, with credentials of its own.
fn apply_role() -> Call {
    kubectl().words("apply -f").arg(ROLE_FILE).offline()
}

/// How to grant the user of denied requests everything that meshdoctor reads, on one line.
pub fn grant_in_a_line(missing: &[Missing]) -> String {
    let role = role_of_denied(missing.iter()).to_file(ROLE_FILE);
    format!("write the role: {role}; then an administrator applies it: {}", apply_role())
}

/// The user in a message of the API server: `pods is forbidden: User "eve" cannot list resource "pods"`.
fn denied_user(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("User \"")?;
    let (user, _) = rest.split_once('"')?;
    (!user.is_empty()).then_some(user)
}

/// Missing evidence of a command without a report: each reason once, with what it concerns, and the ways to provide
/// the evidence, for this connection.
pub fn of_command(missing: &[Missing], connection: &Connection) -> Vec<(String, Vec<GapRemediation>)> {
    let gap = |missing: &Missing| Gap {
        asked_for: missing.was_asked_for(),
        close: missing.close(),
        missing: missing.clone(),
        checks: Vec::new(),
    };
    let gaps: Vec<Gap> = missing.iter().map(gap).collect();
    let mut reasons: BTreeMap<(String, Sort), Vec<&Gap>> = BTreeMap::new();
    for gap in &gaps {
        // The messages of the API server differ only in the kind.
        let reason = match &gap.missing.why {
            Why::Denied { .. } => reason(&gap.missing.why).to_owned(),
            other => other.to_string(),
        };
        reasons.entry((reason, sort(&gap.missing))).or_default().push(gap);
    }
    let each = reasons.into_iter().map(|((reason, sort), gaps)| {
        let mut names: Vec<String> = gaps.iter().map(|gap| gap.missing.named()).collect();
        names.dedup();
        let said = format!("{}: {}", some_of(&names, SHOWN), clean(&reason));
        let ways = closings(sort, &gaps).into_iter().map(|(text, command)| {
            let way = GapRemediation { text, command };
            way.aimed(connection)
        });
        (said, ways.collect())
    });
    each.collect()
}

/// The kinds that no check reads and that have objects: `12 Servers`.
pub fn unread_kinds(unread: &[Unread]) -> Vec<String> {
    let counted = unread.iter().filter_map(|kind| Some((kind, kind.objects?)));
    counted.map(|(kind, objects)| count(objects, &kind.kind, &subject::plural(&kind.kind))).collect()
}

/// The section, including its label.
pub fn lines(report: &Report, look: Look) -> Vec<String> {
    let mut text = wrap(&summary(report), look.prose() - INDENT);
    for ((_, sort), gaps) in &groups(report, |_| true) {
        text.extend(wrap(&head(gaps, look.most(SHOWN)), look.prose() - INDENT));
        text.extend(details((*sort, gaps), &report.connection, look));
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            text.push(format!("{} {}", look.strong(check.id), look.bad("crashed")));
            text.extend(detail("said", &shortened(&clean(message), 300), look));
            text.extend(detail(
                "to check this",
                "this is a bug in meshdoctor; please report it. Other checks are not affected",
                look,
            ));
        }
    }
    text.extend(unread(&report.coverage.unread, look));
    if !report.coverage.set_aside.is_empty() {
        let manifests = report.origin.kind == "manifests" || report.change.is_some();
        let words = if manifests { "parts of the manifests cannot be applied" } else { "files that were skipped" };
        text.push(words.to_owned());
    }
    text.extend(report.coverage.set_aside.iter().flat_map(|what| detail("not checked", &clean(what), look)));
    let label = look.faint("coverage") + "  ";
    let blank = " ".repeat(INDENT);
    text.into_iter()
        .enumerate()
        .map(|(at, line)| if at == 0 { format!("{label}{line}") } else { format!("{blank}{line}") })
        .collect()
}

/// Requested evidence that is missing, for rows: the evidence and the reason on one line, and the details as
/// labelled lines.
pub fn asked_for(report: &Report, look: Look) -> Vec<(String, Vec<(&'static str, String)>)> {
    let groups = groups(report, |gap| gap.missing.was_asked_for());
    let row = |((_, sort), gaps): (&(&str, Sort), &Vec<&Gap>)| {
        (head(gaps, look.most(SHOWN)), facts((*sort, gaps), &report.connection, look))
    };
    groups.iter().map(row).collect()
}

/// The selected gaps, grouped by reason and sort.
fn groups(report: &Report, wanted: impl Fn(&Gap) -> bool) -> Groups<'_> {
    let mut groups = Groups::new();
    for gap in report.coverage.gaps.iter().filter(|gap| wanted(gap)) {
        groups.entry((gap.missing.why.keyword(), sort(&gap.missing))).or_default().push(gap);
    }
    groups
}

/// All kinds that no check reads.
fn unread(unread: &[Unread], look: Look) -> Vec<String> {
    if unread.is_empty() {
        return Vec::new();
    }
    let name = |kind: &Unread| match kind.objects {
        Some(objects) => format!("{} ({})", kind.resource, count(objects, "object", "objects")),
        None => kind.resource.clone(),
    };
    let names: Vec<String> = unread.iter().map(name).collect();
    let mut lines = vec!["kinds that no check reads".to_owned()];
    lines.extend(detail("not checked", &names.join(", "), look));
    lines
}

/// Number of checks that did not run fully.
pub fn unable(report: &Report) -> usize {
    let unable = |check: &&CheckOutcome| !check.gaps.is_empty() || matches!(check.outcome, Outcome::Crashed(_));
    report.checks.iter().filter(unable).count()
}

/// `9 of 12 nodes with node evidence, 1,834 objects; 4 of 41 checks could not look, or not everywhere:`.
fn summary(report: &Report) -> String {
    let coverage = &report.coverage;
    let nodes = match coverage.nodes {
        Some(nodes) => {
            format!("{} of {} with node evidence, ", coverage.snapshots, count(nodes, "node", "nodes"))
        }
        None if coverage.snapshots > 0 => {
            format!("{}, ", count(coverage.snapshots, "node snapshot", "node snapshots"))
        }
        None => String::new(),
    };
    let objects = count(coverage.objects, "object", "objects");
    let checks = count(report.checks.len(), "check", "checks");
    match unable(report) {
        0 => format!("{nodes}{objects}; {checks} had all the required evidence"),
        unable => format!("{nodes}{objects}; {unable} of {checks} did not run fully:"),
    }
}

fn sort(missing: &Missing) -> Sort {
    match &missing.request.item {
        _ if matches!(missing.why, Why::OutOfTime { .. }) => Sort::Unevaluated,
        Item::List(_) => Sort::Objects,
        Item::Named { .. } => Sort::NamedObjects,
        Item::Access(_) => Sort::Access,
        Item::Probe(_) => Sort::Probe,
        Item::Served(_) => Sort::Served,
        Item::ServerVersion => Sort::ServerVersion,
        Item::CliVersion => Sort::CliVersion,
        Item::NodeFiles => Sort::NodeFiles,
        Item::Logs => Sort::Logs,
        Item::Diagnostics => Sort::Diagnostics,
    }
}

/// The missing evidence and the reason.
fn head(gaps: &[&Gap], most: usize) -> String {
    if let Why::OutOfTime { .. } = gaps[0].missing.why {
        return gaps[0].missing.why.to_string();
    }
    let mut whats: Vec<String> = gaps.iter().map(|gap| what(gap)).collect();
    whats.dedup();
    let parts: BTreeSet<&str> = gaps.iter().filter_map(|gap| gap.missing.part.as_deref()).collect();
    let everywhere = gaps.iter().any(|gap| gap.missing.part.is_none());
    let parts = if everywhere { String::new() } else { parts_in_words(&parts, most) };
    let reasons: BTreeSet<&str> = gaps.iter().map(|gap| reason(&gap.missing.why)).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    format!("{}{parts}: {}", some_of(&whats, most), reasons.join(", "))
}

/// The file or object that could not be read, if it is the same for every gap of a group.
fn unreadable(gaps: &[&Gap]) -> String {
    let messages: BTreeSet<&str> = gaps
        .iter()
        .filter(|gap| matches!(gap.missing.why, Why::Malformed { .. }))
        .filter_map(|gap| message(&gap.missing.why))
        .collect();
    match (messages.len(), messages.first()) {
        (1, Some(message)) => format!(" ({})", shortened(&clean(message), 160)),
        _ => String::new(),
    }
}

fn checks_of<'a>(gaps: &[&'a Gap]) -> Vec<&'a str> {
    gaps.iter().flat_map(|gap| &gap.checks).copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The affected checks, the messages, and the remedy, each with a label; commands have none.
fn facts((sort, gaps): (Sort, &[&Gap]), connection: &Connection, look: Look) -> Vec<(&'static str, String)> {
    let mut facts = vec![("not checked", some_of(&checks_of(gaps), look.most(SHOWN)))];
    let said: Vec<String> = gaps
        .iter()
        .filter_map(|gap| message(&gap.missing.why))
        .map(|message| clean(message).into_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    // The server's messages for the denied kinds are nearly the same.
    let usual = if matches!(gaps[0].missing.why, Why::Denied { .. }) { 1 } else { 3 };
    let shown = if look.verbose { said.len() } else { usual };
    for message in said.iter().take(shown) {
        facts.push(("said", shortened(message, 300).into_owned()));
    }
    if said.len() > shown {
        facts.push(("said", format!("and {} more like it", said.len() - shown)));
    }
    for (words, command) in closings(sort, gaps) {
        if !words.is_empty() {
            facts.push(("to check this", words));
        }
        let command = command.map(|command| command.aimed(connection));
        let lines = command.iter().flat_map(Command::rendered);
        facts.extend(lines.map(|line| ("", clean(&line).into_owned())));
    }
    facts
}

/// The same as lines.
fn details(group: (Sort, &[&Gap]), connection: &Connection, look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    let mut before = "";
    for (label, text) in facts(group, connection, look) {
        match label {
            "" => lines.push(format!("{}{}", " ".repeat(18), look.command(&text))),
            "said" if before == label => lines.extend(detail("", &text, look)),
            _ => lines.extend(detail(label, &text, look)),
        }
        before = label;
    }
    lines
}

/// ` of ip-1, ip-2` if all parts are nodes, else ` (some of them)`.
fn parts_in_words(parts: &BTreeSet<&str>, most: usize) -> String {
    let nodes: Option<Vec<_>> = parts.iter().map(|part| part.strip_prefix("node ").map(clean)).collect();
    match nodes {
        Some(nodes) if !nodes.is_empty() => format!(" of {}", some_of(&nodes, most)),
        _ if parts.is_empty() => String::new(),
        _ => {
            let parts: Vec<_> = parts.iter().map(|part| clean(part)).collect();
            format!(" ({})", some_of(&parts, most))
        }
    }
}

fn detail(label: &str, text: &str, look: Look) -> Vec<String> {
    wrap(text, look.prose() - INDENT - 16)
        .into_iter()
        .enumerate()
        .map(|(at, line)| {
            let label = if at == 0 { label } else { "" };
            format!("  {}{line}", look.faint(&super::text::pad(label, 14)))
        })
        .collect()
}

/// The missing evidence as text.
pub(super) fn what(gap: &Gap) -> String {
    let request = &gap.missing.request;
    let asked = request.item.query().filter(|asked| !asked.is_one_of_many());
    clean(&asked.map_or_else(|| request.to_string(), |asked| asked.describe(None))).into_owned()
}

/// The reason, without the message of a server.
fn reason(why: &Why) -> &'static str {
    match why {
        Why::Denied { .. } => "denied",
        Why::NotServed => "not served by the API server",
        Why::NotCaptured => "not provided",
        Why::PerhapsMore => "the list may be incomplete",
        Why::NotInManifests => "the manifests are not the whole cluster",
        Why::NotOffered => "not provided",
        Why::TimedOut { .. } => "no answer in time",
        Why::OutOfTime { .. } => "the run reached its time limit",
        Why::Malformed { .. } => "could not be read",
        Why::NoValue { .. } => "the rule has no value for it",
        Why::NotJudged { .. } => "cannot be said",
        Why::Failed { .. } if why.is_not_in_data() => "not in the release data",
        Why::Failed { .. } => "could not be fetched",
    }
}

fn message(why: &Why) -> Option<&str> {
    match why {
        Why::Denied { message }
        | Why::Malformed { message }
        | Why::NoValue { message, .. }
        | Why::NotJudged { message }
        | Why::Failed { message } => Some(message.as_str()).filter(|message| !message.is_empty()),
        Why::NotServed
        | Why::NotCaptured
        | Why::PerhapsMore
        | Why::NotInManifests
        | Why::NotOffered
        | Why::OutOfTime { .. }
        | Why::TimedOut { .. } => None,
    }
}

/// The permissions for objects by name; those for the credentials of links have commands of their own.
fn grant_named(gaps: &[&Gap]) -> Vec<(String, Option<Command>)> {
    let (of_links, others): (Vec<&Gap>, Vec<&Gap>) = gaps.iter().partition(|gap| gap.missing.link_secret().is_some());
    let names: BTreeSet<String> = others.iter().map(|gap| what(gap)).collect();
    let names: Vec<String> = names.into_iter().collect();
    if names.len() > SHOWN {
        return grant_whole_role(&others);
    }
    let role = format!("grant get on {} ({} prints the whole role)", names.join(", "), own("rbac"));
    let mut secrets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (namespace, name) in of_links.iter().filter_map(|gap| gap.missing.link_secret()) {
        secrets.entry(namespace).or_default().insert(name);
    }
    let each = secrets.into_iter().map(|(namespace, names)| {
        let names: Vec<&str> = names.into_iter().collect();
        let words = "allow reading the credentials of links".to_owned();
        (words, Some(grant_links(namespace, &names)))
    });
    (!names.is_empty()).then_some((role, None)).into_iter().chain(each).collect()
}

/// Commands that read objects by name.
fn get_named(gaps: &[&Gap]) -> Vec<Line> {
    let mut places: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for gap in gaps {
        let Item::Named { kind, name, .. } = &gap.missing.request.item else { continue };
        if *kind == Kind::Secret {
            continue;
        }
        let namespace = gap.missing.request.namespace.as_deref().filter(|_| kind.info().namespaced);
        places.entry((namespace.unwrap_or_default(), kind.resource())).or_default().insert(name);
    }
    // A command that prints a Secret prints its private key, so Secrets are collected instead.
    let mut lines: Vec<Line> = Vec::new();
    if gaps.iter().any(|gap| gap.missing.request.item.kind() == Some(Kind::Secret)) {
        lines.push(meshdoctor().words("collect --output bundle.tar.gz").into());
    }
    lines.extend(places.into_iter().map(|((namespace, resource), names)| {
        let get = kubectl().namespace(namespace).words("get").arg(resource.clone()).operands(names);
        let place = if namespace.is_empty() { String::new() } else { format!("{namespace}.") };
        get.words("-o json").to_file(format!("{place}{resource}.json"))
    }));
    lines
}

/// The ways to provide a group's evidence, each once: a sentence, and lines to paste.
fn closings(sort: Sort, gaps: &[&Gap]) -> Vec<(String, Option<Command>)> {
    let resources = || -> String {
        let kinds: BTreeSet<_> = gaps.iter().filter_map(|gap| gap.missing.request.item.kind()).collect();
        kinds.into_iter().map(|kind| kind.resource()).collect::<Vec<_>>().join(",")
    };
    match (sort, &gaps[0].missing.why) {
        (Sort::Objects, Why::Denied { .. }) if gaps.len() > SHOWN => grant_whole_role(gaps),
        (Sort::Objects, Why::Denied { .. }) => {
            let is_brought = |gap: &&Gap| matches!(gap.missing.request.item.kind(), Some(Kind::Foreign(_)));
            let role = match gaps.iter().any(is_brought) {
                true => format!("{} prints the whole role", rbac_of_brought()),
                false => format!("{} prints the whole role", own("rbac")),
            };
            vec![(format!("grant list on {} ({role})", resources().replace(',', ", ")), None)]
        }
        (Sort::NamedObjects, Why::Denied { .. }) => grant_named(gaps),
        (Sort::NamedObjects, Why::NotCaptured | Why::NotOffered) => {
            let is_secret = |gap: &&Gap| gap.missing.request.item.kind() == Some(Kind::Secret);
            let words = match gaps.iter().all(is_secret) {
                // Printing them would print private keys.
                true => "collect them without their private keys".to_owned(),
                false => collect_them(),
            };
            vec![(words, Some(Command::lines(get_named(gaps))))]
        }
        (Sort::Objects, Why::PerhapsMore) => {
            let kinds = resources();
            let how = match kinds.split(',').count() > SHOWN {
                true => "if the dump lists all objects of the cluster, pass --complete all; otherwise the kinds \
                         that it lists completely"
                    .to_owned(),
                false => format!("if the dump lists all of them, pass --complete {kinds}"),
            };
            vec![(how, None)]
        }
        (Sort::Objects, Why::NotCaptured | Why::NotOffered) => {
            let kinds: BTreeSet<Kind> = gaps.iter().filter_map(|gap| gap.missing.request.item.kind()).collect();
            vec![(collect_them(), Some(Command::lines(get_each(&kinds))))]
        }
        _ => {
            let ways: BTreeSet<&GapRemediation> = gaps.iter().map(|gap| &gap.close).collect();
            // One sentence leads to all of its commands.
            let mut joined: Vec<(String, Option<Command>)> = Vec::new();
            for way in ways {
                match joined.last_mut() {
                    Some((text, Some(command))) if *text == way.text => command.join(&way.command),
                    Some(_) | None => joined.push((way.text.clone(), way.command.clone())),
                }
            }
            joined
        }
    }
}
