//! Keywords of `cni-plugin.yaml` for versions of the linkerd-cni plugin.

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
    /// The host's default `iptables`.
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

    /// Exact: the plugin accepts no other spelling.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "legacy" => Ok(IptablesMode::Legacy),
            "nft" => Ok(IptablesMode::Nft),
            "plain" => Ok(IptablesMode::Plain),
            _ => Err(()),
        }
    }
}

/// Kernel backend of an iptables binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// ip_tables.
    Legacy,
    /// nf_tables.
    NfTables,
}

impl Backend {
    /// Backend in the output of `iptables --version`.
    pub fn of_version(said: &str) -> Option<Backend> {
        let inside = said.rsplit_once('(')?.1.split(')').next()?;
        match inside {
            "legacy" => Some(Backend::Legacy),
            "nf_tables" => Some(Backend::NfTables),
            _ => None,
        }
    }
}

/// Behavior for IPv6 rules that cannot be written.
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

/// Whether the installer renews the token in its kubeconfig.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenRefresh {
    /// Never.
    #[default]
    None,
    /// Sometimes: it can miss a change.
    Unreliable,
    /// Yes.
    Works,
}

/// A format of the API server's address in the kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerForm {
    /// `https://[10.96.0.1]:443`
    BracketedIpv4,
    /// `https://fd00::1:443`
    BareIpv6,
}
