//! One CNI configuration file: whether the runtime's library loads it, and its plugins.
//!
//! The verdict follows libcni: which files are accepted, and the error texts. The plugins are listed even
//! if the file is rejected (a list without a name still shows its entries), including multus delegates,
//! each with its JSON path and position.

use super::entry::LinkerdEntry;
use super::json::{Json, Located, Position, Span};
use super::reader;

/// Maximum depth of delegates.
const MAX_DELEGATION: usize = 8;
/// Maximum number of plugins in one file, including delegates.
const MAX_PLUGINS: usize = 512;
/// The plugin type of Linkerd's entry, by which runtimes find the plugin.
pub(super) const LINKERD_CNI: &str = "linkerd-cni";
const MULTUS: &str = "multus";

/// Why a file cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    pub kind: DefectKind,
    /// The error text of the runtime's library, if it has one.
    pub message: String,
    pub place: Option<Position>,
    /// The affected part of the file.
    pub json_path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefectKind {
    /// No content, as during a non-atomic rewrite.
    Empty,
    /// Starts with a UTF-8 byte-order mark.
    ByteOrderMark,
    /// Two-byte characters.
    Utf16,
    /// Not JSON.
    Syntax,
    /// JSON, but a value has the wrong type.
    WrongShape,
    /// A list without `name`.
    NoName,
    /// `plugins` is empty.
    NoPlugins,
    /// No `plugins` at all.
    NoPluginsKey,
    /// A plugin without `type`.
    MissingType,
    /// Beyond 2 MiB: recent containerd rejects it, older versions and CRI-O do not.
    TooLarge,
    /// Beyond the limits of this program: whether the runtime loads it is unknown.
    TooComplex,
    /// A dangling link, or another object that cannot be read as a file.
    Unreadable,
}

impl DefectKind {
    /// Whether the runtime certainly rejects it, as opposed to unknown or dependent on the runtime's
    /// version.
    pub fn is_certain(self) -> bool {
        match self {
            DefectKind::Empty
            | DefectKind::ByteOrderMark
            | DefectKind::Utf16
            | DefectKind::Syntax
            | DefectKind::WrongShape
            | DefectKind::NoName
            | DefectKind::NoPlugins
            | DefectKind::NoPluginsKey
            | DefectKind::MissingType
            | DefectKind::Unreadable => true,
            DefectKind::TooLarge | DefectKind::TooComplex => false,
        }
    }
}

/// The format of the file, from its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigKind {
    /// `.conflist`: a list of plugins.
    List,
    /// `.conf`, `.json`: one plugin.
    Single,
}

/// `cniVersion` and `cniVersions` of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CniVersions {
    /// `cniVersion`; absent means 0.1.0.
    pub declared: Option<String>,
    /// `cniVersions`, supported by CNI library 1.2 and newer.
    pub list: Vec<String>,
    pub place: Option<Position>,
}

/// The readable contents of a configuration file.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub kind: ConfigKind,
    /// Name of the network.
    pub name: Option<String>,
    pub versions: CniVersions,
    /// Every plugin at any depth, in the order of the file.
    pub plugins: Vec<Plugin>,
    /// The plugins of type `linkerd-cni` among them.
    pub linkerd_entries: Vec<LinkerdEntry>,
    /// All keys of all objects are in alphabetical order: the mark of the installer written in Go.
    pub keys_sorted: bool,
    /// The file is one single line.
    pub minified: bool,
}

/// One plugin of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// `plugins[1]`, `delegates[0].plugins[3]`; `.` for the object of a single-plugin file.
    pub json_path: String,
    /// `type`, as written.
    pub plugin_type: Option<String>,
    /// `name`, which runtimes overwrite.
    pub name: Option<String>,
    /// The whole object.
    pub span: Span,
    pub type_place: Option<Position>,
    /// 0 at the top; one more for each multus above it.
    pub depth: usize,
    /// Position among its siblings, 0-based.
    pub index: usize,
    /// The number of plugins in its list, including itself.
    pub siblings: usize,
    /// For multus: the network that it gets from elsewhere.
    pub cluster_network: Option<String>,
    /// For multus: the directory in which it looks up that network.
    pub conf_dir: Option<String>,
}

impl Plugin {
    /// Whether it is Linkerd's.
    pub fn is_linkerd(&self) -> bool {
        self.plugin_type.as_deref() == Some(LINKERD_CNI)
    }

    /// Whether it is multus, which runs other plugins.
    pub fn is_multus(&self) -> bool {
        self.plugin_type.as_deref() == Some(MULTUS)
    }
}

/// The result of reading a file: its contents, and the reason why a runtime would reject it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadConflist {
    pub config: Option<Config>,
    pub defect: Option<Defect>,
}

/// Reads a (redacted) configuration file. `kind` is `None` for files that no runtime loads; it is then
/// guessed.
pub(super) fn read(bytes: &[u8], kind: Option<ConfigKind>) -> ReadConflist {
    let tree = match reader::read(bytes) {
        Ok(tree) => tree,
        Err(defect) => return ReadConflist { config: None, defect: Some(defect) },
    };
    let kind = kind.unwrap_or(if tree.get_exact("plugins").is_some() { ConfigKind::List } else { ConfigKind::Single });
    let mut walk = ConflistWalk { plugins: Vec::new(), entries: Vec::new() };
    match kind {
        ConfigKind::List => walk.list(tree.get_exact("plugins"), "plugins", 0),
        ConfigKind::Single => walk.plugin(&tree, ".".to_owned(), 0, 0, 1),
    }
    let too_many = walk.plugins.len() >= MAX_PLUGINS;
    let verdict = match kind {
        ConfigKind::List => list_defect(&tree),
        ConfigKind::Single => plugin_defect(&tree, ".", ""),
    };
    let defect = verdict.or_else(|| {
        too_many.then(|| Defect {
            kind: DefectKind::TooComplex,
            message: format!("more than {MAX_PLUGINS} plugins"),
            place: Some(tree.span.start),
            json_path: None,
        })
    });
    let config = Config {
        kind,
        name: tree.get_exact("name").and_then(Located::as_str).map(str::to_owned),
        versions: versions(&tree),
        plugins: walk.plugins,
        linkerd_entries: walk.entries,
        keys_sorted: keys_sorted(&tree),
        minified: tree.span.start.line == tree.span.end.line,
    };
    ReadConflist { config: Some(config), defect }
}

fn versions(tree: &Located) -> CniVersions {
    let list = tree.get_exact("cniVersions").and_then(Located::as_array).unwrap_or_default();
    let declared = tree.get_exact("cniVersion");
    CniVersions {
        declared: declared.and_then(Located::as_str).map(str::to_owned),
        list: list.iter().filter_map(Located::as_str).map(str::to_owned).collect(),
        place: declared.map(|version| version.span.start),
    }
}

fn keys_sorted(tree: &Located) -> bool {
    match &tree.value {
        Json::Object(members) => {
            members.is_sorted_by(|one, next| one.key <= next.key)
                && members.iter().all(|member| keys_sorted(&member.value))
        }
        Json::Array(items) => items.iter().all(keys_sorted),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
    }
}

fn shape(message: impl Into<String>, at: &Located, json_path: &str) -> Option<Defect> {
    defect(DefectKind::WrongShape, message, at, json_path)
}

fn defect(kind: DefectKind, message: impl Into<String>, at: &Located, json_path: &str) -> Option<Defect> {
    let json_path = (!json_path.is_empty()).then(|| json_path.to_owned());
    Some(Defect { kind, message: message.into(), place: Some(at.span.start), json_path })
}

/// libcni's rules for a list, in its order.
fn list_defect(tree: &Located) -> Option<Defect> {
    if !matches!(tree.value, Json::Object(_) | Json::Null) {
        let message = format!("cannot unmarshal {} into Go value of type map[string]interface {{}}", tree.kind());
        return shape(message, tree, "");
    }
    let Some(name) = tree.get_exact("name") else {
        return defect(DefectKind::NoName, "no name", tree, "");
    };
    if name.as_str().is_none() {
        return shape(format!("invalid name type: {}", name.kind()), name, "name");
    }
    if let Some(version) = tree.get_exact("cniVersion")
        && version.as_str().is_none()
    {
        return shape(format!("invalid cniVersion type: {}", version.kind()), version, "cniVersion");
    }
    for key in ["disableCheck", "disableGC"] {
        if let Some(flag) = tree.get_exact(key)
            && !is_flag(flag)
        {
            return shape(format!("invalid value for {key}: {}", flag.kind()), flag, key);
        }
    }
    let Some(plugins) = tree.get_exact("plugins") else {
        return defect(DefectKind::NoPluginsKey, "no 'plugins' key (newer: no plugin configs found)", tree, "");
    };
    let Some(items) = plugins.as_array() else {
        return shape(format!("invalid 'plugins' type: {}", plugins.kind()), plugins, "plugins");
    };
    if items.is_empty() {
        return defect(DefectKind::NoPlugins, "no plugins in list", plugins, "plugins");
    }
    let mut items = items.iter().enumerate();
    items.find_map(|(index, item)| {
        plugin_defect(item, &format!("plugins[{index}]"), &format!("failed to parse plugin config {index}: "))
    })
}

fn is_flag(value: &Located) -> bool {
    match &value.value {
        Json::Bool(_) => true,
        Json::String(text) => text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"),
        Json::Null | Json::Number(_) | Json::Array(_) | Json::Object(_) => false,
    }
}

/// libcni's rules for one plugin. Below it, Go matches field names in any case and ignores `null`.
fn plugin_defect(plugin: &Located, json_path: &str, before: &str) -> Option<Defect> {
    let missing = || defect(DefectKind::MissingType, format!("{before}missing 'type'"), plugin, json_path);
    let field = |key: &str| plugin.get(key).filter(|value| value.value != Json::Null);
    match plugin.value {
        Json::Object(_) => {}
        Json::Null => return missing(),
        _ => {
            let message = format!("{before}cannot unmarshal {} into Go value of type types.PluginConf", plugin.kind());
            return shape(message, plugin, json_path);
        }
    }
    for key in ["cniVersion", "name", "type"] {
        if let Some(value) = field(key)
            && value.as_str().is_none()
        {
            let message = format!("{before}cannot unmarshal {} into {key} of type string", value.kind());
            return shape(message, value, &join(json_path, key));
        }
    }
    for key in ["ipam", "dns", "capabilities"] {
        if let Some(value) = field(key)
            && !matches!(value.value, Json::Object(_))
        {
            return shape(
                format!("{before}cannot unmarshal {} into {key}", value.kind()),
                value,
                &join(json_path, key),
            );
        }
    }
    match field("type").and_then(Located::as_str) {
        None | Some("") => missing(),
        Some(_) => None,
    }
}

/// The path of a field; `.` is the document itself.
pub(super) fn join(path: &str, field: &str) -> String {
    if path == "." { field.to_owned() } else { format!("{path}.{field}") }
}

struct ConflistWalk {
    plugins: Vec<Plugin>,
    entries: Vec<LinkerdEntry>,
}

impl ConflistWalk {
    fn list(&mut self, list: Option<&Located>, path: &str, depth: usize) {
        let items = list.and_then(Located::as_array).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            self.plugin(item, format!("{path}[{index}]"), depth, index, items.len());
        }
    }

    fn plugin(&mut self, object: &Located, json_path: String, depth: usize, index: usize, siblings: usize) {
        if self.plugins.len() >= MAX_PLUGINS {
            return;
        }
        let text = |key: &str| object.get(key).and_then(Located::as_str).map(str::to_owned);
        let plugin = Plugin {
            plugin_type: text("type"),
            name: text("name"),
            span: object.span,
            type_place: object.get("type").map(|value| value.span.start),
            depth,
            index,
            siblings,
            cluster_network: text("clusterNetwork"),
            conf_dir: text("confDir"),
            json_path,
        };
        let delegates = plugin.is_multus().then(|| object.get("delegates").and_then(Located::as_array)).flatten();
        let path = plugin.json_path.clone();
        if plugin.is_linkerd() {
            self.entries.push(LinkerdEntry::read(object, &plugin));
        }
        self.plugins.push(plugin);
        if depth >= MAX_DELEGATION {
            return;
        }
        let delegates = delegates.unwrap_or_default();
        for (index, delegate) in delegates.iter().enumerate() {
            let path = join(&path, &format!("delegates[{index}]"));
            match delegate.get("plugins") {
                Some(list) => self.list(Some(list), &join(&path, "plugins"), depth + 1),
                None => self.plugin(delegate, path, depth + 1, index, delegates.len()),
            }
        }
    }
}
