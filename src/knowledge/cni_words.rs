//! The words in which `cni-plugin.yaml` describes a version of the linkerd-cni plugin.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A value of `iptables-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IptablesMode {
    /// `iptables-legacy`
    Legacy,
    /// `iptables-nft`
    Nft,
    /// Whatever `iptables` is on the host.
    Plain,
}

impl fmt::Display for IptablesMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IptablesMode::Legacy => "legacy",
            IptablesMode::Nft => "nft",
            IptablesMode::Plain => "plain",
        })
    }
}

impl FromStr for IptablesMode {
    type Err = ();

    /// Exact: the plugin knows no other spelling.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "legacy" => Ok(IptablesMode::Legacy),
            "nft" => Ok(IptablesMode::Nft),
            "plain" => Ok(IptablesMode::Plain),
            _ => Err(()),
        }
    }
}

/// What an iptables binary writes its rules with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// ip_tables.
    Legacy,
    /// nf_tables.
    NfTables,
}

impl Backend {
    /// What `iptables --version` says in its parenthesis.
    pub fn of_version(said: &str) -> Option<Backend> {
        let inside = said.rsplit_once('(')?.1.split(')').next()?;
        match inside {
            "legacy" => Some(Backend::Legacy),
            "nf_tables" => Some(Backend::NfTables),
            _ => None,
        }
    }
}

/// What becomes of IPv6 rules that cannot be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ipv6 {
    /// The plugin writes none.
    #[default]
    None,
    /// The pod starts without them.
    FailuresIgnored,
    /// The pod does not start.
    Required,
}

/// Whether the installer keeps the token in its kubeconfig fresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenRefresh {
    /// Never.
    #[default]
    None,
    /// It tries, and can miss a change.
    Unreliable,
    /// It does.
    Works,
}

/// A form of the API server's address in the kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerForm {
    /// `https://[10.96.0.1]:443`
    BracketedIpv4,
    /// `https://fd00::1:443`
    BareIpv6,
}
