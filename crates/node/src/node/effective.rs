//! The file that the container runtime loads, by the rules of each runtime.
//!
//! containerd takes the first file by byte order and fails if it is bad. CRI-O skips files that it cannot
//! load or whose plugins it cannot find. Checked against go-cni and ocicni. Missing information is
//! reported: as an assumption if it does not change the result, otherwise as unknown.

use super::conflist::{Defect, DefectKind};
use super::facts::FileKind;
use super::files::MAX_CONF;
use super::lookup::Looked;
use super::runtime::RuntimeKind;
use super::snapshot::{ConfFile, Content, NodeSnapshot};

/// The runtime's choice.
#[derive(Debug, Clone, PartialEq)]
pub enum Effective<'a> {
    /// It loads this file.
    File(Loaded<'a>),
    /// It has to load this file but cannot: the node has no CNI configuration.
    Broken { file: &'a ConfFile, why: Defect },
    /// It has no file to load.
    None { why: String },
    /// The runtime is unknown, and the two families would load different files.
    Disagree { containerd: Box<Effective<'a>>, crio: Box<Effective<'a>> },
    /// The snapshot is not sufficient.
    Unknown { reason: String },
}

/// A loaded file and the assumptions behind the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<'a> {
    pub file: &'a ConfFile,
    /// Further files that containerd loads as separate networks (`max_conf_num` other than 1).
    pub others: Vec<&'a ConfFile>,
    /// Assumptions that the snapshot does not prove, each a clause.
    pub assuming: Vec<String>,
}

impl<'a> Effective<'a> {
    /// The loaded file; `None` for every other result.
    pub fn file(&self) -> Option<&'a ConfFile> {
        match self {
            Effective::File(loaded) => Some(loaded.file),
            Effective::Broken { .. }
            | Effective::None { .. }
            | Effective::Disagree { .. }
            | Effective::Unknown { .. } => None,
        }
    }
}

impl NodeSnapshot {
    /// The file that this runtime loads. For [`RuntimeKind::Unknown`], the snapshot's own information
    /// counts, else both rules.
    pub fn effective(&self, runtime: RuntimeKind) -> Effective<'_> {
        let runtime = if runtime == RuntimeKind::Unknown { self.runtime_hint() } else { runtime };
        let files = match self.candidates() {
            Ok(files) => files,
            Err(answer) => return answer,
        };
        match runtime {
            RuntimeKind::Containerd => self.by_containerd(&files),
            RuntimeKind::Crio | RuntimeKind::Dockershim => self.by_crio(&files),
            RuntimeKind::Unknown => {
                let (containerd, crio) = (self.by_containerd(&files), self.by_crio(&files));
                match (&containerd, &crio) {
                    (Effective::File(one), Effective::File(other)) if one.file == other.file => {
                        let mut loaded = one.clone();
                        loaded.assuming.extend(other.assuming.iter().cloned());
                        loaded.assuming.sort();
                        loaded.assuming.dedup();
                        Effective::File(loaded)
                    }
                    (one, other) if one == other => containerd,
                    _ => Effective::Disagree { containerd: Box::new(containerd), crio: Box::new(crio) },
                }
            }
        }
    }

    /// The files of the runtime's directory in byte order, if all are known.
    fn candidates(&self) -> Result<Vec<&ConfFile>, Effective<'_>> {
        let dir = self.conf_dir();
        match self.lists_loadable(dir) {
            None => {
                let reason = format!("the list of files in {dir} is incomplete");
                return Err(Effective::Unknown { reason });
            }
            Some(false) => return Err(Effective::None { why: format!("{dir} does not exist") }),
            Some(true) => {}
        }
        let files = self.loadable_files();
        if files.is_empty() {
            let why = format!("{dir} contains no file with the extension .conf, .conflist or .json");
            return Err(Effective::None { why });
        }
        Ok(files)
    }

    /// The first `max_conf_num` files; one bad file makes all of them fail.
    fn by_containerd<'a>(&'a self, files: &[&'a ConfFile]) -> Effective<'a> {
        let count = match self.max_conf_num().unwrap_or(1) {
            0 => files.len(),
            some => usize::try_from(some).unwrap_or(usize::MAX).min(files.len()),
        };
        let mut assuming = Vec::new();
        for file in &files[..count] {
            match judge(file) {
                FileVerdict::Good => {}
                FileVerdict::Bad(why) => return Effective::Broken { file, why },
                FileVerdict::Open(why) => assuming.push(format!("{} can be loaded ({why})", file.path())),
            }
        }
        Effective::File(Loaded { file: files[0], others: files[1..count].to_vec(), assuming })
    }

    /// The first loadable file, or the one whose network `cni_default_network` names.
    fn by_crio<'a>(&'a self, files: &[&'a ConfFile]) -> Effective<'a> {
        let wanted = self.dirs.as_ref().and_then(|dirs| dirs.cni_default_network.as_deref());
        let wanted = wanted.filter(|name| !name.is_empty());
        let mut assuming = Vec::new();
        let mut skipped = Vec::new();
        for file in files {
            match judge_for_crio(file) {
                FileVerdict::Good => {}
                FileVerdict::Bad(why) => {
                    skipped.push(format!("{}: {}", file.name, why.message));
                    continue;
                }
                FileVerdict::Open(why) => {
                    let reason =
                        format!("CRI-O skips files that it cannot load, which is unknown for {}: {why}", file.path());
                    return Effective::Unknown { reason };
                }
            }
            let (lacking, unsure) = self.lacking_plugins(file);
            if let Some(plugin) = lacking {
                skipped.push(format!("{}: {plugin}", file.name));
                continue;
            }
            let name = file.config().and_then(|config| config.name.clone()).filter(|name| !name.is_empty());
            // CRI-O names a network without a name after its file.
            if wanted.is_some_and(|wanted| wanted != name.as_deref().unwrap_or(&file.name)) {
                continue;
            }
            assuming.extend(unsure);
            return Effective::File(Loaded { file, others: Vec::new(), assuming });
        }
        let why = match (wanted, skipped.is_empty()) {
            (Some(wanted), _) => {
                format!("no loadable file contains the network {wanted:?} of cni_default_network")
            }
            (None, _) => format!("CRI-O skips every file ({})", skipped.join("; ")),
        };
        Effective::None { why }
    }

    /// The first plugin that CRI-O would not find or accept, and the unknowns about the others.
    fn lacking_plugins(&self, file: &ConfFile) -> (Option<String>, Vec<String>) {
        let mut unsure = Vec::new();
        let mut types: Vec<&str> = file
            .plugins()
            .iter()
            .filter(|plugin| plugin.depth == 0)
            .filter_map(|plugin| plugin.plugin_type.as_deref())
            .collect();
        types.sort_unstable();
        types.dedup();
        for plugin in types {
            match self.plugin_binary(plugin) {
                Looked::Found(_) => {}
                Looked::Absent => return (Some(format!("failed to find plugin {plugin:?}")), unsure),
                Looked::NotLookedFor(why) => unsure.push(format!("the plugin {plugin} is installed ({why})")),
            }
        }
        let declared = file.config().and_then(|config| config.versions.declared.as_deref());
        let linkerd = file.plugins().iter().any(|plugin| plugin.depth == 0 && plugin.is_linkerd());
        if let (Some(declared), true, Some(answer)) = (declared, linkerd, self.linkerd_cni_version())
            && !answer.supported_versions.is_empty()
            && !answer.supported_versions.iter().any(|version| version == declared)
            && file.config().is_some_and(|config| config.versions.list.is_empty())
        {
            return (Some(format!("plugin \"linkerd-cni\" does not support config version {declared:?}")), unsure);
        }
        (None, unsure)
    }
}

enum FileVerdict {
    Good,
    Bad(Defect),
    /// Unknown, and why.
    Open(String),
}

/// Whether a runtime's library would load this file.
fn judge(file: &ConfFile) -> FileVerdict {
    if let Some(size) = file.index.as_ref().and_then(|row| row.size)
        && size > MAX_CONF as u64
    {
        return FileVerdict::Bad(Defect {
            kind: DefectKind::TooLarge,
            message: format!("{size} bytes; recent containerd rejects files over {MAX_CONF}"),
            place: None,
            json_path: None,
        });
    }
    match &file.content {
        Content::Captured { defect: None, .. } => FileVerdict::Good,
        Content::Captured { defect: Some(defect), .. } if defect.kind.is_certain() => FileVerdict::Bad(defect.clone()),
        Content::Captured { defect: Some(defect), .. } => FileVerdict::Open(defect.message.clone()),
        Content::NotCaptured(why) => FileVerdict::Open(why.clone()),
    }
}

/// As [`judge`], but without a size limit, as CRI-O.
fn judge_for_crio(file: &ConfFile) -> FileVerdict {
    match judge(file) {
        FileVerdict::Bad(defect) if defect.kind == DefectKind::TooLarge => {
            FileVerdict::Open("too large to be captured".to_owned())
        }
        FileVerdict::Open(why) if file.index.as_ref().is_some_and(|row| row.kind == FileKind::Symlink) => {
            FileVerdict::Open(format!("a link; {why}"))
        }
        judged => judged,
    }
}
