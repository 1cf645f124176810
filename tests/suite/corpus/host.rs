//! The hosts of the corpus: the operating systems in `hosts.yaml`, written as files of a snapshot.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

/// An operating system with its kernel and its tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    os: BTreeMap<String, String>,
    /// `uname -r`.
    pub kernel: String,
    nsenter: Option<String>,
    iptables: Option<Iptables>,
    /// Kernel modules that iptables needs and that are loaded or built in.
    modules: Vec<String>,
    #[serde(default)]
    sysctl: BTreeMap<String, Value>,
}

/// The iptables of a host: the backend of the plain name, and whether suffixed names exist.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Iptables {
    version: String,
    dir: String,
    plain: Option<String>,
    nft: bool,
    legacy: bool,
}

static HOSTS: LazyLock<BTreeMap<String, Host>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(format!("{}/hosts.yaml", super::folder())).unwrap();
    serde_yaml::from_str(&text).unwrap()
});

/// The host of that name.
pub fn host(name: &str) -> &'static Host {
    HOSTS.get(name).unwrap_or_else(|| panic!("hosts.yaml has no {name:?}"))
}

impl Host {
    /// The node's `osImage`.
    pub fn title(&self) -> &str {
        &self.os["PRETTY_NAME"]
    }

    /// The files of a snapshot that describe the host, by path.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let release: String = self.os.iter().map(|(key, value)| format!("{key}=\"{value}\"\n")).collect();
        let mut sysctl = json!({
            "fs.inotify.max_user_instances": 8192,
            "net.ipv6.conf.all.disable_ipv6": 0,
        });
        for (key, value) in &self.sysctl {
            sysctl[key] = value.clone();
        }
        vec![
            ("host/os-release", release),
            ("host/uname", format!("Linux {} #1 SMP x86_64\n", self.kernel)),
            ("host/modules.txt", self.modules.iter().map(|name| format!("{name}\n")).collect()),
            ("host/sysctl.json", sysctl.to_string()),
            ("host/binaries.json", self.binaries().to_string()),
        ]
    }

    fn binaries(&self) -> Value {
        let mut rows = vec![json!({"name": "nsenter", "path": self.nsenter, "executable": true})];
        for (suffix, mode) in [("", "plain"), ("-nft", "nft"), ("-legacy", "legacy")] {
            for family in ["iptables", "ip6tables"] {
                for save in ["", "-save"] {
                    rows.push(self.binary(&format!("{family}{suffix}{save}"), mode, family, save));
                }
            }
        }
        json!({
            "runtimePath": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "pathSource": "environ",
            "binaries": rows,
        })
    }

    fn binary(&self, name: &str, mode: &str, family: &str, save: &str) -> Value {
        let backend = self.iptables.as_ref().and_then(|iptables| match mode {
            "nft" => iptables.nft.then_some("nf_tables"),
            "legacy" => iptables.legacy.then_some("legacy"),
            _ => iptables.plain.as_deref(),
        });
        let (Some(backend), Some(iptables)) = (backend, &self.iptables) else {
            return json!({"name": name, "path": null});
        };
        let tool = if backend == "legacy" { "xtables-legacy-multi" } else { "xtables-nft-multi" };
        json!({
            "name": name,
            "path": format!("{}/{name}", iptables.dir),
            "links": [format!("{}/{tool}", iptables.dir)],
            "version": save.is_empty().then(|| format!("{family} v{} ({backend})", iptables.version)),
            "executable": true,
        })
    }
}
