//! Documentation made from what the code runs on: cards, flags, exit statuses, needs. Pure functions that give texts; a
//! test compares them with the files that are checked in, and `UPDATE=1 cargo test` writes those. Nothing here prints
//! or touches a file.

mod cli;
mod pages;
pub mod parity;
mod rbac;

pub use cli::{cli, completion, exit_codes, exit_table};
pub use pages::{fill, index, page};
pub use rbac::{cluster_role, optional_roles};

use crate::item::{Item, Program, Scope};

/// The first line of generated files that take HTML comments.
const GENERATED: &str = "<!-- Generated from the code by `UPDATE=1 cargo test`; do not edit. -->\n";

/// Where a check's page can be read by people who have only its id.
pub fn page_url(check: &str) -> String {
    document_url(&format!("checks/{check}.md"))
}

/// Where a page of `docs/` can be read.
pub fn document_url(page: &str) -> String {
    format!("{}/blob/main/docs/{page}", env!("CARGO_PKG_REPOSITORY"))
}

/// An item for people, with the permission that it takes.
pub fn item_in_words(item: &Item) -> String {
    match item {
        Item::List(kind) => format!("every {kind} (list on {})", kind.resource()),
        Item::Named { kind, scope, name } => {
            let place = match scope {
                Scope::ControlPlane => " in the control plane's namespace".to_owned(),
                Scope::Cni => " in linkerd-cni's namespace".to_owned(),
                Scope::Extension(extension) => format!(" in the namespace of the extension {extension}"),
                Scope::Links => {
                    return format!(
                        "the {kind} that each Link names (get on {} by that name)",
                        kind.resource()
                    );
                }
                Scope::Fixed(namespace) => format!(" in {namespace}"),
                Scope::Cluster => String::new(),
            };
            format!("the {kind} {name}{place} (get on {} by that name)", kind.resource())
        }
        Item::Probe(probe) if probe.program == Program::LinkedCluster => {
            "the trust anchors of linked clusters, with --probe only (get on the Secrets that Links name)"
                .to_owned()
        }
        Item::Probe(probe) => {
            format!("what {} answers, with --probe only (create on pods/portforward)", probe.program.name())
        }
        Item::Access(access) => {
            let place = match &access.scope {
                Scope::ControlPlane => " in the control plane's namespace",
                Scope::Cni => " in linkerd-cni's namespace",
                Scope::Extension(_) | Scope::Links | Scope::Fixed(_) | Scope::Cluster => "",
            };
            format!(
                "whether you may {} {}{place} (an access review, which every user may ask for)",
                access.verb, access.resource
            )
        }
        Item::Served(server) => format!(
            "the certificates that linkerd-{server} really serves, asked for only with --probe (get and create on pods/portforward)"
        ),
        Item::ServerVersion => "the API server's version (get on /version)".to_owned(),
        Item::CliVersion => "the version of the operator's linkerd command (no permission)".to_owned(),
        Item::NodeFiles => "node evidence, given with --nodes or in a bundle (no permission)".to_owned(),
        Item::Logs => "log texts, given with --logs or in a bundle (no permission)".to_owned(),
    }
}
