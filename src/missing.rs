//! Evidence that is not there: which, why, and what would bring it. `Missing` travels by `?` out of every check that
//! needed it, so that "could not look" can never turn into "fine".

use std::fmt;

use crate::item::{Item, Kind, Probe, Program, Scope};
use crate::source::{Request, Why};

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
    pub fn close(&self) -> String {
        match (&self.request.item, &self.why) {
            (Item::NodeFiles, Why::NotOffered) => {
                "give node evidence with --nodes, taken by meshdoctor node-snapshot on the node, or by meshdoctor collect --node-pods"
                    .to_owned()
            }
            (Item::Logs, Why::NotOffered | Why::NotCaptured) => {
                "give log texts: --logs NODE=FILE or --logs NAMESPACE/POD=FILE".to_owned()
            }
            (Item::Logs, _) => {
                "give the log under the name of its node or pod, as text: --logs NAME=FILE".to_owned()
            }
            (Item::CliVersion, Why::NotOffered | Why::NotCaptured) => {
                "give the version of the linkerd CLI: --linkerd-cli VERSION".to_owned()
            }
            (Item::CliVersion, _) => {
                "check the linkerd command on PATH, or give its version: --linkerd-cli VERSION".to_owned()
            }
            (Item::NodeFiles, _) => {
                "gather the node's files again, readable, and give them with --nodes NAME=PATH".to_owned()
            }
            (Item::ServerVersion, Why::NotCaptured | Why::NotOffered) => {
                "add the output of: kubectl version -o json".to_owned()
            }
            (Item::Served(_), Why::NotCaptured | Why::NotOffered) => {
                "have the webhooks asked: run it with --probe, on the cluster itself".to_owned()
            }
            (Item::Probe(_), Why::NotCaptured | Why::NotOffered) => {
                "have the programs asked: run it with --probe, on the cluster itself".to_owned()
            }
            (Item::Probe(Probe { program: Program::LinkedCluster, .. }), Why::TimedOut { .. } | Why::Failed { .. }) => {
                "compare by hand with: kubectl --context \"$OTHER_CLUSTER\" -n linkerd get configmap linkerd-identity-trust-roots"
                    .to_owned()
            }
            (Item::Probe(_), Why::TimedOut { .. } | Why::Failed { .. }) => {
                "see that the API server reaches the kubelet and the kubelet the pod: kubectl port-forward goes the same way"
                    .to_owned()
            }
            (Item::Access(access), Why::NotCaptured | Why::NotOffered) => format!(
                "ask the cluster itself, or keep its answer in a bundle with meshdoctor collect --pre: {}",
                access.command(self.request.namespace.as_deref())
            ),
            (_, Why::Denied { .. }) => match self.link_secret() {
                Some((namespace, name)) => format!("grant it: {}", grant_links(namespace, &[name])),
                None => format!("grant {}", self.rule()),
            },
            (item, Why::NotCaptured | Why::NotOffered) => {
                format!("capture it: {}", capture(item, &self.request))
            }
            (item, Why::PerhapsMore) => match item.kind() {
                Some(kind) => format!("if the dump lists every one, say so: --complete {}", kind.resource()),
                None => "give a complete dump".to_owned(),
            },
            (_, Why::NotServed) => {
                "install what serves it, or skip the checks that need it: --skip".to_owned()
            }
            (_, Why::TimedOut { .. }) => {
                "run again, with a longer --request-timeout if the API server is slow".to_owned()
            }
            (_, Why::Malformed { .. }) => "repair or capture it again; the place is named above".to_owned(),
            (_, Why::Failed { .. }) => "run again; with -v for what the API server answered".to_owned(),
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

/// The command that lets the Secrets that Links in a namespace name be read.
pub(crate) fn grant_links(namespace: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!(" --resource-name={name}")).collect();
    format!(
        "kubectl -n {namespace} create role meshdoctor-links --verb=get --resource=secrets{} && kubectl -n {namespace} create \
         rolebinding meshdoctor-links --role=meshdoctor-links --user=NAME",
        names.concat()
    )
}

fn capture(item: &Item, request: &Request) -> String {
    match item {
        Item::List(kind) => format!("kubectl get {} -A -o json, or meshdoctor collect", kind.resource()),
        Item::Named { kind, scope, name } => {
            let namespace = match (scope, &request.namespace) {
                (Scope::Cluster, _) | (_, None) => String::new(),
                (_, Some(namespace)) => format!("-n {namespace} "),
            };
            format!("kubectl {namespace}get {} {name} -o json, or meshdoctor collect", kind.resource())
        }
        Item::Access(access) => access.command(request.namespace.as_deref()),
        Item::Probe(_) | Item::Served(_) => "see meshdoctor check --help, --probe".to_owned(),
        Item::ServerVersion => "kubectl version -o json".to_owned(),
        Item::CliVersion => "linkerd version --client --short".to_owned(),
        Item::NodeFiles => "see meshdoctor check --help, --nodes".to_owned(),
        Item::Logs => "see meshdoctor check --help, --logs".to_owned(),
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
