//! The Prometheus server that flags name, with its token.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::args::PrometheusArgs;
use super::stop::Stop;
use super::values::PrometheusArg;

/// Environment variable with the token.
const VARIABLE: &str = "MESHDOCTOR_PROMETHEUS_TOKEN";
/// Maximum size of a token.
const MOST: u64 = 64 * 1024;

/// The bearer token, from its file or the environment; `None` if there is none.
pub(super) fn token(args: &PrometheusArgs) -> Result<Option<String>, Stop> {
    let (token, source) = match &args.prometheus_token_file {
        Some(path) => (from_file(path)?, format!("--prometheus-token-file {}", path.display())),
        None => match std::env::var(VARIABLE) {
            Ok(token) => (token, format!("${VARIABLE}")),
            Err(_) => return Ok(None),
        },
    };
    let token = token.trim();
    if token.is_empty() && args.prometheus_token_file.is_none() {
        return Ok(None);
    }
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let cause = format!("{source}: the content is not a bearer token");
        return Err(Stop::usage(cause, "write the token alone, without \"Bearer\""));
    }
    if let Some(PrometheusArg::Url(url)) = &args.prometheus
        && !is_private(url)
    {
        let cause = format!("a token is not sent over http to {url}");
        let next = format!("use https, or remove the token from {source}");
        return Err(Stop::usage(cause, next));
    }
    Ok(Some(token.to_owned()))
}

/// Whether others on the network cannot read requests to a URL.
fn is_private(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return true };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn from_file(path: &Path) -> Result<String, Stop> {
    let shown = path.display();
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            let cause = format!("cannot read --prometheus-token-file {shown}: {error}");
            Err(Stop::usage(cause, "name a readable file with the token"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_sent_encrypted_or_to_this_machine() {
        for url in ["https://p.example", "http://localhost:9090", "http://127.0.0.1/x", "http://[::1]:9090"] {
            assert!(is_private(url), "{url}");
        }
        for url in ["http://p.example", "http://localhost.example:9090", "http://10.0.0.1", "http://127.0.0.1.x"] {
            assert!(!is_private(url), "{url}");
        }
    }
}
