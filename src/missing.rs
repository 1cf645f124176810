//! Evidence that is not there: which, why, and what would bring it. `Missing` travels by `?` out of every check that
//! needed it, so that "could not look" can never turn into "fine".

use std::fmt;

use crate::command::{Arg, Command, Connection, Line, kubectl, linkerd, meshdoctor};
use crate::item::{Item, Kind, Probe, Program, Scope};
use crate::request::{Request, Why};

/// A piece of evidence that a check needed and did not get, or not all of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// What was asked for.
    pub request: Request,
    /// Why it is not there.
    pub why: Why,
    /// Which part is missing, where the rest is there: `node ip-10-0-1-12`, `spec.template of shop/web`.
    pub part: Option<String>,
}

impl Missing {
    /// The whole of an item is missing.
    pub fn whole(request: Request, why: Why) -> Missing {
        Missing { request, why, part: None }
    }

    /// A part of an item is missing.
    pub fn part(request: Request, why: Why, part: impl Into<String>) -> Missing {
        Missing { request, why, part: Some(part.into()) }
    }

    /// Whether it was asked for and could not be had, which the exit status shows; see [`Why::was_asked_for`].
    pub fn was_asked_for(&self) -> bool {
        self.why.was_asked_for()
    }

    /// How to close the gap: the RBAC rule, the flag, the command.
    pub fn close(&self) -> Close {
        fn say(text: impl Into<String>) -> Close {
            Close::say(text)
        }
        match (&self.request.item, &self.why) {
            (Item::NodeFiles, Why::NotOffered) => Close::run(
                "provide node evidence: --nodes with what meshdoctor node-snapshot takes on the node, or a bundle of",
                meshdoctor().words("collect --node-pods --output bundle.tar.gz"),
            ),
            (Item::Logs, Why::NotOffered | Why::NotCaptured) => {
                say("provide logs: --logs NODE=FILE or --logs NAMESPACE/POD=FILE")
            }
            (Item::Logs, _) => {
                say("provide the log as text, under the name of its node or pod: --logs NAME=FILE")
            }
            (Item::CliVersion, Why::NotOffered | Why::NotCaptured) => {
                say("provide the version of the linkerd CLI: --linkerd-cli VERSION")
            }
            (Item::CliVersion, _) => say(
                "see why the linkerd command on PATH fails, or provide its version: --linkerd-cli VERSION",
            ),
            (Item::NodeFiles, _) => {
                say("gather the node's files again, readable, and provide them with --nodes NAME=PATH")
            }
            (Item::ServerVersion, Why::NotCaptured | Why::NotOffered) => {
                Close::run("add the output of", kubectl().words("version -o json"))
            }
            (Item::Served(_) | Item::Probe(_), Why::NotCaptured | Why::NotOffered) => {
                say("rerun with --probe, on the cluster itself")
            }
            (
                Item::Probe(Probe { program: Program::LinkedCluster, .. }),
                Why::TimedOut { .. } | Why::Failed { .. },
            ) => Close::run(
                "compare by hand, with the context of the linked cluster, the output of",
                kubectl()
                    .in_context(Arg::placeholder("OTHER_CLUSTER"))
                    .words("-n linkerd get configmap linkerd-identity-trust-roots -o yaml"),
            ),
            (Item::Probe(_), Why::TimedOut { .. } | Why::Failed { .. }) => say(
                "see that the API server reaches the kubelet and the kubelet the pod: kubectl port-forward goes the same way",
            ),
            (Item::Access(access), Why::NotCaptured | Why::NotOffered) => Close::run(
                "ask the cluster itself, or keep its answer in a bundle with meshdoctor collect --pre",
                access.command(self.request.namespace.as_deref()),
            ),
            (_, Why::Denied { .. }) => match self.link_secret() {
                Some((namespace, name)) => Close::run("grant it", grant_links(namespace, &[name])),
                None => say(format!("grant {}", self.rule())),
            },
            (item, Why::NotCaptured | Why::NotOffered) => capture(item, &self.request),
            (item, Why::PerhapsMore) => match item.kind() {
                Some(kind) => say(format!(
                    "if the dump lists every one of them, say so: --complete {}",
                    kind.resource()
                )),
                None => say("provide a complete dump"),
            },
            (_, Why::NotServed) => say("install what serves it, or skip the checks that need it: --skip"),
            (_, Why::TimedOut { .. }) => {
                say("run again, with a longer --request-timeout if the API server is slow")
            }
            (_, Why::Malformed { .. }) => say("repair or capture it again; the place is named above"),
            (_, Why::Failed { .. }) => say("run again; with -v for what the API server answered"),
        }
    }

    /// The namespace and the name of the Secret, where it is one that a Link names: those are asked for where their Link is.
    pub fn link_secret(&self) -> Option<(&str, &str)> {
        match &self.request.item {
            Item::Named { kind: Kind::Secret, scope: Scope::Fixed(namespace), name } => {
                Some((namespace, name))
            }
            _ => None,
        }
    }

    /// The RBAC rule that would have allowed it, in words.
    fn rule(&self) -> String {
        match &self.request.item {
            Item::List(kind) => format!("list on {} (see docs/rbac.yaml)", kind.resource()),
            Item::Named { kind, name, .. } => {
                let place = self
                    .request
                    .namespace
                    .as_deref()
                    .map(|n| format!(" in namespace {n}"))
                    .unwrap_or_default();
                format!("get on {} {name}{place} (see docs/rbac.yaml)", kind.resource())
            }
            Item::Served(_) => {
                "create and get on pods/portforward in the control plane's namespace (see docs/rbac-optional.yaml)".to_owned()
            }
            Item::Probe(Probe { program: Program::LinkedCluster, .. }) => {
                "get on the Link and on the Secret that it names (see docs/rbac-optional.yaml)".to_owned()
            }
            Item::Probe(_) => {
                "create and get on pods/portforward in the namespace of the extension (see docs/rbac-optional.yaml)".to_owned()
            }
            Item::Access(_) => {
                "create on selfsubjectaccessreviews.authorization.k8s.io (the role system:basic-user, which every user has)"
                    .to_owned()
            }
            Item::ServerVersion => "get on /version (the role system:public-info-viewer)".to_owned(),
            Item::CliVersion | Item::NodeFiles | Item::Logs => "access to it".to_owned(),
        }
    }
}

/// How a gap is closed: in words, and by a command where there is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Close {
    /// What to do.
    pub text: String,
    /// What to paste.
    pub command: Option<Command>,
}

impl Close {
    fn say(text: impl Into<String>) -> Close {
        Close { text: text.into(), command: None }
    }

    fn run(text: impl Into<String>, command: impl Into<Command>) -> Close {
        Close { text: text.into(), command: Some(command.into()) }
    }

    /// The same for the cluster that was asked.
    pub fn aimed(self, connection: &Connection) -> Close {
        Close { command: self.command.map(|command| command.aimed(connection)), ..self }
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.command.as_ref().map_or(Ok(()), |command| write!(f, ": {command}"))
    }
}

/// The command that lets the Secrets that Links in a namespace name be read.
pub(crate) fn grant_links(namespace: &str, names: &[&str]) -> Command {
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

fn capture(item: &Item, request: &Request) -> Close {
    let collect = "capture it, or everything with meshdoctor collect";
    match item {
        // Whatever is said to print a Secret prints a private key.
        Item::Named { kind: Kind::Secret, .. } | Item::List(Kind::Secret) => Close::run(
            "capture it, without its private key",
            meshdoctor().words("collect --output bundle.tar.gz"),
        ),
        Item::List(kind) => {
            Close::run(collect, kubectl().words("get").arg(kind.resource()).words("-A -o json"))
        }
        Item::Named { kind, scope, name } => {
            let namespace = match (scope, &request.namespace) {
                (Scope::Cluster, _) | (_, None) => "",
                (_, Some(namespace)) => namespace,
            };
            let get = kubectl().namespace(namespace).words("get").arg(kind.resource());
            Close::run(collect, get.operand(name).words("-o json"))
        }
        Item::Access(access) => Close::run("capture it", access.command(request.namespace.as_deref())),
        Item::Probe(_) | Item::Served(_) => Close::say("rerun with --probe, on the cluster itself"),
        Item::ServerVersion => Close::run("capture it", kubectl().words("version -o json")),
        Item::CliVersion => Close::run("capture it", linkerd().words("version --client --short").offline()),
        Item::NodeFiles => Close::say("see meshdoctor check --help, --nodes"),
        Item::Logs => Close::say("see meshdoctor check --help, --logs"),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.request)?;
        if let Some(part) = &self.part {
            write!(f, " ({part})")?;
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for Missing {}
