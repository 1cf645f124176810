//! Whether iptables rules lead a pod's connections to its proxy: the ports that linkerd-init redirects to,
//! and the ports on which the proxy listens.

use std::str::FromStr;

use crate::objects::container::{INIT_CONTAINER, VALIDATOR_CONTAINER};
use crate::objects::{Container, Pod, PodSpec};

/// Variable with the address on which a proxy accepts inbound connections.
pub const INBOUND_LISTEN: &str = "LINKERD2_PROXY_INBOUND_LISTEN_ADDR";
/// Variables with the addresses on which a proxy accepts outbound connections; the first supersedes the other.
const OUTBOUND_LISTEN: [&str; 2] = ["LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR"];

/// The argument of linkerd-init with the uid whose traffic is not redirected.
pub const EXEMPT_USER: &str = "--proxy-uid";

/// Why connections of a pod do not reach its proxy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotRedirected {
    /// The pod has neither linkerd-init nor the validator that accompanies linkerd-cni.
    NoRules,
    /// linkerd-init redirects to a port on which the proxy does not listen.
    OtherPort {
        /// Whether it concerns inbound connections, otherwise outbound ones.
        inbound: bool,
        /// The argument of linkerd-init.
        argument: &'static str,
        /// The port that it names.
        redirected: u16,
        /// The variable of the proxy.
        variable: &'static str,
        /// The value of the variable.
        listens: String,
    },
    /// linkerd-init exempts the traffic of another user than the proxy's own, which therefore returns to the proxy.
    OtherUser {
        /// The uid that it exempts.
        exempt: i64,
        /// The uid of the proxy.
        runs_as: i64,
    },
}

/// The reason why connections of a pod do not reach its proxy; `None` if they do, or if the pod is an incomplete
/// copy. A pod without rules of its own may still be served by linkerd-cni in a release without a validator.
pub fn not_redirected(pod: &Pod) -> Option<NotRedirected> {
    not_redirected_by(&pod.spec)
}

/// The same for a specification, such as that of a template.
pub fn not_redirected_by(spec: &PodSpec) -> Option<NotRedirected> {
    let proxy = spec.proxy()?;
    // Every injected proxy has this variable and volumes.
    let inbound = proxy.env_value(INBOUND_LISTEN)?;
    if !spec.volumes.some {
        return None;
    }
    let Some(init) = spec.container(INIT_CONTAINER) else {
        let validated = spec.container(VALIDATOR_CONTAINER).is_some();
        return (!validated).then_some(NotRedirected::NoRules);
    };
    let outbound = OUTBOUND_LISTEN.iter().find_map(|name| Some((*name, proxy.env_value(name)?)));
    let ways =
        [(true, "--incoming-proxy-port", Some((INBOUND_LISTEN, inbound))), (false, "--outgoing-proxy-port", outbound)];
    let other_port = ways.into_iter().find_map(|(inbound, argument, listens)| {
        let redirected = argument_of(init, argument)?;
        let (variable, listens) = listens?;
        let ports: Option<Vec<u16>> = listens.split(',').map(port_of).collect();
        (!ports?.contains(&redirected)).then(|| NotRedirected::OtherPort {
            inbound,
            argument,
            redirected,
            variable,
            listens: listens.to_owned(),
        })
    });
    other_port.or_else(|| other_user(spec, proxy, init))
}

/// The argument of linkerd-init without which it also redirects IPv6.
pub const IPV6: &str = "--ipv6=false";

/// Whether linkerd-init leaves a pod's IPv6 connections alone, so that they bypass the proxy. `false` without
/// linkerd-init: the settings of linkerd-cni are not part of the pod.
pub fn skips_ipv6(pod: &Pod) -> bool {
    let init = pod.spec.container(INIT_CONTAINER);
    pod.spec.proxy().is_some() && init.is_some_and(|init| init.args.iter().any(|arg| arg == IPV6))
}

/// The proxy runs as another user than the one whose traffic linkerd-init exempts, and not in an exempt group.
fn other_user(spec: &PodSpec, proxy: &Container, init: &Container) -> Option<NotRedirected> {
    let (own, of_pod) = (proxy.security_context.as_deref(), &spec.security_context);
    let runs_as = own.and_then(|own| own.run_as_user).or(of_pod.run_as_user)?;
    let exempt: i64 = argument_of(init, EXEMPT_USER)?;
    let group = own.and_then(|own| own.run_as_group).or(of_pod.run_as_group);
    let is_group_exempt = group.is_some() && argument_of(init, "--proxy-gid") == group;
    (exempt != runs_as && !is_group_exempt).then_some(NotRedirected::OtherUser { exempt, runs_as })
}

/// The port on which the pod's proxy accepts connections from other pods.
pub fn inbound_port(pod: &Pod) -> u16 {
    let address = pod.spec.proxy().and_then(|proxy| proxy.env_value(INBOUND_LISTEN));
    address.and_then(port_of).unwrap_or(super::transport::INBOUND)
}

/// The port of an address: `[::]:4143`.
fn port_of(address: &str) -> Option<u16> {
    address.trim().rsplit_once(':')?.1.parse().ok()
}

/// The number of an argument.
fn argument_of<T: FromStr>(container: &Container, name: &str) -> Option<T> {
    container.argument(name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(init: &str, listens: &str) -> Pod {
        let text = format!(
            "metadata: {{name: web, namespace: shop}}\nspec:\n  volumes: [{{name: v}}]\n  initContainers: [{init}]\n  \
             containers:\n  - name: linkerd-proxy\n    image: cr.l5d.io/linkerd/proxy:edge-25.4.4\n    env: [{{name: \
             {INBOUND_LISTEN}, value: \"{listens}\"}}, {{name: LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS, value: \
             \"127.0.0.1:4140,[::1]:4140\"}}]\n"
        );
        serde_yaml::from_str(&text).expect("a pod")
    }

    fn init(inbound: u16, outbound: u16) -> String {
        format!(
            "{{name: linkerd-init, image: x, args: [--incoming-proxy-port, \"{inbound}\", --outgoing-proxy-port, \
             \"{outbound}\"]}}"
        )
    }

    #[test]
    fn ports_of_init_and_proxy_are_compared() {
        assert_eq!(not_redirected(&pod(&init(4143, 4140), "0.0.0.0:4143")), None);
        let other = not_redirected(&pod(&init(4143, 4140), "[::]:5143"));
        assert!(matches!(other, Some(NotRedirected::OtherPort { inbound: true, redirected: 4143, .. })));
        let other = not_redirected(&pod(&init(4143, 4141), "[::]:4143"));
        assert!(matches!(other, Some(NotRedirected::OtherPort { inbound: false, redirected: 4141, .. })));
    }

    #[test]
    fn users_of_init_and_proxy_are_compared() {
        let with = |uid: i64, args: &str| {
            let init = format!("{{name: linkerd-init, image: x, args: [{args}]}}");
            let mut pod = pod(&init, "[::]:4143");
            let spec = pod.spec.edit();
            spec.security_context.run_as_user = Some(uid);
            spec.security_context.run_as_group = Some(3000);
            not_redirected(&pod)
        };
        assert_eq!(with(2102, "--proxy-uid, \"2102\""), None);
        let other = Some(NotRedirected::OtherUser { exempt: 2102, runs_as: 1000 });
        assert_eq!(with(1000, "--proxy-uid, \"2102\""), other);
        assert_eq!(with(1000, "--proxy-uid=2102, --proxy-gid=3000"), None);
        assert_eq!(with(1000, "--log-level, info"), None);
    }

    #[test]
    fn pod_without_init_has_no_rules() {
        assert_eq!(not_redirected(&pod("", "0.0.0.0:4143")), Some(NotRedirected::NoRules));
        let validator = "{name: linkerd-network-validator, image: x}";
        assert_eq!(not_redirected(&pod(validator, "0.0.0.0:4143")), None);
    }
}
