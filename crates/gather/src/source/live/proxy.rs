//! The proxy to the API server: `proxy-url` of the kubeconfig, else the environment, by the rules of kubectl (Go's
//! `net/http`). The client's own rules are wrong: it compares NO_PROXY with the proxy instead of the server.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

/// The proxy URL for `server`; `None` for a direct connection.
pub(super) fn proxy_for(
    server: &Uri,
    kubeconfig: Option<&str>,
    environment: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if let Some(proxy) = kubeconfig.filter(|proxy| !proxy.is_empty()) {
        return Some(proxy.to_owned());
    }
    let either = |upper: &str, lower: &str| {
        environment(upper).filter(|v| !v.is_empty()).or_else(|| environment(lower).filter(|v| !v.is_empty()))
    };
    let proxy = match server.scheme_str() {
        Some("https") => either("HTTPS_PROXY", "https_proxy"),
        _ => either("HTTP_PROXY", "http_proxy"),
    }?;
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
    let local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let exempt = either("NO_PROXY", "no_proxy").unwrap_or_default();
    if local || exempt.split(',').any(|entry| exempts(entry.trim(), &host, port)) { None } else { Some(proxy) }
}

/// Whether an entry of NO_PROXY covers a host and port. Invalid entries cover nothing.
fn exempts(entry: &str, host: &str, port: u16) -> bool {
    let entry = entry.to_ascii_lowercase();
    if entry == "*" {
        return true;
    }
    let address = host.parse::<IpAddr>().ok();
    if entry.contains('/') {
        let network = entry.parse::<IpNet>().ok();
        return network.zip(address).is_some_and(|(network, address)| network.contains(&address));
    }
    let (name, wanted_port) = match entry.rsplit_once(':') {
        // A colon in a bare IPv6 address does not start a port.
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port.parse::<u16>().ok()),
        _ => (entry.as_str(), None),
    };
    if wanted_port.is_some_and(|wanted| wanted != port) {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    if let Ok(exempt) = name.parse::<IpAddr>() {
        return address == Some(exempt);
    }
    let name = name.strip_prefix('*').unwrap_or(name);
    match name.strip_prefix('.') {
        Some("") | None if name.is_empty() || name == "." => false,
        // `.example.org`: only subdomains.
        Some(_) => host.ends_with(name),
        // `example.org`: itself and subdomains.
        None => host == name || host.strip_suffix(name).is_some_and(|below| below.ends_with('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(server: &str, kubeconfig: Option<&str>, environment: &[(&str, &str)]) -> Option<String> {
        proxy_for(&server.parse().unwrap(), kubeconfig, |name| {
            environment.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_kubeconfigs_proxy_comes_first() {
        let env = [("HTTPS_PROXY", "http://env:1"), ("NO_PROXY", "*")];
        assert_eq!(proxy("https://a.example", Some("http://own:1"), &env).as_deref(), Some("http://own:1"));
        assert_eq!(proxy("https://a.example", None, &env), None);
        assert_eq!(proxy("https://a.example", Some(""), &env[..1]).as_deref(), Some("http://env:1"));
        assert_eq!(proxy("http://a.example", None, &env[..1]), None);
    }

    #[test]
    fn loopback_never_uses_a_proxy() {
        let env = [("https_proxy", "http://env:1")];
        for server in ["https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443"] {
            assert_eq!(proxy(server, None, &env), None, "{server}");
        }
    }

    #[test]
    fn exemptions_are_compared_with_the_server() {
        let direct = |server: &str, no_proxy: &str| {
            proxy(server, None, &[("HTTPS_PROXY", "http://env:1"), ("NO_PROXY", no_proxy)]).is_none()
        };
        assert!(direct("https://api.example.org", "example.org"));
        assert!(direct("https://example.org", "a.b, example.org,"));
        assert!(!direct("https://badexample.org", "example.org"));
        assert!(direct("https://api.example.org", ".example.org"));
        assert!(!direct("https://example.org", ".example.org"));
        assert!(direct("https://api.example.org", "*.example.org"));
        assert!(direct("https://api.example.org:6443", "api.example.org:6443"));
        assert!(!direct("https://api.example.org:6443", "api.example.org:443"));
        assert!(direct("https://10.1.2.3:6443", "10.0.0.0/8"));
        assert!(!direct("https://11.1.2.3:6443", "10.0.0.0/8"));
        assert!(direct("https://10.1.2.3", "10.1.2.3"));
        assert!(direct("https://[fd00::1]:6443", "fd00::/8"));
        assert!(!direct("https://10.1.2.3", "fd00::/8,,  ,.,10.1.2.3/99,nonsense/x"));
        assert!(direct("https://anything", "*"));
    }
}
