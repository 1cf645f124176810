//! Whether iptables rules lead a pod's connections to its proxy: the ports that linkerd-init redirects to,
//! and the ports on which the proxy listens.

use crate::objects::Pod;
use crate::objects::container::{INIT_CONTAINER, VALIDATOR_CONTAINER};

/// Variable with the address on which a proxy accepts inbound connections.
pub const INBOUND_LISTEN: &str = "LINKERD2_PROXY_INBOUND_LISTEN_ADDR";
/// Variables with the addresses on which a proxy accepts outbound connections; the first supersedes the other.
const OUTBOUND_LISTEN: [&str; 2] =
    ["LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR"];

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
}

/// The reason why connections of a pod do not reach its proxy; `None` if they do, or if the pod is an incomplete
/// copy. A pod without rules of its own may still be served by linkerd-cni in a release without a validator.
pub fn not_redirected(pod: &Pod) -> Option<NotRedirected> {
    let proxy = pod.spec.proxy()?;
    // Every injected proxy has this variable and volumes.
    let inbound = proxy.env_value(INBOUND_LISTEN)?;
    if !pod.spec.volumes.some {
        return None;
    }
    let Some(init) = pod.spec.container(INIT_CONTAINER) else {
        let validated = pod.spec.container(VALIDATOR_CONTAINER).is_some();
        return (!validated).then_some(NotRedirected::NoRules);
    };
    let outbound = OUTBOUND_LISTEN.iter().find_map(|name| Some((*name, proxy.env_value(name)?)));
    let ways = [
        (true, "--incoming-proxy-port", Some((INBOUND_LISTEN, inbound))),
        (false, "--outgoing-proxy-port", outbound),
    ];
    ways.into_iter().find_map(|(inbound, argument, listens)| {
        let redirected = port_argument(&init.args, argument)?;
        let (variable, listens) = listens?;
        let ports: Option<Vec<u16>> = listens.split(',').map(port_of).collect();
        (!ports?.contains(&redirected)).then(|| NotRedirected::OtherPort {
            inbound,
            argument,
            redirected,
            variable,
            listens: listens.to_owned(),
        })
    })
}

/// The port of an address: `[::]:4143`.
fn port_of(address: &str) -> Option<u16> {
    address.trim().rsplit_once(':')?.1.parse().ok()
}

/// A port argument, written as `--name=4143` or as two arguments.
fn port_argument(args: &[String], name: &str) -> Option<u16> {
    let mut args = args.iter();
    let rest =
        args.find_map(|arg| arg.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('=')))?;
    match rest.strip_prefix('=') {
        Some(value) => value.parse().ok(),
        None => args.next()?.parse().ok(),
    }
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
    fn pod_without_init_has_no_rules() {
        assert_eq!(not_redirected(&pod("", "0.0.0.0:4143")), Some(NotRedirected::NoRules));
        let validator = "{name: linkerd-network-validator, image: x}";
        assert_eq!(not_redirected(&pod(validator, "0.0.0.0:4143")), None);
    }
}
