//! Single objects and answers: named objects, versions, permissions, and evidence that a user provides.

use super::Context;
use crate::fetched::{Fetched, Why};
use crate::item::ReviewStatus;
use crate::item::answer::Response;
use crate::item::diagnostic::Diagnostic;
use crate::item::{
    Access, Item, Probe, Program, Scope, Server, controller_config, controller_config_of, link_credentials,
};
use crate::item::{AccessReview, ProbeAnswer, ServedBy, ServedCertificates};
use crate::missing::Missing;
use crate::model::log::Log;
use crate::model::node::NodeSnapshot;
use crate::objects::{ConfigMap, Link, Listed, Object, Secret};
use crate::redact::{WITHHELD, withheld_entries};
use crate::request::Request;
use crate::version::{K8sVersion, LinkerdVersion};

/// The object, unless another tool redacted entries of it that are read: then it was not provided.
fn unless_withheld<'a, T: Object>(answer: &crate::model::Answer, object: &'a T) -> Result<&'a T, Missing> {
    match object.annotation(WITHHELD) {
        None => Ok(object),
        Some(names) => {
            let part = format!("{}, redacted by another tool", withheld_entries(names));
            Err(Missing::part(answer.request.clone(), Why::NotCaptured, part))
        }
    }
}

impl<'a> Context<'a> {
    /// A named object; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn object<K: Listed>(&self, scope: Scope, name: &str) -> Result<Option<&'a K::Object>, Missing> {
        let kind = K::LIST.kind();
        let (answer, reasons) = self.answer(Item::named(kind, scope, name))?;
        match (answer.objects::<K::Object>().first(), reasons.first()) {
            (Some(object), _) => unless_withheld(answer, object).map(Some),
            (None, None) => Ok(None),
            (None, Some(why)) => Err(Missing::whole(answer.request.clone(), why.clone())),
        }
    }

    /// Whether the operator has a permission, with the API server's own message.
    ///
    /// # Errors
    /// It is not known.
    pub fn access(&self, access: &Access) -> Result<&'a ReviewStatus, Missing> {
        let item = Item::Access(access.clone());
        let (answer, _) = self.answer(item)?;
        answer.objects::<AccessReview>().first().and_then(|review| review.status.as_ref()).ok_or_else(|| {
            let message = "the review has no status".to_owned();
            Missing::whole(answer.request.clone(), Why::Malformed { message })
        })
    }

    /// The answer of a program in a pod (`--probe`).
    ///
    /// # Errors
    /// It was not queried, or did not answer.
    pub fn probe(&self, program: Program, namespace: &str, pod: &str) -> Result<&'a Response, Missing> {
        self.declared(&Item::Probe(Probe::new(program)))?;
        let item = Item::Probe(Probe { program, pod: pod.to_owned() });
        let request = || Request { namespace: Some(namespace.to_owned()), item: item.clone() };
        // A Secret of the same name in another namespace is a different one.
        let answer = self.cluster.answer(&item);
        let Some(answer) = answer.filter(|answer| answer.request.namespace.as_deref() == Some(namespace)) else {
            return Err(Missing::whole(request(), Why::NotOffered));
        };
        match (&answer.fetched, answer.objects::<ProbeAnswer>().first()) {
            (Fetched::Missing { reason }, _) => Err(Missing::whole(request(), reason.clone())),
            (_, Some(found)) => Ok(&found.answer),
            (_, None) => Err(Missing::whole(request(), Why::NotOffered)),
        }
    }

    /// Whether a program was not queried at all, and why.
    pub fn unasked(&self, program: Program, why: Why) -> Missing {
        Missing::whole(Request::new(Item::Probe(Probe::new(program))), why)
    }

    /// The Secret that a link names; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn link_secret(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::credentials_of(link))
    }

    /// The Secret of the same name in the control plane's namespace. Only read if a Service takes its
    /// endpoints from another cluster.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn link_secret_copy(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::copy_of_credentials(link, &self.namespaces().control_plane))
    }

    /// As [`Context::link_secret_copy`], the Secret with the name that the CLI gives it.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn usual_link_secret_copy(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::usual_copy_of_credentials(link, &self.namespaces().control_plane))
    }

    fn of_link(&self, item: Item) -> Result<Option<&'a Secret>, Missing> {
        self.declared(&link_credentials())?;
        self.discovered(item)
    }

    /// An object whose name other objects contain; `None` if it is known not to exist.
    fn discovered<T: Object>(&self, item: Item) -> Result<Option<&'a T>, Missing> {
        let Some(answer) = self.cluster.answer(&item) else {
            let namespace = item.scope().map(|scope| scope.label().to_owned());
            return Err(Missing::whole(Request { item, namespace }, Why::NotCaptured));
        };
        match &answer.fetched {
            Fetched::Missing { reason } => Err(Missing::whole(answer.request.clone(), reason.clone())),
            Fetched::Complete | Fetched::Partial { .. } => {
                answer.objects::<T>().first().map(|found| unless_withheld(answer, found)).transpose()
            }
        }
    }

    /// A ConfigMap that the arguments of an ingress controller name; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn controller_config(&self, namespace: &str, name: &str) -> Result<Option<&'a ConfigMap>, Missing> {
        self.declared(&controller_config())?;
        self.discovered(controller_config_of(namespace, name))
    }

    /// The certificates that the pods of a server presented.
    ///
    /// # Errors
    /// They were not queried, or could not be.
    pub fn served(&self, server: Server) -> Result<&'a [ServedBy], Missing> {
        let (answer, _) = self.answer(Item::Served(server))?;
        Ok(answer.objects::<ServedCertificates>().first().map_or(&[], |served| served.pods.as_slice()))
    }

    /// The API server's version.
    ///
    /// # Errors
    /// It is not known.
    pub fn server_version(&self) -> Result<&'a K8sVersion, Missing> {
        self.declared(&Item::ServerVersion)?;
        if let Some(version) = self.upgraded().and_then(|upgrade| upgrade.kubernetes.as_ref()) {
            return Ok(version);
        }
        self.cluster
            .server_version
            .as_ref()
            .map_err(|why| Missing::whole(Request::new(Item::ServerVersion), why.clone()))
    }

    /// The version of the operator's own `linkerd` command.
    ///
    /// # Errors
    /// It is not known.
    pub fn cli_version(&self) -> Result<&'a LinkerdVersion, Missing> {
        self.declared(&Item::CliVersion)?;
        self.cluster.cli_version.as_ref().map_err(|why| Missing::whole(Request::new(Item::CliVersion), why.clone()))
    }

    /// The extension commands on PATH, `linkerd-NAME`; `None` if the CLI was not run.
    pub fn cli_extensions(&self) -> Option<&'a [String]> {
        self.declared(&Item::CliVersion).ok()?;
        self.cluster.cli_extensions.as_deref()
    }

    /// The nodes with evidence, if any: for optional use.
    pub fn snapshot_hints(&self) -> &'a [NodeSnapshot] {
        match self.declared(&Item::NodeFiles) {
            Ok(()) => self.cluster.nodes.as_deref().unwrap_or_default(),
            Err(_) => &[],
        }
    }

    /// The nodes with evidence, as [`Context::for_steps`].
    pub(in crate::checks) fn snapshots_for_steps(&self) -> &'a [NodeSnapshot] {
        self.cluster.nodes.as_deref().unwrap_or_default()
    }

    /// The provided logs, if any: for optional use.
    pub fn log_hints(&self) -> &'a [Log] {
        self.answer(Item::Logs).map_or(&[], |(answer, _)| answer.objects())
    }

    /// The provided logs. Unreadable ones are noted as a gap.
    ///
    /// # Errors
    /// No logs were provided.
    pub fn logs(&self) -> Result<&'a [Log], Missing> {
        self.user_provided(Item::Logs, "some of them")
    }

    /// The provided output of `linkerd diagnostics`.
    ///
    /// # Errors
    /// None was provided.
    pub fn diagnostics(&self) -> Result<&'a [Diagnostic], Missing> {
        self.user_provided(Item::Diagnostics, "some of it")
    }

    /// The same as detail of a finding; empty if it is missing.
    pub fn diagnostics_hint(&self) -> &'a [Diagnostic] {
        self.answer(Item::Diagnostics).map_or(&[], |(answer, _)| answer.objects())
    }

    /// Evidence that is never read from a cluster: it is provided or missing. Unreadable parts are noted as
    /// this part.
    fn user_provided<T: Object>(&self, item: Item, part: &str) -> Result<&'a [T], Missing> {
        let (answer, reasons) = self.answer(item).map_err(|missing| match missing.why {
            Why::NotCaptured => Missing { why: Why::NotOffered, ..missing },
            _ => missing,
        })?;
        for why in reasons {
            self.gap(Missing::part(answer.request.clone(), why.clone(), part));
        }
        Ok(answer.objects())
    }

    /// The nodes with evidence. Unreadable evidence is noted as a gap.
    ///
    /// # Errors
    /// No node evidence was provided.
    pub fn snapshots(&self) -> Result<&'a [NodeSnapshot], Missing> {
        self.declared(&Item::NodeFiles)?;
        for why in &self.cluster.node_trouble {
            self.gap(Missing::whole(Request::new(Item::NodeFiles), why.clone()));
        }
        match &self.cluster.nodes {
            // An empty folder for node files covers no node: no check passes because of it.
            Ok(nodes) if nodes.is_empty() => {
                let why = self.cluster.node_trouble.first().cloned().unwrap_or(Why::NotOffered);
                Err(Missing::whole(Request::new(Item::NodeFiles), why))
            }
            Ok(nodes) => Ok(nodes),
            Err(why) => Err(Missing::whole(Request::new(Item::NodeFiles), why.clone())),
        }
    }
}
