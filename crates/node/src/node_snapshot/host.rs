//! The host's small files: os-release, the kernel's release, modules and settings, and the security modules.
//! Kernel facts are read from the node's own `/proc` and `/sys` or, in a pod that has only a part of the
//! node's files, from the pod's, because the kernel is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::notes::Notes;
use super::root::{ReadFailure, Root};
use crate::knowledge::NodePlaces;
use crate::node::{Lsm, MAX_TEXT, modules};

/// `modules.builtin` or `/proc/modules`, bytes.
const MAX_MODULES: usize = 4 << 20;
/// One kernel setting, bytes.
const MAX_VALUE: usize = 4 << 10;

/// The roots from which kernel facts are read.
pub(super) struct Kernel<'a> {
    proc: Option<&'a Root>,
    sys: Option<&'a Root>,
}

impl<'a> Kernel<'a> {
    /// `own` is the root of this process, if it certainly runs on the same kernel as the node.
    pub(super) fn read(root: &'a Root, own: Option<&'a Root>) -> Kernel<'a> {
        let with = |probe: &str| [Some(root), own].into_iter().flatten().find(|root| root.has(probe));
        Kernel { proc: with("/proc/version"), sys: with("/sys/kernel") }
    }
}

/// `host/os-release`, unchanged.
pub(super) fn os_release(root: &Root, notes: &mut Notes) -> Option<Vec<u8>> {
    let mut why = ReadFailure::Absent;
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        match root.read(Path::new(path), MAX_TEXT) {
            Ok(content) => {
                notes.read(path);
                return Some(content.bytes);
            }
            Err(error) if matches!(why, ReadFailure::Absent) => why = error,
            Err(_) => {}
        }
    }
    notes.error(Path::new("/etc/os-release"), why);
    None
}

/// `host/uname`, as `uname -a` prints it.
pub(super) fn uname(kernel: &Kernel<'_>, node: &str, notes: &mut Notes) -> Option<String> {
    let Some(root) = kernel.proc else {
        notes.error(Path::new("/proc"), "not mounted in the root: kernel, modules and processes are not known");
        return None;
    };
    let release = value(root, "/proc/sys/kernel/osrelease", notes)?;
    let version = value(root, "/proc/sys/kernel/version", notes).unwrap_or_default();
    notes.read(format!("kernel {release}"));
    Some(format!("Linux {node} {release} {version} {}\n", std::env::consts::ARCH))
}

/// `host/modules.txt`: the relevant modules that are loaded or built in.
pub(super) fn modules_here(root: &Root, kernel: &Kernel<'_>, places: &NodePlaces, notes: &mut Notes) -> Option<String> {
    let proc = kernel.proc?;
    let release = value(proc, "/proc/sys/kernel/osrelease", notes)?;
    let mut lists = Vec::new();
    let loaded = Path::new("/proc/modules");
    match proc.read(loaded, MAX_MODULES) {
        Ok(content) => lists.push(("loaded", content.bytes)),
        // A kernel without modules has all of them built in.
        Err(ReadFailure::Absent) => {}
        Err(why) => notes.error(loaded, why),
    }
    let listed = !lists.is_empty();
    let builtin = format!("/lib/modules/{release}/modules.builtin");
    match root.read(Path::new(&builtin), MAX_MODULES) {
        Ok(content) => lists.push(("builtin", content.bytes)),
        Err(why) => {
            notes.error(Path::new(&builtin), format!("{why}; the built-in modules of the kernel are not known"));
            notes.truncated.insert("host/modules.txt".to_owned());
        }
    }
    if lists.is_empty() {
        return None;
    }
    if !listed {
        notes.truncated.insert("host/modules.txt".to_owned());
    }
    let wanted: BTreeSet<String> = places.modules.iter().map(|name| name.replace('-', "_")).collect();
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for (how, bytes) in lists {
        for name in modules(&String::from_utf8_lossy(&bytes)).intersection(&wanted) {
            if seen.insert(name.clone()) {
                text.push_str(&format!("{name} {how}\n"));
            }
        }
    }
    notes.read(format!("kernel modules: {} of {} relevant ones", seen.len(), wanted.len()));
    Some(text)
}

/// `host/sysctl.json`. Network settings belong to a network namespace, so they are read only if this process
/// is in the node's.
pub(super) fn sysctls(
    root: &Root,
    kernel: &Kernel<'_>,
    places: &NodePlaces,
    notes: &mut Notes,
) -> Option<BTreeMap<String, String>> {
    let proc = kernel.proc?;
    let network = root.is_own() || same_network(proc);
    let mut settings = BTreeMap::new();
    let mut left = false;
    for name in &places.sysctls {
        if name.starts_with("net.") && !network {
            left = true;
            continue;
        }
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        if proc.has(&path)
            && let Some(value) = value(proc, &path, notes)
        {
            settings.insert(name.clone(), value);
        }
    }
    if left {
        let why = "this process is not known to be in the node's network (hostNetwork), so its settings may \
                   differ";
        notes.error(Path::new("/proc/sys/net"), why);
    }
    notes.read(format!("{} kernel settings", settings.len()));
    Some(settings)
}

/// Whether this process is in the network namespace of the node's first process, by the names of the
/// interfaces, which every process may read.
fn same_network(proc: &Root) -> bool {
    let Ok(own) = Root::open(Path::new("/")) else { return false };
    let node = interfaces(proc, "/proc/1/net/dev");
    // Namespaces with only lo cannot be distinguished.
    node.len() > 1 && node == interfaces(&own, "/proc/self/net/dev")
}

fn interfaces(root: &Root, path: &str) -> BTreeSet<String> {
    let Ok(content) = root.read(Path::new(path), MAX_MODULES) else { return BTreeSet::new() };
    let text = String::from_utf8_lossy(&content.bytes).into_owned();
    text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

/// `host/lsm.json`.
pub(super) fn lsm(kernel: &Kernel<'_>, notes: &mut Notes) -> Option<Lsm> {
    let Some(root) = kernel.sys else {
        notes.error(Path::new("/sys"), "not mounted in the root: SELinux and AppArmor are not known");
        return None;
    };
    let selinux = match read_one(root, "/sys/fs/selinux/enforce") {
        Ok(value) if value == "1" => Some("enforcing"),
        Ok(_) => Some("permissive"),
        Err(ReadFailure::Absent) => Some("disabled"),
        Err(why) => {
            notes.error(Path::new("/sys/fs/selinux/enforce"), why);
            None
        }
    };
    let apparmor = match read_one(root, "/sys/module/apparmor/parameters/enabled") {
        Ok(value) if value.starts_with('Y') => Some("enabled"),
        Ok(_) | Err(ReadFailure::Absent) => Some("disabled"),
        Err(why) => {
            notes.error(Path::new("/sys/module/apparmor/parameters/enabled"), why);
            None
        }
    };
    notes.read("SELinux and AppArmor");
    Some(Lsm { selinux: selinux.map(str::to_owned), apparmor: apparmor.map(str::to_owned) })
}

fn read_one(root: &Root, path: &str) -> Result<String, ReadFailure> {
    let content = root.read(Path::new(path), MAX_VALUE)?;
    Ok(String::from_utf8_lossy(&content.bytes).trim().to_owned())
}

fn value(root: &Root, path: &str, notes: &mut Notes) -> Option<String> {
    match read_one(root, path) {
        Ok(value) if !value.is_empty() => Some(value.chars().filter(|c| !c.is_control()).collect()),
        Ok(_) => None,
        Err(why) => {
            notes.error(Path::new(path), why);
            None
        }
    }
}
