//! The trust anchors of a linked cluster, asked for with `--probe` as the linkerd command asks: with the credentials that the
//! link's Secret holds, for the ConfigMap that its role over there lets be read. The credentials are used and never kept; a
//! kubeconfig that would run a command is not used at all.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::forward::{PATIENCE, too_late};
use super::kubeconfig::{Asked, configure, pick};
use super::quote::quote;
use super::traffic::Meter;
use super::why::why;
use super::wire::{Trouble, Wire};
use super::{OBJECT_BODY, path};
use crate::item::Kind;
use crate::source::Why;

#[derive(Deserialize)]
struct Link {
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    cluster_credentials_secret: String,
    target_cluster_linkerd_namespace: String,
}

#[derive(Deserialize)]
struct Secret {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    kubeconfig: String,
}

/// The `linkerd-config` of the cluster that a link leads to: HTTP status and body.
pub(super) async fn config(wire: &Wire, (namespace, link): (&str, &str)) -> Result<(u16, Vec<u8>), Why> {
    let patience = wire.patience(PATIENCE);
    let asking = ask(wire, (namespace, link));
    tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| Err(too_late(patience)))
}

async fn ask(wire: &Wire, (namespace, link): (&str, &str)) -> Result<(u16, Vec<u8>), Why> {
    let link: Link = named(wire, Kind::Link, (namespace, link)).await?;
    let secret: Secret =
        named(wire, Kind::Secret, (namespace, &link.spec.cluster_credentials_secret)).await?;
    let remote = remote(&secret.data.kubeconfig).map_err(|message| Why::Failed { message })?;
    let path =
        path::named(Kind::ConfigMap, Some(&link.spec.target_cluster_linkerd_namespace), "linkerd-config");
    let path = path.ok_or_else(|| failed("the link names no namespace of the control plane over there"))?;
    let meter = Meter::default();
    match remote.get(&path, &meter, false).await {
        Ok(answer) => match answer.whole(&meter, OBJECT_BODY) {
            Ok(body) => Ok((200, body)),
            Err(_) => Err(failed("the answer of the linked cluster is broken or endless")),
        },
        Err(Trouble::Refused(refusal)) => Ok((refusal.status.as_u16(), Vec::new())),
        Err(trouble) => Err(why(&trouble)),
    }
}

async fn named<T: serde::de::DeserializeOwned>(
    wire: &Wire,
    kind: Kind,
    (namespace, name): (&str, &str),
) -> Result<T, Why> {
    let path =
        path::named(kind, Some(namespace), name).ok_or_else(|| failed("the link is in no namespace"))?;
    let meter = Meter::default();
    let answer = wire.get(&path, &meter, false).await.map_err(|trouble| why(&trouble))?;
    let body = answer.whole(&meter, OBJECT_BODY).map_err(|_| failed("the answer is broken or endless"))?;
    // Not the parser's words: they may quote what is secret.
    serde_json::from_slice(&body).map_err(|_| failed(&format!("the {kind} {name} is not what it should be")))
}

/// A way to the linked cluster. No error quotes the kubeconfig.
fn remote(kubeconfig: &str) -> Result<Wire, String> {
    let text = STANDARD.decode(kubeconfig).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let config = text.and_then(|text| kube::config::Kubeconfig::from_yaml(&text).ok());
    let config = config.ok_or("the kubeconfig of the link cannot be read")?;
    let picked =
        pick(config, Asked::default()).map_err(|_| "the kubeconfig of the link has no usable context")?;
    if picked.user.exec.is_some() || picked.user.auth_provider.is_some() {
        return Err(
            "the kubeconfig of the link runs a command to sign in, which is not done for a probe".to_owned()
        );
    }
    let files = [&picked.user.token_file, &picked.user.client_certificate, &picked.user.client_key];
    if files.iter().any(|file| file.is_some()) || picked.cluster.certificate_authority.is_some() {
        return Err("the kubeconfig of the link names files, which are not on this machine".to_owned());
    }
    let mut config = configure(&picked.cluster, picked.user, |_| None)
        .map_err(|_| "the kubeconfig of the link cannot be used")?;
    config.default_retry = false;
    config.disable_compression = true;
    config.connect_timeout = Some(PATIENCE);
    let client = kube::Client::try_from(config).map_err(|_| "the kubeconfig of the link cannot be used")?;
    Ok(Wire::new(client, Some(PATIENCE), false))
}

fn failed(words: &str) -> Why {
    Why::Failed { message: quote(words, 200) }
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
            ("{tokenFile: /etc/passwd}", "names files"),
            ("{client-key: /root/key}", "names files"),
        ] {
            let error = remote(&kubeconfig(user)).err().unwrap();
            assert!(error.contains(word), "{user}: {error}");
        }
        for junk in ["", "%%%", "eA=="] {
            assert!(remote(junk).is_err());
        }
    }
}
