//! Finds, reads and merges kubeconfigs like kubectl, and selects context, cluster and user. The result may contain
//! secrets and is passed only to the client; errors never quote file contents.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use base64::Engine;
use kube::config::{AuthInfo, Cluster, Config, ExecAuthCluster, Kubeconfig, KubeconfigError};

use super::error::ConnectError;
use super::proxy::proxy_for;
use super::quote::quote;
use crate::nearest::closest;

/// A context with its cluster and user.
pub(super) struct Picked {
    pub(super) context: String,
    pub(super) cluster: Cluster,
    pub(super) user_name: Option<String>,
    pub(super) user: AuthInfo,
}

/// Selection on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KubeconfigSelection<'a> {
    pub(super) context: Option<&'a str>,
    pub(super) cluster: Option<&'a str>,
    pub(super) user: Option<&'a str>,
}

/// Kubeconfig paths: `--kubeconfig`, else `$KUBECONFIG`, else the home directory's.
pub(super) fn places(flag: Option<&Path>, variable: Option<&OsStr>, home: Option<&Path>) -> Vec<PathBuf> {
    if let Some(file) = flag {
        return vec![file.to_owned()];
    }
    let listed: Vec<PathBuf> = variable
        .map(|value| std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    match home {
        _ if !listed.is_empty() => listed,
        Some(home) => vec![home.join(".kube").join("config")],
        None => Vec::new(),
    }
}

/// Reads and merges the files; the first setting wins. Missing files are skipped, unless `all_needed`. `None` if there
/// are none.
pub(super) fn read(places: &[PathBuf], all_needed: bool) -> Result<Option<Kubeconfig>, ConnectError> {
    let mut merged: Option<Kubeconfig> = None;
    for path in places {
        let mut config = match Kubeconfig::read_from(path) {
            Ok(config) => config,
            Err(KubeconfigError::ReadConfig(error, _))
                if error.kind() == std::io::ErrorKind::NotFound && !all_needed =>
            {
                continue;
            }
            Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ConnectError::NotThere { path: path.clone() });
            }
            Err(error) => return Err(unreadable(path, &error)),
        };
        // kubectl treats an empty entry as missing.
        config.current_context = config.current_context.filter(|name| !name.is_empty());
        merged = Some(match merged {
            None => config,
            Some(first) => first.merge(config).map_err(|error| unreadable(path, &error))?,
        });
    }
    Ok(merged)
}

fn unreadable(path: &Path, error: &KubeconfigError) -> ConnectError {
    let what = match error {
        KubeconfigError::ReadConfig(error, _) => quote(&error.to_string(), 200),
        // The parser's message quotes lines, which may contain a token.
        KubeconfigError::Parse(error) => match error.location() {
            Some(place) => {
                format!("not a valid kubeconfig, at line {}, column {}", place.line(), place.column())
            }
            None => "not a valid kubeconfig".to_owned(),
        },
        KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch => {
            "its kind or apiVersion differs from the previous kubeconfigs".to_owned()
        }
        _ => "not a valid kubeconfig".to_owned(),
    };
    ConnectError::Unreadable { path: path.to_owned(), what }
}

/// Selects the requested or current context with its cluster and user, or the requested ones.
pub(super) fn pick(config: Kubeconfig, asked: KubeconfigSelection<'_>) -> Result<Picked, ConnectError> {
    let mut known: Vec<String> = config.contexts.iter().map(|context| context.name.clone()).collect();
    known.sort();
    let (name, context) = match (asked.context.map(str::to_owned).or(config.current_context), asked.cluster) {
        (Some(name), _) => {
            let context = config.contexts.into_iter().find(|c| c.name == name).and_then(|c| c.context);
            let Some(context) = context else {
                let nearest = closest(&name, known.iter().map(String::as_str));
                let asked = asked.context.is_some();
                return Err(ConnectError::UnknownContext { name, asked, nearest, known });
            };
            (name, Some(context))
        }
        // A cluster needs no context; its name replaces it.
        (None, Some(cluster)) => (cluster.to_owned(), None),
        (None, None) => return Err(ConnectError::NoContext { known }),
    };
    let unknown = |part, asked: bool, wanted: &str, names: Vec<&str>| {
        let nearest = closest(wanted, names);
        match asked {
            true => ConnectError::UnknownName { part, name: wanted.to_owned(), nearest },
            false => ConnectError::UnknownPart { context: name.clone(), part, name: wanted.to_owned(), nearest },
        }
    };
    let of_context = context.as_ref().map(|context| context.cluster.as_str());
    let wanted = asked.cluster.or(of_context).unwrap_or_default();
    let cluster = config.clusters.iter().find(|c| c.name == wanted).and_then(|c| c.cluster.clone());
    let cluster = cluster.ok_or_else(|| {
        let names = config.clusters.iter().map(|c| c.name.as_str()).collect();
        unknown("cluster", asked.cluster.is_some(), wanted, names)
    })?;
    let of_context = context.and_then(|context| context.user).filter(|name| !name.is_empty());
    let user_name = asked.user.map(str::to_owned).or(of_context);
    let user = match &user_name {
        // Without a user, the request is anonymous.
        None => AuthInfo::default(),
        Some(wanted) => {
            let user = config.auth_infos.iter().find(|u| u.name == *wanted).and_then(|u| u.auth_info.clone());
            user.ok_or_else(|| {
                let names = config.auth_infos.iter().map(|u| u.name.as_str()).collect();
                unknown("user", asked.user.is_some(), wanted, names)
            })?
        }
    };
    Ok(Picked { context: name, cluster, user_name, user })
}

/// Client configuration for the selection; reads files, and treats empty entries as missing.
pub(super) fn configure(
    cluster: &Cluster,
    mut user: AuthInfo,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Config, ConnectError> {
    let unusable = |what: String| ConnectError::Kubeconfig { path: None, what };
    let server = cluster.server.as_deref().filter(|server| !server.is_empty());
    let server = server.ok_or_else(|| unusable("the cluster has no server".to_owned()))?;
    let uri = server.parse::<http::Uri>().ok().filter(|uri| {
        matches!(uri.scheme_str(), Some("https" | "http")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    let uri = uri.ok_or_else(|| unusable("the cluster's server is not https://HOST:PORT".to_owned()))?;
    let mut config = Config::new(uri);
    let data = cluster.certificate_authority_data.as_deref().filter(|data| !data.is_empty());
    let file = cluster.certificate_authority.as_deref().filter(|file| !file.is_empty());
    config.root_cert = match (data, file) {
        (Some(data), _) => Some(certificates(&from_base64(data, "certificate-authority-data")?)?),
        (None, Some(file)) => Some(certificates(&from_file(file)?)?),
        (None, None) => None,
    };
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    if let Some(proxy) = proxy_for(&config.cluster_url, cluster.proxy_url.as_deref(), environment) {
        config.proxy_url = Some(proxy_uri(&proxy)?);
    }
    tidy(&mut user)?;
    if let Some(exec) = &mut user.exec
        && exec.provide_cluster_info
    {
        let described = ExecAuthCluster::try_from(cluster);
        exec.cluster = Some(described.map_err(|error| unusable(quote(&error.to_string(), 200)))?);
    }
    config.auth_info = user;
    Ok(config)
}

/// Removes empty entries and reads the token file: the run is short, and the client would not strip its newline.
fn tidy(user: &mut AuthInfo) -> Result<(), ConnectError> {
    let drop_empty = |text: &mut Option<String>| *text = text.take().filter(|text| !text.is_empty());
    for text in [
        &mut user.username,
        &mut user.token_file,
        &mut user.client_certificate,
        &mut user.client_certificate_data,
        &mut user.client_key,
        &mut user.impersonate,
    ] {
        drop_empty(text);
    }
    use secrecy::ExposeSecret;
    let filled = |secret: &secrecy::SecretString| !secret.expose_secret().is_empty();
    user.token = user.token.take().filter(filled);
    user.client_key_data = user.client_key_data.take().filter(filled);
    if user.token.is_none()
        && let Some(file) = user.token_file.take()
    {
        let token = String::from_utf8(from_file(&file)?).unwrap_or_default();
        if token.trim().is_empty() {
            return Err(ConnectError::Unreadable { path: file.into(), what: "it contains no token".to_owned() });
        }
        user.token = Some(token.trim().to_owned().into());
    }
    if let Some(provider) = &user.auth_provider
        && provider.name != "oidc"
    {
        return Err(ConnectError::AuthProvider { name: quote(&provider.name, 60) });
    }
    Ok(())
}

/// The proxy's address in the client's format.
fn proxy_uri(proxy: &str) -> Result<http::Uri, ConnectError> {
    // Neither the address nor the parser's message is quoted: they may contain a password.
    let unusable =
        || ConnectError::Kubeconfig { path: None, what: "the proxy's address is not a valid URL".to_owned() };
    let proxy = match proxy.split_once("://") {
        None => format!("http://{proxy}"),
        Some(("socks5h", rest)) => format!("socks5://{rest}"),
        Some(("http" | "https" | "socks5", _)) => proxy.to_owned(),
        Some(_) => {
            return Err(ConnectError::Kubeconfig {
                path: None,
                what: "the proxy must be http, https or socks5".to_owned(),
            });
        }
    };
    let uri: http::Uri = proxy.parse().map_err(|_| unusable())?;
    if uri.host().is_none_or(str::is_empty) { Err(unusable()) } else { Ok(uri) }
}

fn from_file(path: &str) -> Result<Vec<u8>, ConnectError> {
    std::fs::read(path)
        .map_err(|error| ConnectError::Unreadable { path: path.into(), what: quote(&error.to_string(), 200) })
}

fn from_base64(data: &str, field: &str) -> Result<Vec<u8>, ConnectError> {
    let compact: String = data.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD
        .decode(compact)
        .map_err(|_| ConnectError::Kubeconfig { path: None, what: format!("its {field} is not base64") })
}

/// The certificates (DER) in a PEM text.
fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, ConnectError> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(certificates) if !certificates.is_empty() => {
            Ok(certificates.into_iter().map(|certificate| certificate.to_vec()).collect())
        }
        Ok(_) | Err(_) => Err(ConnectError::Kubeconfig {
            path: None,
            what: "its certificate authority contains no certificate".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn flag_precedes_variable_and_variable_precedes_home() {
        let (flag, home) = (Path::new("/flag"), Path::new("/home/x"));
        let listed = std::env::join_paths(["/a", "", "/b"]).unwrap();
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(places(Some(flag), Some(&listed), Some(home)), paths(&["/flag"]));
        assert_eq!(places(None, Some(&listed), Some(home)), paths(&["/a", "/b"]));
        assert_eq!(places(None, Some(OsStr::new("")), Some(home)), paths(&["/home/x/.kube/config"]));
        assert_eq!(places(None, None, None), paths(&[]));
    }

    #[test]
    fn files_are_merged_and_the_first_setting_wins() {
        let folder = tempfile::tempdir().unwrap();
        let first = write(
            folder.path(),
            "first",
            "current-context: ''\nclusters: [{name: c, cluster: {server: 'https://first'}}]\n",
        );
        let second = write(
            folder.path(),
            "second",
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n\
             clusters: [{name: c, cluster: {server: 'https://second'}}]\nusers: [{name: u, user: {token: t}}]\n",
        );
        let places = [first, folder.path().join("not-there"), second];
        let picked = pick(read(&places, false).unwrap().unwrap(), KubeconfigSelection::default()).unwrap();
        assert_eq!(picked.context, "x");
        assert_eq!(picked.cluster.server.as_deref(), Some("https://first"));
        assert!(picked.user.token.is_some());
        assert!(matches!(read(&places, true), Err(ConnectError::NotThere { path }) if path == places[1]));
        assert!(read(&places[1..2], false).unwrap().is_none());
    }

    #[test]
    fn named_cluster_and_user_override_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let config = write(
            folder.path(),
            "config",
            "contexts: [{name: x, context: {cluster: c, user: u}}]\n\
             clusters: [{name: c, cluster: {server: 'https://c'}}, {name: d, cluster: {server: 'https://d'}}]\n\
             users: [{name: u, user: {token: t}}, {name: v, user: {token: s}}]\n",
        );
        let config = read(&[config], true).unwrap().unwrap();
        let picked = |context, cluster, user| {
            let asked = KubeconfigSelection { context, cluster, user };
            pick(config.clone(), asked).map(|p| (p.context, p.cluster.server.unwrap(), p.user_name))
        };
        let of = |context: &str, server: &str, user: Option<&str>| {
            Ok((context.to_owned(), server.to_owned(), user.map(str::to_owned)))
        };
        assert_eq!(picked(Some("x"), None, None), of("x", "https://c", Some("u")));
        assert_eq!(picked(Some("x"), Some("d"), Some("v")), of("x", "https://d", Some("v")));
        assert_eq!(picked(None, Some("d"), None), of("d", "https://d", None));
        assert!(matches!(picked(None, None, Some("v")), Err(ConnectError::NoContext { .. })));
        let unknown = picked(Some("x"), None, Some("w")).unwrap_err();
        assert!(unknown.is_usage() && unknown.to_string().starts_with("the kubeconfig has no user \"w\""), "{unknown}");
    }

    #[test]
    fn kubeconfig_paths_are_relative_to_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "token", "secret\n\n");
        let config = write(
            folder.path(),
            "config",
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n\
             clusters: [{name: c, cluster: {server: 'https://x', certificate-authority-data: ''}}]\n\
             users: [{name: u, user: {tokenFile: token, client-certificate-data: ''}}]\n",
        );
        let picked = pick(read(&[config], true).unwrap().unwrap(), KubeconfigSelection::default()).unwrap();
        let config = configure(&picked.cluster, picked.user, |_| None).unwrap();
        use secrecy::ExposeSecret;
        assert_eq!(config.auth_info.token.as_ref().map(ExposeSecret::expose_secret), Some("secret"));
        assert_eq!((config.auth_info.token_file, config.auth_info.client_certificate_data), (None, None));
        assert!(config.root_cert.is_none());
    }
}
