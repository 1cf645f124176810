//! `identity-unknown`: policies name identities that no workload can have.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::survey::{Survey, about, defined, field, on, put, removal, set, survey, test};
use super::workload_without_authorization::authorizations;
use crate::checks::prelude::*;
use crate::checks::words::workload_of;
use crate::item::EXTENSION_LABEL;
use crate::model::policy::{AuthorizedBy, Inbound};
use crate::model::skipped::{IN, skipped};
use crate::objects::{AuthorizationPolicy, ExternalWorkload, Link, MeshTLSAuthentication, ServiceAccount};

/// Maximum number of entries of an object that have findings of their own.
const MOST: usize = 20;

/// Why a named identity does not exist in this mesh.
enum IdentityFault {
    /// It does not have the form of an identity.
    Form(String),
    /// It ends in another trust domain.
    Foreign(String),
    /// The service account does not exist.
    NoAccount(String),
    /// The namespace does not exist.
    NoNamespace(String),
    /// A SPIFFE identity that no ExternalWorkload has.
    NoExternal,
}

/// The existing accounts and namespaces.
struct There<'a> {
    accounts: HashSet<(&'a str, &'a str)>,
    /// The namespaces of the accounts, by their name.
    namespaces_of: HashMap<&'a str, Vec<&'a str>>,
    namespaces: HashMap<&'a str, &'a Namespace>,
    /// The identities of ExternalWorkloads.
    external: HashSet<&'a str>,
}

impl<'a> There<'a> {
    /// # Errors
    /// A list is missing or incomplete.
    fn new(ctx: &Context<'a>) -> Result<There<'a>, Unjudged> {
        let accounts = || ctx.complete_list::<ServiceAccount>();
        let mut namespaces_of: HashMap<&str, Vec<&str>> = HashMap::new();
        for (namespace, name) in accounts()?.iter().map(|account| account.metadata.key()) {
            namespaces_of.entry(name).or_default().push(namespace);
        }
        let namespaces = ctx.complete_list::<Namespace>()?.iter();
        Ok(There {
            accounts: accounts()?.iter().map(|account| account.metadata.key()).collect(),
            namespaces_of,
            namespaces: namespaces.map(|one| (one.metadata.name.as_str(), one)).collect(),
            external: defined::<ExternalWorkload>(ctx)?.iter().filter_map(ExternalWorkload::identity).collect(),
        })
    }

    fn has_account(&self, namespace: &str, name: &str) -> bool {
        self.accounts.contains(&(namespace, name))
    }

    /// The namespace of an account with the same name as a missing one: the given namespace, else the only one.
    fn namesake(&self, account: &str, own: &str) -> Option<&str> {
        let (_, name) = account.split_once('/')?;
        let namespaces = self.namespaces_of.get(name)?;
        let here = namespaces.iter().find(|namespace| **namespace == own);
        match namespaces.as_slice() {
            [only] if name != "default" => Some(only),
            _ => here.copied(),
        }
    }

    fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.contains_key(name)
    }
}

/// The objects that named identities are compared with.
struct Identities<'c, 'a> {
    ctx: &'c Context<'a>,
    survey: &'a Survey<'a>,
    there: There<'a>,
    only: OnceCell<OnlyAuthorized<'a>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let identities = Identities { ctx, survey, there: There::new(ctx)?, only: OnceCell::new() };
    let mut findings = Vec::new();
    for object in survey.objects.mesh_tls_authentications.iter().filter(|one| ctx.judges(&one.metadata.namespace)) {
        let meta = &object.metadata;
        let faults = faults(survey, object, &identities.there);
        let named = object.spec.identities.len() + object.spec.identity_refs.len();
        // Without the missing account, the policy still authorizes the other clients, or its chart wrote it.
        let is_harmless = faults.len() < named || is_of_chart(meta);
        let more = faults.len().saturating_sub(MOST);
        let each = faults.into_iter().take(MOST);
        findings.extend(each.map(|fault| identities.finding(object, fault, is_harmless)));
        findings.extend((more > 0).then(|| others(ctx, meta, more, is_harmless)));
    }
    findings.extend(required(ctx, survey, &identities.there, identities.only()));
    Ok(findings.into())
}

impl<'a> Identities<'_, 'a> {
    fn only(&self) -> &OnlyAuthorized<'a> {
        self.only.get_or_init(|| OnlyAuthorized::new(self.ctx, self.survey))
    }

    /// Whether clusters are linked, which may have other trust domains.
    fn is_linked(&self) -> bool {
        self.ctx.or_note(defined::<Link>(self.ctx)).is_some_and(|links| !links.is_empty())
    }

    /// The finding about an entry: its field, its text, and its fault. `is_harmless`: the policy authorizes clients
    /// without it too.
    fn finding(
        &self,
        object: &MeshTLSAuthentication,
        (path, text, fault): (&'static str, String, IdentityFault),
        is_harmless: bool,
    ) -> Finding {
        const KIND: Kind = Kind::MeshTLSAuthentication;
        let meta = &object.metadata;
        let (message, severity) = self.effect(object, &text, &fault, is_harmless);
        let remedy = match correction(object, &self.there, &text, &fault) {
            Some((act, operations)) => Remedy::new().command(act, set(KIND, meta, operations)),
            None => Remedy::new().command(self.edit(meta, &fault), on("edit", KIND, meta)),
        };
        let finding = about(self.ctx, KIND, meta, message);
        let is_likely = matches!(fault, IdentityFault::NoExternal);
        finding
            .likely_if(is_likely)
            .severity(severity)
            .parameter(text.as_str())
            .evidence(field(KIND, meta, path, text.as_str()))
            .remedy(remedy)
    }

    /// The step that corrects an entry by hand.
    fn edit(&self, meta: &Meta, fault: &IdentityFault) -> String {
        match fault {
            IdentityFault::NoNamespace(_) => "Name an existing namespace, or remove the entry".to_owned(),
            IdentityFault::NoAccount(account) => match self.there.namesake(account, &meta.namespace) {
                Some(namespace) => format!("Correct the namespace of the identity to {namespace}"),
                None => "Name an existing ServiceAccount, or remove the entry".to_owned(),
            },
            IdentityFault::NoExternal => {
                "Name the ServiceAccount of a pod in identityRefs, or the identity of an ExternalWorkload".to_owned()
            }
            IdentityFault::Form(_) | IdentityFault::Foreign(_) => {
                "Name the ServiceAccount in identityRefs instead: Linkerd then derives the identity".to_owned()
            }
        }
    }

    /// The message about an entry, and its severity.
    fn effect(
        &self,
        object: &MeshTLSAuthentication,
        text: &str,
        fault: &IdentityFault,
        is_harmless: bool,
    ) -> (String, Severity) {
        match fault {
            IdentityFault::Form(wanted) => {
                let (effect, severity) = self.without_client(object, None, "");
                (format!("{text:?} is not a valid identity{effect}. {wanted}"), severity)
            }
            // A client outside of the cluster may have no ExternalWorkload.
            IdentityFault::NoExternal => (
                format!(
                    "No ExternalWorkload has the identity {text}, and pods have no SPIFFE identity, so most likely no \
                     client has it"
                ),
                Severity::Warning,
            ),
            IdentityFault::NoAccount(account) => {
                let namesake = self.there.namesake(account, &object.metadata.namespace);
                let is_expected = is_harmless && namesake.is_none();
                let (effect, severity) = self.without_client(object, namesake, account);
                let severity = if is_expected { Severity::Info } else { severity };
                (format!("ServiceAccount {account} does not exist{effect}"), severity)
            }
            IdentityFault::Foreign(suffix) if self.is_linked() => (
                format!("No workload of this cluster has the identity {text}: identities of this mesh end in {suffix}"),
                Severity::Info,
            ),
            IdentityFault::Foreign(suffix) => {
                let (effect, severity) = self.without_client(object, None, "");
                let message = format!(
                    "No workload of this cluster has the identity {text}{effect}. Identities of this mesh end in \
                     {suffix}"
                );
                (message, severity)
            }
            IdentityFault::NoNamespace(namespace) => {
                // No account of it can have a pod.
                let (effect, severity) = self.without_client(object, None, &format!("{namespace}/"));
                let effect = match severity {
                    Severity::Error => effect,
                    _ => format!(", so no client matches {text}"),
                };
                let severity = if is_harmless { Severity::Info } else { severity };
                (format!("Namespace {namespace} does not exist{effect}"), severity)
            }
        }
    }

    /// What a missing account leads to: the policies that require this authentication alone, the ports that they
    /// close, and the existing account of the same name.
    fn without_client(
        &self,
        object: &MeshTLSAuthentication,
        namesake: Option<&str>,
        account: &str,
    ) -> (String, Severity) {
        let meta = &object.metadata;
        let requires = |policy: &&AuthorizationPolicy| {
            policy.spec.required_authentication_refs.iter().any(|reference| {
                reference.is_a("policy.linkerd.io", "MeshTLSAuthentication")
                    && reference.name == meta.name
                    && reference.namespace.as_deref().unwrap_or(&policy.metadata.namespace) == meta.namespace.as_str()
            })
        };
        let mut policies = self.survey.objects.authorization_policies.iter().filter(requires);
        let is_alone = object.spec.identities.len() + object.spec.identity_refs.len() == 1;
        let policy = policies.next().filter(|_| is_alone && policies.next().is_none());
        let closed = policy.and_then(|policy| self.only().closed_by(policy, account));
        let effect = match (policy, &closed) {
            (Some(policy), Some((workload, port))) => {
                let name = &policy.metadata.name;
                format!("so AuthorizationPolicy {name} denies all connections to port {port} of {workload}")
            }
            (Some(policy), None) => {
                let (namespace, name) = policy.metadata.key();
                format!("so AuthorizationPolicy {namespace}/{name} authorizes no client")
            }
            (None, _) => "so no client has this identity".to_owned(),
        };
        let name = account.split_once('/').map_or(account, |(_, name)| name);
        let exists = namesake.map_or_else(String::new, |namespace| format!(" ({namespace}/{name} does)"));
        let severity = if closed.is_some() { Severity::Error } else { Severity::Warning };
        (format!("{exists}, {effect}"), severity)
    }
}

/// The entries of an object beyond those that have findings of their own.
fn others(ctx: &Context<'_>, meta: &Meta, count: usize, is_harmless: bool) -> Finding {
    let message = format!("{count} more of its entries match no client of this mesh");
    about(ctx, Kind::MeshTLSAuthentication, meta, message)
        .severity(if is_harmless { Severity::Info } else { Severity::Warning })
        .parameter("others")
        .evidence(field(Kind::MeshTLSAuthentication, meta, "spec", format!("{count} more entries")))
        .remedy(Remedy::new().command(
            "Remove the entries without a workload, or correct them",
            on("edit", Kind::MeshTLSAuthentication, meta),
        ))
}

/// The step that corrects a reference to a missing account: its namespace, if the account exists there; otherwise the
/// entry is removed, unless it is the only one.
fn correction(
    object: &MeshTLSAuthentication,
    there: &There<'_>,
    text: &str,
    fault: &IdentityFault,
) -> Option<(String, Vec<serde_json::Value>)> {
    let IdentityFault::NoAccount(account) = fault else { return None };
    let own = &object.metadata.namespace;
    let at = object.spec.identity_refs.iter().position(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(own);
        text == format!("ServiceAccount {namespace}/{}", reference.name)
    })?;
    let path = format!("/spec/identityRefs/{at}");
    let named = test(format!("{path}/name"), object.spec.identity_refs[at].name.as_str());
    if let Some(namespace) = there.namesake(account, own) {
        let act = format!("Correct the namespace of the identity to {namespace}");
        return Some((act, vec![named, put(format!("{path}/namespace"), namespace)]));
    }
    let is_only = object.spec.identities.len() + object.spec.identity_refs.len() == 1;
    let remove = removal(path);
    let act = "Remove the entry, or name an existing ServiceAccount instead".to_owned();
    (!is_only).then(|| (act, vec![named, remove]))
}

/// The workloads and ports that only one policy authorizes clients for: if it authorizes none, nothing can connect.
struct OnlyAuthorized<'a> {
    /// By the policy's namespace and name, the first such workload and port.
    by_policy: HashMap<(&'a str, &'a str), (String, u16)>,
    /// The accounts of running pods: namespace and name.
    running: HashSet<(&'a str, &'a str)>,
}

impl<'a> OnlyAuthorized<'a> {
    fn new(ctx: &Context<'a>, survey: &'a Survey<'a>) -> OnlyAuthorized<'a> {
        let mut by_policy = HashMap::new();
        for group in survey.replicas() {
            let taken = group.first().map(|(_, workload)| survey.index.inbound_taken(workload));
            let only = taken.into_iter().flatten().filter_map(|(port, inbound)| Some((port, only_policy(&inbound)?)));
            let only: Vec<(u16, &AuthorizationPolicy)> = only.collect();
            for (pod, workload) in group.iter().filter(|_| !only.is_empty()) {
                let skips = skipped(pod, IN, ctx.cni_skips());
                for (port, policy) in &only {
                    if !skips.as_ref().is_some_and(|skips| skips.holds(*port))
                        && policy.metadata.namespace == pod.metadata.namespace
                    {
                        let place = || (workload_of(workload.meta), *port);
                        by_policy.entry(policy.metadata.key()).or_insert_with(place);
                    }
                }
            }
        }
        let account = |(pod, _): &(&'a Pod, _)| (pod.metadata.namespace.as_str(), pod.spec.account());
        OnlyAuthorized { by_policy, running: survey.pods.iter().map(account).collect() }
    }

    /// A workload and its port whose only authorization is this policy. Pods that still run with the missing account
    /// keep their identity for now.
    fn closed_by(&self, policy: &'a AuthorizationPolicy, account: &str) -> Option<&(String, u16)> {
        let is_running = account.split_once('/').is_some_and(|account| self.running.contains(&account));
        let (_, place) = self.by_policy.get_key_value(&policy.metadata.key()).filter(|_| !is_running)?;
        Some(place)
    }
}

/// The policy that all authorizations of a port and its routes come from, if it is one.
fn only_policy<'a>(inbound: &Inbound<'a>) -> Option<&'a AuthorizationPolicy> {
    let mut policies = authorizations(inbound).map(|one| match one.by {
        AuthorizedBy::Policy(policy) => Some(policy),
        AuthorizedBy::Default(_) | AuthorizedBy::Probe | AuthorizedBy::Server(_) => None,
    });
    let first = policies.next()??;
    policies.all(|one| one.is_some_and(|one| one.metadata.key() == first.metadata.key())).then_some(first)
}

/// Whether a chart of Linkerd wrote an object.
fn is_of_chart(meta: &Meta) -> bool {
    meta.label(EXTENSION_LABEL).is_some() || meta.label("app.kubernetes.io/part-of") == Some("Linkerd")
}

/// AuthorizationPolicies that require a service account that does not exist.
fn required(ctx: &Context<'_>, survey: &Survey<'_>, there: &There<'_>, only: &OnlyAuthorized<'_>) -> Vec<Finding> {
    let policies = survey.objects.authorization_policies.iter();
    let judged = policies.filter(|one| ctx.judges(&one.metadata.namespace));
    let references = judged
        .flat_map(|policy| policy.spec.required_authentication_refs.iter().map(move |reference| (policy, reference)));
    let missing = references.filter_map(|(policy, reference)| {
        let namespace = reference.namespace.as_deref().unwrap_or(&policy.metadata.namespace);
        let gone = reference.is_a("", "ServiceAccount")
            && !there.has_account(namespace, &reference.name)
            && !is_optional(ctx, there, &policy.metadata, (namespace, &reference.name));
        gone.then(|| (policy, format!("{namespace}/{}", reference.name)))
    });
    missing
        .map(|(policy, account)| {
            let meta = &policy.metadata;
            let text = format!("ServiceAccount {account}");
            let closed = only.closed_by(policy, &account);
            let effect = match &closed {
                Some((workload, port)) => {
                    format!("the policy denies all connections to port {port} of {workload}")
                }
                None => "the policy authorizes no client".to_owned(),
            };
            let message = format!("ServiceAccount {account} does not exist, so {effect}");
            let severity = if closed.is_some() { Severity::Error } else { Severity::Warning };
            about(ctx, Kind::AuthorizationPolicy, meta, message)
                .severity(severity)
                .parameter(text.as_str())
                .evidence(field(Kind::AuthorizationPolicy, meta, "spec.requiredAuthenticationRefs", text.as_str()))
                .remedy(name_clients(meta))
        })
        .collect()
}

/// Whether an extension's chart named an account of another extension that is not installed. The policy is
/// prepared for it, and the chart would write it again.
fn is_optional(ctx: &Context<'_>, there: &There<'_>, policy: &Meta, (namespace, name): (&str, &str)) -> bool {
    let Some(extension) = policy.label(EXTENSION_LABEL) else { return false };
    let Some(brought_by) = ctx.knowledge.extensions().brings_account(extension, namespace, name) else {
        return false;
    };
    let empty = ctx.namespaces().empty_extensions.iter().any(|one| one.name() == brought_by);
    let labelled = |one: &Namespace| one.metadata.label(EXTENSION_LABEL) == Some(brought_by);
    empty || !there.namespaces.values().copied().any(labelled)
}

/// The remedy that authorizes the clients. A policy of a chart is not edited, because the next upgrade
/// reverts that.
fn name_clients(policy: &Meta) -> Remedy {
    match policy.label(EXTENSION_LABEL) {
        Some(extension) => Remedy::new().step(
            StepKind::Note,
            format!(
                "Create your own AuthorizationPolicy with the same target and the clients' ServiceAccount, because \
                 the chart of {extension} overwrites this one"
            ),
        ),
        None => Remedy::new().run(
            StepKind::Command,
            "Name the ServiceAccount of the clients",
            on("edit", Kind::AuthorizationPolicy, policy),
        ),
    }
}

fn faults(
    survey: &Survey<'_>,
    object: &MeshTLSAuthentication,
    there: &There<'_>,
) -> Vec<(&'static str, String, IdentityFault)> {
    let suffix = survey.index.controller.identity_suffix();
    let form = || IdentityFault::Form(format!("Valid identities have the form ACCOUNT.NAMESPACE{suffix}"));
    let written = object.spec.identities.iter().filter_map(|text| {
        // Identities of ExternalWorkloads have another form.
        if text.starts_with("spiffe://") {
            let is_known = there.external.contains(text.as_str());
            return (!is_known).then(|| ("spec.identities", text.clone(), IdentityFault::NoExternal));
        }
        if text == "*" {
            return None;
        }
        let fault = match text.strip_prefix("*.") {
            Some(rest) if rest.contains('*') => form(),
            Some(rest)
                if rest
                    .strip_suffix(suffix.as_str())
                    .is_some_and(|namespace| !namespace.contains('.') && !there.has_namespace(namespace)) =>
            {
                IdentityFault::NoNamespace(rest.strip_suffix(suffix.as_str()).unwrap_or_default().to_owned())
            }
            Some(rest) if suffix.ends_with(rest) || rest.ends_with(suffix.trim_start_matches('.')) => {
                return None;
            }
            Some(rest)
                if rest.contains(".serviceaccount.identity.") || rest.starts_with("serviceaccount.identity.") =>
            {
                IdentityFault::Foreign(suffix.clone())
            }
            Some(_) => form(),
            None if text.contains('*') => form(),
            None => match text.strip_suffix(suffix.as_str()) {
                Some(rest) => match rest.split_once('.') {
                    Some((account, namespace)) if !namespace.contains('.') => {
                        if there.has_account(namespace, account) {
                            return None;
                        }
                        IdentityFault::NoAccount(format!("{namespace}/{account}"))
                    }
                    _ => form(),
                },
                None if text.contains(".serviceaccount.identity.") => IdentityFault::Foreign(suffix.clone()),
                None => form(),
            },
        };
        Some(("spec.identities", text.clone(), fault))
    });
    let referred = object.spec.identity_refs.iter().filter_map(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(&object.metadata.namespace);
        if reference.is_a("", "Namespace") && !there.has_namespace(&reference.name) {
            let text = format!("Namespace {}", reference.name);
            return Some(("spec.identityRefs", text, IdentityFault::NoNamespace(reference.name.clone())));
        }
        if !reference.is_a("", "ServiceAccount") || there.has_account(namespace, &reference.name) {
            return None;
        }
        let account = format!("{namespace}/{}", reference.name);
        Some(("spec.identityRefs", format!("ServiceAccount {account}"), IdentityFault::NoAccount(account)))
    });
    written.chain(referred).collect()
}
