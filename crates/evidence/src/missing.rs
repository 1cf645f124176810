//! Missing evidence: the item, the reason, and how to provide it. Checks return `Missing` with `?`, so that missing
//! evidence never becomes a pass.

use std::collections::BTreeSet;
use std::fmt;

use crate::command::{Arg, Call, Command, Line, kubectl, meshdoctor, own};
use crate::fetched::Why;
pub use crate::gap_remediation::GapRemediation;
use crate::item::{Item, Kind, Query, Scope};
use crate::objects::is_built_in;
use crate::request::Request;

/// The command that prints the role with kinds of user-defined checks.
pub fn rbac_of_brought() -> String {
    own("rbac --checks DIR")
}

/// Evidence that a check needed but did not get, or only in part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The requested item.
    pub request: Request,
    /// The reason.
    pub why: Why,
    /// The missing part, if the rest is available: `node ip-10-0-1-12`, `spec.template of shop/web`.
    pub part: Option<String>,
}

impl Missing {
    /// The whole item is missing.
    pub fn whole(request: Request, why: Why) -> Missing {
        Missing { request, why, part: None }
    }

    /// A part of an item is missing.
    pub fn part(request: Request, why: Why, part: impl Into<String>) -> Missing {
        Missing { request, why, part: Some(part.into()) }
    }

    /// Whether requested evidence was unavailable, which affects the exit status; see [`Why::was_asked_for`].
    pub fn was_asked_for(&self) -> bool {
        self.why.was_asked_for()
    }

    /// How to provide it: the RBAC rule, the flag, the command.
    pub fn close(&self) -> GapRemediation {
        fn instruction(text: impl Into<String>) -> GapRemediation {
            GapRemediation::instruction(text)
        }
        if self.why == Why::NotInManifests {
            return instruction(
                "check the manifests on top of a cluster or bundle: use check --with instead of --manifests",
            );
        }
        if let Why::NoValue { close, .. } = &self.why {
            return instruction(close);
        }
        if let Why::OutOfTime { .. } = self.why {
            return instruction("run again with a longer --timeout, or with fewer checks: --only");
        }
        if let Why::NotJudged { .. } = self.why {
            return instruction("review it by hand; its dependency is named above");
        }
        if self.why.is_credentials_rejected() {
            return GapRemediation::run(LOG_IN, whoami());
        }
        if self.why.is_not_in_data() {
            return instruction(
                "use a newer meshdoctor, or newer release data with --knowledge; for a custom build check these \
                 objects by hand",
            );
        }
        if self.why.is_other_server() {
            return instruction(LOG_IN_TO_PROXY);
        }
        let asked = self.request.item.query();
        if let Some(close) = asked.and_then(|asked| asked.close(&self.why, self.request.namespace.as_deref())) {
            return close;
        }
        match (&self.request.item, &self.why) {
            (_, Why::Denied { .. }) => match self.link_secret() {
                Some((namespace, name)) => GapRemediation::run("grant it", grant_links(namespace, &[name])),
                None => instruction(format!("grant {}", self.rule())),
            },
            (item, Why::NotCaptured | Why::NotOffered | Why::NotInManifests) => capture(item, &self.request),
            (item, Why::PerhapsMore) => match item.kind() {
                Some(kind) => instruction(format!("if the dump lists all of them, add --complete {}", kind.resource())),
                None => instruction("provide a complete dump"),
            },
            (_, Why::NotServed) => {
                instruction("install the CRDs or the API service, or skip the checks that need it: --skip")
            }
            (_, Why::TimedOut { .. } | Why::OutOfTime { .. }) => {
                instruction("run again, with a longer --request-timeout and --timeout if the API server is slow")
            }
            (_, Why::Malformed { .. } | Why::NoValue { .. } | Why::NotJudged { .. }) => {
                instruction("repair it or collect it again; its position is named above")
            }
            (_, Why::Failed { .. }) => instruction("run again; -v shows the responses of the API server"),
        }
    }

    /// The missing item, with its part.
    pub fn named(&self) -> String {
        match &self.part {
            Some(part) => format!("{} ({part})", self.request),
            None => self.request.to_string(),
        }
    }

    /// Namespace and name of the Secret of a Link, which is in the namespace of the Link.
    pub fn link_secret(&self) -> Option<(&str, &str)> {
        match &self.request.item {
            Item::Named { kind: Kind::Secret, scope: Scope::Fixed(namespace), name } => Some((namespace, name)),
            _ => None,
        }
    }

    /// The RBAC rule that would allow it, in words.
    fn rule(&self) -> String {
        match &self.request.item {
            Item::List(kind @ Kind::Foreign(_)) => {
                format!("list on {} ({} prints the role)", kind.resource(), rbac_of_brought())
            }
            Item::List(kind) => format!("list on {} ({} prints the role)", kind.resource(), own("rbac")),
            Item::Named { kind, name, .. } => {
                let place = self.request.namespace.as_deref().map(|n| format!(" in namespace {n}")).unwrap_or_default();
                format!("get on {} {name}{place} ({} prints the role)", kind.resource(), own("rbac"))
            }
            item => item.query().map(Query::right).unwrap_or_default(),
        }
    }
}

/// The next step if the API server rejects the credentials, before [`whoami`].
pub const LOG_IN: &str = "the credentials have expired or are wrong: log in again, then test them";

/// The next step if another server responds.
pub const LOG_IN_TO_PROXY: &str = "log in to the proxy or VPN, or correct the address of the server in the kubeconfig";

/// The command that tests the credentials.
pub fn whoami() -> Call {
    kubectl().words("auth whoami")
}

/// The command that allows reading the Secrets of Links in a namespace.
pub fn grant_links(namespace: &str, names: &[&str]) -> Command {
    let role = names.iter().fold(
        kubectl().namespace(namespace).words("create role meshdoctor-links --verb=get --resource=secrets"),
        |role, name| role.arg(format!("--resource-name={name}")),
    );
    let binding = kubectl()
        .namespace(namespace)
        .words("create rolebinding meshdoctor-links --role=meshdoctor-links")
        .arg(Arg::known("--user=").then(Arg::placeholder("USER_NAME")));
    Line::from(role).and(binding).into()
}

/// The commands that save all objects of these kinds in files: built-in kinds with one command, others one by one,
/// because kubectl prints nothing if one of them is not served.
pub fn get_each(kinds: &BTreeSet<Kind>) -> Vec<Line> {
    let (built_in, defined): (Vec<Kind>, Vec<Kind>) = kinds.iter().partition(|kind| is_built_in(**kind));
    let resources = |kinds: &[Kind]| kinds.iter().map(|kind| kind.resource()).collect::<Vec<_>>();
    let get = |what: Arg| Line::from(kubectl().words("get").arg(what).words("-A -o json"));
    let mut lines = Vec::new();
    if !built_in.is_empty() {
        lines.push(get(resources(&built_in).join(",").into()).to_file("objects.json"));
    }
    match resources(&defined).as_slice() {
        [] => {}
        [one] => lines.push(get(one.as_str().into()).to_file(format!("{one}.json"))),
        several => {
            let each = several.iter().fold(Line::shell("for KIND in"), |line, kind| line.arg(kind.as_str()));
            let save = get(Arg::variable("KIND")).and_shell("> \"$KIND.json\"");
            lines.push(each.and_shell("; do").line(save).and_shell("; done"));
        }
    }
    lines
}

fn capture(item: &Item, request: &Request) -> GapRemediation {
    let collect =
        format!("collect everything with {}, or save this for --bundle", own("collect --output bundle.tar.gz"));
    match item {
        // Printing a Secret would print a private key.
        Item::Named { kind: Kind::Secret, .. } | Item::List(Kind::Secret) => GapRemediation::run(
            "provide it without its private key",
            meshdoctor().words("collect --output bundle.tar.gz"),
        ),
        Item::List(kind) => {
            let get = kubectl().words("get").arg(kind.resource()).words("-A -o json");
            GapRemediation::run(collect, Line::from(get).to_file(format!("{}.json", kind.resource())))
        }
        Item::Named { kind, scope, name } => {
            let namespace = match (scope, &request.namespace) {
                (Scope::Cluster, _) | (_, None) => "",
                (_, Some(namespace)) => namespace,
            };
            let get = kubectl().namespace(namespace).words("get").arg(kind.resource());
            let get = get.operand(name.as_str()).words("-o json");
            GapRemediation::run(collect, Line::from(get).to_file(format!("{name}.json")))
        }
        // These define their own remediation.
        _ => GapRemediation::instruction(collect),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.named(), self.why)
    }
}

impl std::error::Error for Missing {}
