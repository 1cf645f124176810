//! Embedded demo clusters: complete meshes with one failure each, before and after the fix. A demo is a Markdown file
//! with the blocks of a [`crate::scene`]: `## Before` describes the broken cluster, `## After` the changes of the fix.

use serde::Deserialize;

use crate::markdown::{Block, MarkdownError, Reader};
use crate::scene::{Scene, SceneError};
use crate::source::Origin;

/// An embedded demo.
pub struct Demo {
    /// Its name: the file name.
    pub name: &'static str,
    text: &'static str,
}

/// A table row: the name is the file name.
macro_rules! demo {
    ($name:literal) => {
        Demo { name: $name, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/demos/", $name, ".md")) }
    };
}

/// Every demo, in alphabetical order.
pub static DEMOS: &[Demo] = &[
    demo!("cni-exit-127"),
    demo!("cni-unauthorized"),
    demo!("debug-image-ignored"),
    demo!("injector-fails-open"),
    demo!("native-sidecar-typo"),
];

/// The text of an embedded base cluster.
pub fn base(name: &str) -> Option<&'static str> {
    match name {
        "cni" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/cni.yaml"))),
        "healthy" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml"))),
        "jaeger" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/jaeger.yaml"))),
        "multicluster" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/multicluster.yaml"))),
        "nodes" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/nodes.yaml"))),
        "viz" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/viz.yaml"))),
        _ => None,
    }
}

/// State of a demo's cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoState {
    /// Before the fix.
    Before,
    /// After the fix.
    After,
}

/// A parsed demo file.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// One line: the failure.
    pub title: String,
    /// The description of the failure.
    pub story: String,
    before: Vec<Block>,
    after: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    title: String,
}

/// A demo that cannot be parsed; a test rules it out for embedded ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DemoError {
    /// A syntax error.
    #[error(transparent)]
    Grammar(#[from] MarkdownError),
    /// A block that does not define a valid cluster.
    #[error("{name}.md: {error}")]
    Scene {
        /// The demo.
        name: String,
        error: SceneError,
    },
}

/// The demo of that name.
pub fn find(name: &str) -> Option<&'static Demo> {
    DEMOS.iter().find(|demo| demo.name == name)
}

impl Script {
    /// The blocks of a state: those of `Before`, and for [`DemoState::After`] those applied on top.
    pub fn blocks(&self, state: DemoState) -> Vec<Block> {
        let after = match state {
            DemoState::Before => &[][..],
            DemoState::After => &self.after,
        };
        self.before.iter().chain(after).cloned().collect()
    }
}

impl Demo {
    /// Reads its file.
    ///
    /// # Errors
    /// See [`DemoError`].
    pub fn script(&self) -> Result<Script, DemoError> {
        let (front, mut reader) = Reader::open::<Front>(self.name, self.text.lines())?;
        let story = reader.prose();
        reader.heading("## Before")?;
        let before = reader.body()?.blocks;
        reader.heading("## After")?;
        let after = reader.body()?.blocks;
        Ok(Script { title: front.title, story, before, after })
    }

    /// Its cluster.
    ///
    /// # Errors
    /// See [`DemoError`].
    pub fn scene(&self, state: DemoState) -> Result<Scene, DemoError> {
        let blocks = self.script()?.blocks(state);
        let mut scene = Scene::parse(&blocks, &|name| base(name).map(str::to_owned))
            .map_err(|error| DemoError::Scene { name: self.name.to_owned(), error })?;
        scene.memory.origin = Some(Origin { kind: "demo".to_owned(), name: self.name.to_owned() });
        Ok(scene)
    }
}
