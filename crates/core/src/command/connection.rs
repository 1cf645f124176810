//! Connection options of the run, in the syntax of each program, so that pasted commands use the same cluster. Defaults
//! are omitted.

use serde::{Deserialize, Serialize};

use super::arg::Arg;
use super::call::Program;

/// Options that select the cluster and the user. Bundles store them, so that later reports print the same commands.
/// Never a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// `--kubeconfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// `--context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// `--cluster`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// `--user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// `--as`.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub as_user: Option<String>,
    /// `--as-group`.
    #[serde(rename = "asGroups", skip_serializing_if = "Vec::is_empty")]
    pub as_groups: Vec<String>,
    /// `--server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether it used a token or certificate of the command line, which no command repeats.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other_credentials: bool,
}

impl Connection {
    /// The options for a program.
    pub(super) fn options(&self, program: Program) -> Vec<Arg> {
        let mut words: Vec<Arg> = Vec::new();
        let mut add = |option: &'static str, value: &str| words.extend([Arg::from(option), Arg::from(value)]);
        let helm = program == Program::Helm;
        if let Some(file) = &self.kubeconfig {
            add("--kubeconfig", file);
        }
        // linkerd and helm cannot override cluster or user of a context.
        let by_context_alone = matches!(program, Program::Linkerd | Program::Helm)
            && (self.cluster.is_some() || self.user.is_some() || self.server.is_some() || self.other_credentials);
        if let Some(context) = self.context.as_ref().filter(|_| !by_context_alone) {
            add(if helm { "--kube-context" } else { "--context" }, context);
        }
        if !by_context_alone {
            for (option, value) in [("--cluster", &self.cluster), ("--user", &self.user), ("--server", &self.server)] {
                if let Some(value) = value {
                    add(option, value);
                }
            }
        }
        if let Some(user) = &self.as_user {
            add(if helm { "--kube-as-user" } else { "--as" }, user);
        }
        for group in &self.as_groups {
            add(if helm { "--kube-as-group" } else { "--as-group" }, group);
        }
        if by_context_alone {
            words.push(Arg::from(if helm { "--kube-context" } else { "--context" }));
            words.push(Arg::placeholder("CONTEXT"));
        } else if self.other_credentials {
            words.push("--token".into());
            words.push(Arg::placeholder("TOKEN"));
        }
        words
    }
}
