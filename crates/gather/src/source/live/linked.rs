//! Trust anchors of a linked cluster, requested with `--probe` like the linkerd command does: with the credentials in
//! the link's Secret, for the ConfigMap that its remote role allows. The credentials are never kept; a kubeconfig that
//! runs a command is not used.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::api_client::{ApiClient, RequestError};
use super::fetch_error::why;
use super::forward::{PATIENCE, too_late};
use super::kubeconfig::{KubeconfigSelection, configure, pick};
use super::quote::quote_answer;
use super::traffic::Meter;
use super::{OBJECT_BODY, path};
use crate::fetched::Why;
use crate::item::answer::Response;
use crate::item::{Kind, Program};

#[derive(Deserialize)]
struct Link {
    spec: Spec,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    cluster_credentials_secret: String,
    target_cluster_linkerd_namespace: String,
}

#[derive(Deserialize)]
struct Secret {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// The trust anchors according to the linked cluster. No response is also a result: components with the link's
/// credentials cannot connect either.
pub(super) async fn config(api: &ApiClient, (namespace, link): (&str, &str)) -> Result<Response, Why> {
    let patience = api.patience(PATIENCE);
    let limit = tokio::time::Instant::now() + patience;
    let asking = tokio::time::timeout_at(limit, connect(api, (namespace, link)));
    let (remote, path) = match asking.await {
        Ok(Ok(way)) => way,
        Ok(Err(UnreachableLink::Unusable(trouble))) => return Ok(Response::unreached(&trouble)),
        Ok(Err(UnreachableLink::Unknown(why))) => return Err(why),
        Err(_) => return Err(too_late(patience)),
    };
    let seconds = patience.as_secs();
    let meter = Meter::default();
    let trouble = match tokio::time::timeout_at(limit, remote.get(&path, &meter, false)).await {
        Ok(Ok(answer)) => match answer.whole(&meter, OBJECT_BODY) {
            Ok(body) => return Ok(Response::read(Program::LinkedCluster, 200, &body)),
            Err(_) => return Err(failed("the response of the linked cluster is broken or endless")),
        },
        Ok(Err(RequestError::Refused(refusal))) => {
            return Ok(Response::read(Program::LinkedCluster, refusal.status.as_u16(), &[]));
        }
        Ok(Err(RequestError::Broken(broken))) => broken.words(),
        Ok(Err(RequestError::TimedOut { .. })) | Err(_) => format!("no response within {seconds} s"),
    };
    Ok(Response::unreached(&trouble))
}

/// Reason why the linked cluster cannot be queried.
enum UnreachableLink {
    /// The link's credentials do not work for any client.
    Unusable(String),
    /// It is unknown whether they work, or a probe must not use them.
    Unknown(Why),
}

/// Connection to the linked cluster, and path of the request.
async fn connect(api: &ApiClient, (namespace, link): (&str, &str)) -> Result<(ApiClient, String), UnreachableLink> {
    let link: Link = object(api, Kind::Link, (namespace, link)).await?;
    let name = &link.spec.cluster_credentials_secret;
    let secret: Secret = match object(api, Kind::Secret, (namespace, name)).await {
        Err(UnreachableLink::Unusable(_)) => {
            return Err(UnreachableLink::Unusable(format!("the Secret {name} does not exist")));
        }
        other => other?,
    };
    let remote = remote(secret.data.get("kubeconfig").map(String::as_str).unwrap_or_default())?;
    let path = path::object(Kind::ConfigMap, Some(&link.spec.target_cluster_linkerd_namespace), "linkerd-config");
    match path {
        Some(path) => Ok((remote, path)),
        None => Err(UnreachableLink::Unusable("the link does not name the remote control-plane namespace".to_owned())),
    }
}

/// An object of this cluster; [`UnreachableLink::Unusable`] if it does not exist.
async fn object<T: DeserializeOwned>(
    api: &ApiClient,
    kind: Kind,
    (namespace, name): (&str, &str),
) -> Result<T, UnreachableLink> {
    let unknown = |words: &str| UnreachableLink::Unknown(failed(words));
    let path = path::object(kind, Some(namespace), name)
        .ok_or_else(|| UnreachableLink::Unusable(format!("no {kind} is named")))?;
    let meter = Meter::default();
    let answer = api.get(&path, &meter, false).await.map_err(|trouble| match &trouble {
        RequestError::Refused(refusal) if refusal.status == StatusCode::NOT_FOUND => {
            UnreachableLink::Unusable(format!("the {kind} {name} does not exist"))
        }
        _ => UnreachableLink::Unknown(why(&trouble)),
    })?;
    let body = answer.whole(&meter, OBJECT_BODY).map_err(|_| unknown("the response is broken or endless"))?;
    // The parser's message may quote secrets.
    serde_json::from_slice(&body).map_err(|_| unknown(&format!("the {kind} {name} is not valid")))
}

/// Connection to the linked cluster. Errors do not quote the kubeconfig.
fn remote(kubeconfig: &str) -> Result<ApiClient, UnreachableLink> {
    let unusable = |words: &str| UnreachableLink::Unusable(words.to_owned());
    let text = STANDARD.decode(kubeconfig).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let config = text.and_then(|text| kube::config::Kubeconfig::from_yaml(&text).ok());
    let config = config.ok_or_else(|| unusable("the kubeconfig of the link cannot be read"))?;
    let picked = pick(config, KubeconfigSelection::default())
        .map_err(|_| unusable("the kubeconfig of the link has no usable context"))?;
    if picked.user.exec.is_some() || picked.user.auth_provider.is_some() {
        return Err(UnreachableLink::Unknown(failed(
            "the kubeconfig of the link runs a command to log in, which a probe does not do",
        )));
    }
    let files = [&picked.user.token_file, &picked.user.client_certificate, &picked.user.client_key];
    if files.iter().any(|file| file.is_some()) || picked.cluster.certificate_authority.is_some() {
        return Err(unusable("the kubeconfig of the link refers to files, which its controller does not have"));
    }
    let cannot = "the kubeconfig of the link cannot be used";
    let mut config = configure(&picked.cluster, picked.user, |_| None).map_err(|_| unusable(cannot))?;
    config.default_retry = false;
    config.disable_compression = true;
    config.connect_timeout = Some(PATIENCE);
    let client = kube::Client::try_from(config).map_err(|_| unusable(cannot))?;
    Ok(ApiClient::new(client, Some(PATIENCE), false))
}

fn failed(words: &str) -> Why {
    Why::Failed { message: quote_answer(words, 200) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_kubeconfig_that_runs_commands_or_reads_files_is_not_used() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let kubeconfig = |user: &str| {
            STANDARD.encode(format!(
                "{{current-context: c, clusters: [{{name: a, cluster: {{server: 'https://127.0.0.1:1'}}}}], \
                 contexts: [{{name: c, context: {{cluster: a, user: u}}}}], users: [{{name: u, user: {user}}}]}}"
            ))
        };
        assert!(remote(&kubeconfig("{token: s3cret}")).is_ok());
        for (user, word) in [
            ("{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch}}", "runs a command"),
            ("{tokenFile: /etc/passwd}", "refers to files"),
            ("{client-key: /root/key}", "refers to files"),
        ] {
            let error = match remote(&kubeconfig(user)).err().unwrap() {
                UnreachableLink::Unusable(words) | UnreachableLink::Unknown(Why::Failed { message: words }) => words,
                UnreachableLink::Unknown(why) => panic!("{user}: {why:?}"),
            };
            assert!(error.contains(word), "{user}: {error}");
        }
        for junk in ["", "%%%", "eA=="] {
            assert!(matches!(remote(junk), Err(UnreachableLink::Unusable(_))), "{junk}");
        }
    }
}
