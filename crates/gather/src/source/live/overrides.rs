//! Overrides of the kubeconfig: kubectl's flags for the server, its certificate and the credentials, with kubectl's
//! precedence rules. A token is a secret and is passed only to the client.

use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster};
use secrecy::SecretString;

use super::kubeconfig::Picked;

/// kubectl's flags of the same names.
#[derive(Debug, Clone, Default)]
pub struct ConnectionOverrides {
    /// `--server`.
    pub server: Option<String>,
    /// `--certificate-authority`.
    pub certificate_authority: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--client-certificate`.
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`.
    pub client_key: Option<PathBuf>,
    /// `--token`.
    pub token: Option<SecretString>,
}

impl ConnectionOverrides {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        let ConnectionOverrides {
            server,
            certificate_authority,
            insecure_skip_tls_verify,
            tls_server_name,
            client_certificate,
            client_key,
            token,
        } = self;
        let files = [certificate_authority, client_certificate, client_key];
        server.is_none()
            && !insecure_skip_tls_verify
            && tls_server_name.is_none()
            && files.iter().all(|file| file.is_none())
            && token.is_none()
    }

    /// The selection without a context in the kubeconfig: a server is enough.
    pub(super) fn without_kubeconfig(&self) -> Option<Picked> {
        self.server.as_ref().map(|_| Picked {
            context: "command line".to_owned(),
            cluster: Cluster::default(),
            user_name: None,
            user: AuthInfo::default(),
        })
    }

    /// Applies the overrides to the selection.
    pub(super) fn over(&self, picked: &mut Picked) {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let Picked { cluster, user, user_name, .. } = picked;
        if let Some(server) = &self.server {
            cluster.server = Some(server.clone());
            // The name belonged to the other server.
            cluster.tls_server_name = None;
        }
        if let Some(name) = &self.tls_server_name {
            cluster.tls_server_name = Some(name.clone());
        }
        if self.insecure_skip_tls_verify || self.certificate_authority.is_some() {
            cluster.insecure_skip_tls_verify = Some(self.insecure_skip_tls_verify);
            cluster.certificate_authority = self.certificate_authority.as_deref().map(path);
            cluster.certificate_authority_data = None;
        }
        if let Some(file) = &self.client_certificate {
            user.client_certificate = Some(path(file));
            user.client_certificate_data = None;
        }
        if let Some(file) = &self.client_key {
            user.client_key = Some(path(file));
            user.client_key_data = None;
        }
        if let Some(token) = &self.token {
            user.token = Some(token.clone());
            user.token_file = None;
            // The token takes precedence, so other credentials are not run or sent.
            (user.exec, user.auth_provider, user.username, user.password) = (None, None, None, None);
            *user_name = Some("of --token".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(cluster: &str, user: &str) -> Picked {
        Picked {
            context: "x".to_owned(),
            cluster: serde_yaml::from_str(cluster).expect("a cluster"),
            user_name: Some("u".to_owned()),
            user: serde_yaml::from_str(user).expect("a user"),
        }
    }

    #[test]
    fn override_replaces_only_related_settings() {
        let cluster = "{server: 'https://a', certificate-authority-data: eA==, tls-server-name: a.internal}";
        let mut of = picked(cluster, "{token: old, username: me}");
        ConnectionOverrides::default().over(&mut of);
        assert_eq!(of.cluster.tls_server_name.as_deref(), Some("a.internal"));
        assert_eq!((of.user.username.as_deref(), of.user_name.as_deref()), (Some("me"), Some("u")));
        let said = ConnectionOverrides { server: Some("https://b".to_owned()), ..ConnectionOverrides::default() };
        assert!(!said.is_empty() && ConnectionOverrides::default().is_empty());
        said.over(&mut of);
        assert_eq!((of.cluster.server.as_deref(), of.cluster.tls_server_name.as_deref()), (Some("https://b"), None));
        assert!(of.cluster.certificate_authority_data.is_some(), "kubectl also keeps it");
        ConnectionOverrides { insecure_skip_tls_verify: true, ..ConnectionOverrides::default() }.over(&mut of);
        assert_eq!(of.cluster.certificate_authority_data, None);
        ConnectionOverrides { certificate_authority: Some("/ca".into()), ..ConnectionOverrides::default() }
            .over(&mut of);
        assert_eq!(of.cluster.insecure_skip_tls_verify, Some(false));
    }

    #[test]
    fn token_overrides_plugin_and_is_hidden() {
        let mut of = picked("{}", "{exec: {command: touch}, username: me, password: p}");
        let said = ConnectionOverrides { token: Some("canary".to_owned().into()), ..ConnectionOverrides::default() };
        said.over(&mut of);
        assert!(of.user.exec.is_none() && of.user.password.is_none() && of.user.token.is_some());
        assert!(!format!("{said:?} {:?}", of.user).contains("canary"));
    }
}
