//! Parts of a webhook that prevent every call: its rules, its target, and the versions of the review.

use std::collections::BTreeMap;

use super::super::webhooks::Server;
use crate::checks::control_plane::installation::{before_upgrade, installed};
use crate::checks::prelude::*;
use crate::checks::serving::is_misdirected;
use crate::checks::upgrade;
use crate::objects::{ClientConfig, ResourceRule, Webhook, WebhookConfiguration};

/// The versions of admission reviews that API servers support.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
/// The port of a webhook without one.
const DEFAULT_PORT: u16 = 443;
/// Maximum number of quoted resources.
const QUOTED: usize = 6;

/// The release whose webhooks are installed, if a control plane is. `None`: no control plane.
pub(super) struct Release(Option<LinkerdVersion>);

impl Release {
    /// Reads Deployments and `linkerd-config`. A version that is unavailable is a gap.
    pub(super) fn read(ctx: &Context<'_>) -> Option<Release> {
        match ctx.or_note(installed(ctx)) {
            Some(None) => None,
            // Before an upgrade, the webhooks are those of the old release.
            Some(Some(_)) => Some(Release(ctx.or_note(before_upgrade(ctx)))),
            None => Some(Release(None)),
        }
    }
}

/// One webhook in its configuration.
pub(super) struct Registered<'a> {
    pub(super) server: &'static Server,
    pub(super) configuration: &'a WebhookConfiguration,
    pub(super) webhook: &'a Webhook,
}

impl<'a> Registered<'a> {
    /// Linkerd's webhook in a configuration: that of the Service, else that of the name, else the first.
    pub(super) fn find(
        server: &'static Server,
        configuration: &'a WebhookConfiguration,
        home: &str,
    ) -> Option<Registered<'a>> {
        let service = format!("linkerd-{}", server.name);
        let name = format!("{service}.linkerd.io");
        let calls = |webhook: &&Webhook| {
            let called = webhook.client_config.service.as_ref();
            called.is_some_and(|called| called.name == service && called.namespace == home)
        };
        let all = &configuration.webhooks;
        let webhook = all.iter().find(calls).or_else(|| all.iter().find(|webhook| webhook.name == name));
        Some(Registered { server, configuration, webhook: webhook.or_else(|| all.first())? })
    }

    /// The findings about it. An incomplete copy, without versions of the review, is not judged.
    pub(super) fn findings(&self, ctx: &Context<'_>, release: &Release, services: Option<&[Service]>) -> Vec<Finding> {
        if self.webhook.admission_review_versions.is_empty() {
            return Vec::new();
        }
        let mut findings = self.unmatched(ctx, release);
        let reviews = &self.webhook.admission_review_versions;
        if !reviews.iter().any(|version| REVIEWS.contains(&version.as_str())) {
            let message = format!(
                "the API server supports none of the review versions of the webhook, so every call fails: {}",
                self.server.effect(Some(self.webhook))
            );
            let field = ("admissionReviewVersions", reviews.join(", "));
            findings.push(self.failing(ctx, &message, field, "review"));
        }
        findings.extend(self.misdirected(ctx, services));
        findings
    }

    /// Findings about a target that does not exist or does not serve the webhook.
    fn misdirected(&self, ctx: &Context<'_>, services: Option<&[Service]>) -> Option<Finding> {
        let ClientConfig { service, url, .. } = &self.webhook.client_config;
        let effect = self.server.effect(Some(self.webhook));
        let Some(service) = service else {
            if url.is_empty() {
                return None;
            }
            let message = format!(
                "the webhook calls a URL instead of its Service. If no server of Linkerd answers there, {effect}"
            );
            return Some(self.failing(ctx, &message, ("clientConfig.url", url.clone()), "url").likely());
        };
        let chart = ctx.knowledge.control_plane().webhook(self.server.name)?;
        if !chart.paths.is_empty() && !chart.paths.contains(&service.path) {
            let message = format!("the webhook calls a path that its server does not serve: {effect}");
            let field = ("clientConfig.service.path", service.path.clone());
            return Some(self.failing(ctx, &message, field, "path"));
        }
        let own = format!("linkerd-{}", self.server.name);
        // `control-plane-service-missing` reports the webhook's own Service.
        if is_misdirected(ctx, service, &own) {
            let message = format!("the webhook calls a Service that does not exist: {effect}");
            let field = ("clientConfig.service", format!("{}/{}", service.namespace, service.name));
            let finding = self.failing(ctx, &message, field, "service");
            // No webhook calls the validator's Service then.
            let missing = BTreeMap::from([("validator-webhook-missing".to_owned(), Vec::new())]);
            return Some(if self.server.name == "proxy-injector" { finding } else { finding.symptoms(missing) });
        }
        let port = service.port.unwrap_or(DEFAULT_PORT);
        let found = services?.iter().find(|known| known.metadata.key() == (&service.namespace, &service.name))?;
        // `control-plane-service-missing` reports a Service without ports of its own.
        if found.spec.kind == "ExternalName" || found.spec.tcp_ports().any(|known| known.port == port) {
            return None;
        }
        let ports: Vec<String> = found.spec.ports.iter().map(|known| known.port.to_string()).collect();
        let message = format!("the webhook calls a port that its Service does not have: {effect}");
        let has =
            Evidence::field(format!("Service {}/{}", service.namespace, service.name), "spec.ports", ports.join(", "));
        Some(self.failing(ctx, &message, ("clientConfig.service.port", port.to_string()), "port").evidence(has))
    }

    /// Findings about operations of the chart's rules that no rule matches.
    fn unmatched(&self, ctx: &Context<'_>, release: &Release) -> Vec<Finding> {
        let Some(chart) = ctx.knowledge.control_plane().webhook(self.server.name) else { return Vec::new() };
        let mut unmatched: Vec<(&str, String)> = Vec::new();
        for rule in chart.rules(release.0.as_ref(), ctx.knowledge.minors()) {
            for resource in &rule.resources {
                let is_matched =
                    |operation: &&String| self.webhook.covers(operation, (&rule.group, resource), &rule.versions);
                let operations: Vec<&str> =
                    rule.operations.iter().filter(|one| !is_matched(one)).map(String::as_str).collect();
                if !operations.is_empty() {
                    let dot = if rule.group.is_empty() { "" } else { "." };
                    let lacking = format!("{} {resource}{dot}{}", operations.join("/"), rule.group);
                    // Versions of a resource that began later are in a rule of their own.
                    if unmatched.iter().all(|(_, known)| *known != lacking) {
                        unmatched.push((resource, lacking));
                    }
                }
            }
        }
        if self.server.name != "proxy-injector" {
            if unmatched.is_empty() {
                return Vec::new();
            }
            let message = "the rules of a validating webhook do not match all of its resources: the API server \
                accepts mistakes in the others unchecked";
            let lacking: Vec<String> = unmatched.into_iter().map(|(_, lacking)| lacking).collect();
            let finding = self.base(ctx, message, "rules").severity(Severity::Warning).explains_nothing();
            return vec![finding.evidences(self.rules(&lacking))];
        }
        if unmatched.is_empty() {
            return Vec::new();
        }
        let lacks_pods = unmatched.iter().any(|(resource, _)| *resource == "pods");
        let lacking: Vec<String> = unmatched.into_iter().map(|(_, lacking)| lacking).collect();
        let finding = if lacks_pods {
            let message = "the rules of the injector's webhook do not match new pods, so the API server never \
                calls it: every new pod starts unmeshed";
            self.server.tied(ctx, self.base(ctx, message, "rules"))
        } else {
            let message = "the rules of the injector's webhook do not match new Services: they do not inherit the \
                opaque ports of their namespace";
            self.base(ctx, message, "services").severity(Severity::Warning).explains_nothing()
        };
        vec![finding.evidences(self.rules(&lacking))]
    }

    /// Evidence of the rules, and of the operations that they do not match.
    fn rules(&self, lacking: &[String]) -> Vec<Evidence> {
        let rules: Vec<String> = self.webhook.rules.iter().map(described).collect();
        let rules = if rules.is_empty() { "none".to_owned() } else { rules.join("; ") };
        let quoted = lacking.iter().take(QUOTED).cloned().collect::<Vec<_>>().join(", ");
        let more = lacking.len().saturating_sub(QUOTED);
        let quoted = if more == 0 { quoted } else { format!("{quoted} and {more} more") };
        vec![self.field("rules", rules), Evidence::other("Not matched", quoted)]
    }

    /// A finding about calls that fail.
    fn failing(&self, ctx: &Context<'_>, message: &str, (path, said): (&str, String), parameter: &str) -> Finding {
        let finding = self.base(ctx, message, parameter).evidence(self.field(path, said));
        let policy = match self.webhook.failure_policy.as_str() {
            "" => "Fail (the default)",
            policy => policy,
        };
        let finding = finding.evidence(self.field("failurePolicy", policy.to_owned()));
        if self.server.name == "proxy-injector" {
            return self.server.tied(ctx, finding);
        }
        let fails_open = self.webhook.failure_policy == "Ignore";
        finding.severity(if fails_open { Severity::Warning } else { Severity::Error }).symptoms(BTreeMap::new())
    }

    fn base(&self, ctx: &Context<'_>, message: &str, parameter: &str) -> Finding {
        let again = "Have it written again, and find out what changes it (a policy engine, a tool of the platform)";
        let remedy = upgrade::reapply(ctx, Remedy::new(), again);
        let name = &self.configuration.metadata.name;
        let finding = ctx.finding(Subject::object(self.server.kind(), "", name), message);
        finding.parameter(parameter).remedy(remedy)
    }

    fn field(&self, path: &str, said: String) -> Evidence {
        let name = &self.configuration.metadata.name;
        let all = &self.configuration.webhooks;
        let at = all.iter().position(|one| std::ptr::eq(one, self.webhook)).unwrap_or_default();
        Evidence::field(format!("{} {name}", self.server.kind()), format!("webhooks[{at}].{path}"), said)
    }
}

/// A rule in one line.
fn described(rule: &ResourceRule) -> String {
    let groups: Vec<&str> = rule.api_groups.iter().map(|group| if group.is_empty() { "core" } else { group }).collect();
    let scope = if rule.scope.is_empty() { "" } else { ", scope " };
    format!(
        "{} {} of {} {}{scope}{}",
        rule.operations.join("/"),
        rule.resources.join(","),
        groups.join(","),
        rule.api_versions.join(","),
        rule.scope
    )
}
