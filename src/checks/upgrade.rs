//! How the control plane is changed: by the tool that installed it, and at the release that is installed. `linkerd upgrade`
//! of another release would move the whole control plane to its own, so its commands ask for the version first.

use crate::checks::Context;
use crate::finding::{Remedy, StepKind};
use crate::item::Kind;
use crate::model::control_plane::{CREATED_BY, components, installed};
use crate::model::objects::Workload;
use crate::version::Channel;

/// What is set, for each tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a> {
    /// Options of `linkerd upgrade`.
    pub cli: &'a str,
    /// Options of `helm upgrade`; `None` where it takes a file instead.
    pub helm: Option<&'a str>,
}

impl<'a> Options<'a> {
    /// The same for both.
    pub(super) fn both(options: &'a str) -> Options<'a> {
        Options { cli: options, helm: Some(options) }
    }
}

/// Adds the step that does `act` to the control plane. Reads `deployments.apps`.
pub(super) fn step(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: StepKind,
    act: &str,
    options: Options<'_>,
) -> Remedy {
    let namespace = ctx.namespaces().control_plane.as_str();
    let deployments = ctx.hints::<Workload>(Kind::Deployment);
    let version = installed(deployments, None, namespace).map(|(version, _)| version);
    if is_helms(ctx) {
        let text = format!("{act}, with Helm, at the version of the chart that is installed");
        // Vendors have charts and repositories of their own.
        let edge = version.is_some_and(|version| version.channel() == Channel::Edge);
        return match options.helm.filter(|_| edge) {
            Some(options) => remedy.run(kind, text, helm(namespace, options)),
            None => remedy.step(kind, text),
        };
    }
    match version {
        Some(version) => remedy.run(
            kind,
            format!("{act}, with the linkerd CLI of the installed release"),
            format!(
                "[ \"$(linkerd version --client --short)\" = {version} ] && {}",
                cli(namespace, options.cli)
            ),
        ),
        None => remedy.run(
            kind,
            format!("{act}, with the linkerd CLI of the installed release (with Helm: the same values)"),
            cli(namespace, options.cli),
        ),
    }
}

/// Whether Helm installed the control plane. Reads `deployments.apps`.
pub(super) fn is_helms(ctx: &Context<'_>) -> bool {
    let namespace = ctx.namespaces().control_plane.as_str();
    components(ctx.hints::<Workload>(Kind::Deployment), namespace).iter().any(|component| {
        let tool = component.deployment.metadata.annotation(CREATED_BY);
        tool.is_some_and(|tool| tool.starts_with("linkerd/helm"))
    })
}

fn cli(namespace: &str, options: &str) -> String {
    let home = if namespace == "linkerd" { String::new() } else { format!(" -L {namespace}") };
    format!(
        "linkerd{home} upgrade{}{options} | kubectl apply -f -",
        if options.is_empty() { "" } else { " " }
    )
}

fn helm(namespace: &str, options: &str) -> String {
    format!(
        "CHART=$(helm -n {namespace} list -o yaml | sed -n 's/^ *chart: linkerd-control-plane-//p')\n\
         helm upgrade linkerd-control-plane linkerd-edge/linkerd-control-plane -n {namespace} --version \"$CHART\" --reuse-values {options}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_namespace_where_it_is_not_the_usual_one() {
        assert_eq!(cli("linkerd", ""), "linkerd upgrade | kubectl apply -f -");
        assert_eq!(cli("mesh", "--set a=b"), "linkerd -L mesh upgrade --set a=b | kubectl apply -f -");
        let helm = helm("mesh", "--set a=b");
        assert!(
            helm.contains("helm -n mesh list")
                && helm.contains("-n mesh --version \"$CHART\" --reuse-values --set a=b")
        );
    }
}
