//! How the problems that stop a call are repaired, with the commands and manifests of that.

use super::{Caller, Mesh};
use crate::command::{Call, Command, kubectl, meshdoctor};
use crate::finding::Remedy;
use crate::inspect::steps::Step;
use crate::model::policy::{
    AuthorizedBy, Client, DefaultPolicy, Entry, IdentityMatch, Inbound, REQUIRE_IDENTITY, TakenBy, Who, Workload,
};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{CustomResourceDefinition, Pod};
use crate::redact::is_marked;

/// The annotation with the outbound ports that bypass the proxy.
const SKIP_OUTBOUND: &str = "config.linkerd.io/skip-outbound-ports";

/// The effect of new pods on the trust anchors of their proxies.
const CURRENT_ANCHORS: &str = "new pods get the current trust anchors";

impl Mesh<'_> {
    /// Adds a restart of the workloads of pods to a step, as the checks advise it, after the repair of the
    /// problems that prevent new certificates.
    pub(super) fn restart(&self, step: &mut Step, pods: &[&Pod]) {
        let restarts: Vec<_> = pods.iter().filter_map(|pod| self.issuance.restart(pod, CURRENT_ANCHORS)).collect();
        let mut texts: Vec<&str> = Vec::new();
        for restart in &restarts {
            if !texts.contains(&restart.text.as_str()) {
                texts.push(&restart.text);
            }
        }
        let first = self.repair_first();
        let because = "until then a restarted proxy gets no certificate. The first command prints the steps";
        let words = first.as_ref().map(|(first, _)| format!("{first}: {because}"));
        step.fix(words.iter().map(String::as_str).chain(texts).collect::<Vec<_>>().join(". "));
        let commands = restarts.iter().filter_map(|restart| restart.command.as_ref()).map(ToString::to_string);
        let mut lines: Vec<String> = first.into_iter().flat_map(|(_, command)| command).collect();
        lines.extend(commands.flat_map(|command| command.lines().map(str::to_owned).collect::<Vec<_>>()));
        lines.dedup();
        step.paste(lines);
    }

    /// Adds the steps of a remedy to a step of the walk.
    pub(super) fn remedy(&self, step: &mut Step, remedy: &Remedy) {
        let texts: Vec<&str> = remedy.steps.iter().map(|one| one.text.as_str()).collect();
        step.fix(texts.join(". "));
        for one in &remedy.steps {
            let command = one.command.clone().map(|command| command.aimed(&self.issuance.connection));
            let lines = command.iter().flat_map(Command::rendered).collect::<Vec<_>>();
            step.paste(lines.clone()).then(one.text.as_str(), lines);
        }
    }

    /// The findings to repair before any restart, `repair issuer-expired first`, and the command that shows them.
    fn repair_first(&self) -> Option<(String, [String; 1])> {
        let ids = self.obstacles(None);
        let words = format!("repair {} first", ids.join(" and "));
        (!ids.is_empty()).then(|| (words, self.shown(&ids)))
    }

    /// Adds the repair of the findings to repair before any restart; returns whether there are any.
    pub(super) fn fix_first(&self, step: &mut Step) -> bool {
        let Some((words, command)) = self.repair_first() else { return false };
        step.fix(format!("{words}. This command prints the steps")).paste(command);
        true
    }

    /// Adds the repair of a finding, after that of the findings to repair before any restart.
    pub(super) fn fix_in_order(&self, step: &mut Step, last: &'static str) {
        let ids = self.obstacles(Some(last));
        let order = if ids.len() > 1 { ", in this order" } else { "" };
        step.fix(format!("repair {}{order}. This command prints the steps", ids.join(", "))).paste(self.shown(&ids));
    }

    /// The checks of the findings to repair before any restart, then another one.
    fn obstacles(&self, last: Option<&'static str>) -> Vec<&'static str> {
        let mut ids: Vec<&str> = self.issuance.obstacles.iter().map(|finding| finding.check).collect();
        ids.extend(last);
        ids.dedup();
        ids
    }

    /// The command that prints the steps of checks.
    pub(super) fn shown(&self, ids: &[&str]) -> [String; 1] {
        self.command(meshdoctor().words("check --only").arg(ids.join(",")))
    }

    /// A command with the connection to the cluster.
    pub(super) fn command(&self, call: Call) -> [String; 1] {
        [Command::from(call).aimed(&self.issuance.connection).to_string()]
    }

    /// The command that prints the log of a pod's proxy.
    pub(super) fn proxy_log(&self, pod: &Pod) -> [String; 1] {
        let log = kubectl().namespace(&pod.metadata.namespace).words("logs").operand(pod.metadata.name.as_str());
        self.command(log.option("-c", PROXY_CONTAINER))
    }

    /// Adds to a step how a proxy that is not ready is repaired: as the check about it does, if it reports it.
    pub(super) fn repair_proxy(&self, step: &mut Step, pod: &Pod) {
        match self.faults.of_proxy(pod) {
            Some(finding) => self.remedy(step, &finding.remedy),
            None => {
                step.fix("Read why the proxy is not ready in its log").paste(self.proxy_log(pod));
            }
        }
    }

    /// The command that checks a namespace.
    pub(super) fn checked(&self, namespace: &str) -> [String; 1] {
        self.command(meshdoctor().words("check").option("-n", namespace.to_owned()))
    }

    /// The command that shows the state of a pod.
    pub(super) fn described(&self, pod: &Pod) -> [String; 1] {
        let call = kubectl().namespace(&pod.metadata.namespace).words("describe pod");
        self.command(call.operand(pod.metadata.name.as_str()))
    }

    /// The command that shows the state of the control plane's pods.
    pub(super) fn states_of_control_plane(&self) -> [String; 1] {
        self.command(kubectl().namespace(&self.policy.index.controller.namespace).words("get pods"))
    }

    /// Adds to a step how to authorize a client that the policy of a port does not authorize.
    pub(super) fn authorize(
        &self,
        step: &mut Step,
        inbound: &Inbound<'_>,
        caller: Caller<'_>,
        (pod, port): (&Pod, u16),
    ) {
        let first = self.identity_first(caller);
        let is_outside = !caller.meshed && caller.pod.spec.proxy().is_none();
        if !caller.meshed && caller.pod.spec.proxy().is_some() && self.admits_identity(inbound, caller.pod) {
            step.fix(first.trim_end_matches(". Then ").to_owned());
            step.paste(self.without_skipped_port(caller.pod));
            return;
        }
        match inbound.taken_by {
            TakenBy::Server(server) => {
                let (namespace, name) = server.metadata.key();
                if let Some((object, account, wrong)) = misnamed(inbound, caller.pod) {
                    step.fix(format!(
                        "{first}correct the identity in MeshTLSAuthentication {}: ServiceAccount {account} \
                         instead of {wrong}",
                        object.join("/")
                    ));
                    let edit = kubectl().namespace(&object[0]).words("edit meshtlsauthentications.policy.linkerd.io");
                    step.paste(self.command(edit.operand(object[1].as_str())));
                    return;
                }
                step.fix(format!(
                    "{first}create an AuthorizationPolicy for Server {namespace}/{name} that authorizes this client"
                ))
                .paste(authorization_policy(namespace, name, caller.pod));
                if is_outside {
                    let act = format!("create an AuthorizationPolicy for Server {namespace}/{name} that authorizes it");
                    self.inject_first(step, caller, act);
                }
            }
            TakenBy::Default(DefaultPolicy::Deny | DefaultPolicy::Audit) => {
                let namespace = pod.metadata.namespace.as_str();
                let name = format!("{}-{port}", self.owners.owner(pod).name);
                step.fix(format!(
                    "{first}create a Server for port {port} and an AuthorizationPolicy for it: a default policy cannot \
                     authorize single clients"
                ))
                .paste(self.server(pod, port, &name))
                .paste(["---".to_owned()])
                .paste(authorization_policy(namespace, &name, caller.pod));
                if is_outside {
                    let act = format!("create a Server for port {port} and an AuthorizationPolicy that authorizes it");
                    self.inject_first(step, caller, act);
                }
            }
            TakenBy::Default(_) if inbound.identity_required && !caller.meshed => {
                step.fix(self.without_required_identity(caller, pod, port));
            }
            TakenBy::Default(policy) => {
                step.fix(self.default_policy(policy, caller, pod));
            }
        }
    }

    /// Numbers the steps for a client without a proxy: inject it and authorize it (`act`, with the lines to paste of
    /// the step), or authorize its network.
    fn inject_first(&self, step: &mut Step, caller: Caller<'_>, act: String) {
        let owner = self.owners.owner(caller.pod);
        let template = owner.template();
        let has_template = ["Deployment", "StatefulSet", "DaemonSet"].contains(&owner.kind.as_str());
        let mut change = serde_json::json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}});
        if caller.pod.spec.host_network {
            change["spec"] = serde_json::json!({"hostNetwork": false});
        }
        let change = serde_json::json!({"spec": {"template": change}});
        let patch = kubectl()
            .namespace(&owner.namespace)
            .words("patch")
            .arg(owner.kind.to_ascii_lowercase())
            .operand(owner.name.as_str());
        let patch = self.command(patch.words("--type merge -p").arg(change.to_string()));
        let manifest = step.paste.clone();
        step.then(
            match caller.pod.spec.host_network {
                true => format!(
                    "inject the client, which has no identity without a proxy, if it does not need its node's \
                     network: hostNetwork: false and linkerd.io/inject: enabled in {template}"
                ),
                false => format!(
                    "inject the client, which has no identity without a proxy: linkerd.io/inject: enabled in {template}"
                ),
            },
            patch.into_iter().filter(|_| has_template),
        )
        .then(act, manifest)
        .then("instead of steps 1 and 2: authorize the client's network, with a NetworkAuthentication", []);
    }

    /// Whether a policy authorizes a client once its connections have its identity.
    fn admits_identity(&self, inbound: &Inbound<'_>, client: &Pod) -> bool {
        let meta = &client.metadata;
        let identity = self.policy.index.controller.identity(&meta.namespace, client.spec.account());
        let client = Client { identity: Some(identity.as_str()), address: client.status.pod_ip };
        inbound.connect(client) == Entry::Admitted
    }

    /// The command that removes the list of skipped outbound ports from a Deployment's template, if it has one port.
    fn without_skipped_port(&self, client: &Pod) -> Option<String> {
        let owner = self.owners.owner(client);
        let listed = client.metadata.annotation(SKIP_OUTBOUND)?;
        if owner.kind != "Deployment" || listed.trim().parse::<u16>().is_err() {
            return None;
        }
        let annotations = serde_json::json!({ SKIP_OUTBOUND: null });
        let change = serde_json::json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        let patch = kubectl().namespace(&owner.namespace).words("patch deployment").operand(owner.name.as_str());
        let [command] = self.command(patch.words("--type merge -p").arg(change.to_string()));
        Some(command)
    }

    /// How a client without a proxy gets one.
    fn inject(&self, client: &Pod) -> String {
        let template = self.owners.owner(client).template();
        if client.spec.proxy().is_some() {
            return format!("remove the port from {SKIP_OUTBOUND} in {template}, so that the call has an identity");
        }
        match client.spec.host_network {
            true => format!(
                "inject the client, if it does not need its node's network (hostNetwork: false and \
                 linkerd.io/inject: enabled in {template})"
            ),
            false => format!("inject the client (linkerd.io/inject: enabled in {template})"),
        }
    }

    /// What a client without an identity needs before a policy can name it.
    fn identity_first(&self, caller: Caller<'_>) -> String {
        let owner = self.owners.owner(caller.pod);
        let client = owner.to_string();
        match (caller.meshed, caller.pod.spec.proxy()) {
            (true, _) => String::new(),
            (false, Some(_)) => format!(
                "the client's proxy skips this port, so the call has no identity: remove the port from \
                 {SKIP_OUTBOUND} of {client}. Then "
            ),
            (false, None) if caller.pod.spec.host_network => format!(
                "the client is on its node's network, where the injector adds no proxy, so it has no identity: \
                 authorize its network with a NetworkAuthentication, or set hostNetwork: false and \
                 linkerd.io/inject: enabled in {}. Once it is injected, ",
                owner.template()
            ),
            (false, None) => format!(
                "without a proxy, the client has no identity: inject it (linkerd.io/inject: enabled in {}), or \
                 authorize its network with a NetworkAuthentication. Once it is injected, ",
                owner.template()
            ),
        }
    }

    /// How a client gets past an annotation that requires an identity on a port.
    fn without_required_identity(&self, caller: Caller<'_>, pod: &Pod, port: u16) -> String {
        let owner = self.owners.owner(pod);
        let controller = &self.policy.index.controller;
        let own = Workload::of_pod(pod, controller.quirks).and_then(|workload| workload.default_policy);
        let default = own.unwrap_or(controller.default_policy);
        // Either of them requires an identity.
        let also = match default.is_authenticated() {
            true => ", and set config.linkerd.io/default-inbound-policy there",
            false => "",
        };
        format!(
            "{}, or remove port {port} from {REQUIRE_IDENTITY} in {}{also}",
            self.inject(caller.pod),
            owner.template()
        )
    }

    /// How a client gets past a default policy that authorizes others. A Server would cut these off.
    fn default_policy(&self, policy: DefaultPolicy, caller: Caller<'_>, pod: &Pod) -> String {
        let owner = self.owners.owner(pod);
        let set = format!("set config.linkerd.io/default-inbound-policy in {}", owner.template());
        if policy.is_authenticated() && !caller.meshed {
            return format!("{}, or {set}", self.inject(caller.pod));
        }
        format!("add the client's address to clusterNetworks of the control plane, or {set}")
    }

    /// The manifest of a Server for a port of a pod and of the pods with the same labels.
    fn server(&self, pod: &Pod, port: u16, name: &str) -> Vec<String> {
        let labels = self.selecting_labels(pod);
        let redacted = labels.iter().filter(|(_, value)| is_marked(value));
        let notes = redacted.map(|(key, _)| format!("# Set {key} to the value of the pod's label"));
        let notes: Vec<String> = notes.collect();
        // A redacted value selects nothing.
        let shown = |value: &str| if is_marked(value) { quoted("VALUE") } else { quoted(value) };
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{}: {}", quoted(key), shown(value))).collect();
        let lines = vec![
            format!("apiVersion: policy.linkerd.io/{}", self.server_version),
            "kind: Server".to_owned(),
            metadata(&pod.metadata.namespace, name),
            "spec:".to_owned(),
            format!("  podSelector: {{matchLabels: {{{}}}}}", labels.join(", ")),
            format!("  port: {port}"),
        ];
        [notes, lines].concat()
    }

    /// The labels that the pods of one workload share, without those of Linkerd and of a single generation of pods.
    fn selecting_labels<'p>(&self, pod: &'p Pod) -> Vec<(&'p str, &'p str)> {
        let owner = self.owners.owner(pod);
        let key = (owner.namespace.as_str(), owner.name.as_str());
        let deployment = self.deployments.iter().find(|one| owner.kind == "Deployment" && one.metadata.key() == key);
        let template = deployment.map(|one| &one.spec.template.metadata);
        let labels = pod.metadata.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let shared = |(key, value): &(&str, &str)| {
            !key.contains("linkerd.io/")
                && !OF_ONE_GENERATION.contains(key)
                && template.is_none_or(|template| template.label(key) == Some(*value))
        };
        labels.filter(shared).collect()
    }
}

/// Labels that differ between pods of one workload.
const OF_ONE_GENERATION: [&str; 5] = [
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
];

/// The manifest of an AuthorizationPolicy for a Server that authorizes the ServiceAccount of a client.
fn authorization_policy(namespace: &str, server: &str, client: &Pod) -> Vec<String> {
    let account = client.spec.account();
    let from = client.metadata.namespace.as_str();
    vec![
        "apiVersion: policy.linkerd.io/v1alpha1".to_owned(),
        "kind: AuthorizationPolicy".to_owned(),
        metadata(namespace, &format!("{server}-from-{from}-{account}")),
        "spec:".to_owned(),
        format!("  targetRef: {{group: policy.linkerd.io, kind: Server, name: {}}}", quoted(server)),
        "  requiredAuthenticationRefs:".to_owned(),
        format!("  - {{kind: ServiceAccount, name: {}, namespace: {}}}", quoted(account), quoted(from)),
    ]
}

fn metadata(namespace: &str, name: &str) -> String {
    format!("metadata: {{name: {}, namespace: {}}}", quoted(name), quoted(namespace))
}

/// A name as YAML: in quotes if a reader could parse it as another type.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '/'))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&name);
    if plain { name.to_owned() } else { format!("{name:?}") }
}

/// The version of Servers to write: the stored one of their definition; without a definition, one that every
/// release serves.
pub(super) fn server_version(definitions: &[CustomResourceDefinition]) -> String {
    let versions = definitions.iter().filter(|one| one.metadata.name == SERVERS).flat_map(|one| &one.spec.versions);
    let stored = versions.rev().find(|version| version.served && version.storage);
    stored.map_or_else(|| "v1beta1".to_owned(), |version| version.name.clone())
}

/// The name of the definition of Servers.
const SERVERS: &str = "servers.policy.linkerd.io";

/// A MeshTLSAuthentication that authorizes a ServiceAccount with the name of the client's in another namespace: its
/// namespace and name, the client's account, and the named account.
fn misnamed(inbound: &Inbound<'_>, client: &Pod) -> Option<([String; 2], String, String)> {
    let account = client.spec.account();
    let home = client.metadata.namespace.as_str();
    inbound.authorizations.iter().find_map(|one| {
        let AuthorizedBy::Policy(policy) = one.by else { return None };
        let Who::Identities(identities) = &one.who else { return None };
        let wrong = identities.iter().find_map(|identity| {
            let IdentityMatch::Exact(name) = identity else { return None };
            let mut parts = name.split('.');
            let (named, namespace) = (parts.next()?, parts.next()?);
            (named == account && namespace != home).then(|| format!("{namespace}/{named}"))
        })?;
        let mut required = policy.spec.required_authentication_refs.iter();
        let object = required.find(|one| one.is_a("policy.linkerd.io", "MeshTLSAuthentication"))?;
        let namespace = object.namespace.as_deref().unwrap_or(&policy.metadata.namespace);
        Some(([namespace.to_owned(), object.name.clone()], format!("{home}/{account}"), wrong))
    })
}
