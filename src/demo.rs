//! Embedded demo clusters: whole meshes with one failure each, before and after the remedy. A demo is a markdown file
//! with the blocks of a [`crate::scene`]: `## Before` describes the broken cluster, `## After` what the remedy changed.

use serde::Deserialize;

use crate::markdown::{Block, MarkdownError, Reader};
use crate::scene::{Scene, SceneError};
use crate::source::Origin;

/// An embedded demo.
pub struct Demo {
    /// Its name: the file's.
    pub name: &'static str,
    text: &'static str,
}

/// A row of the table: the name is that of the file.
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
        "multicluster" => {
            Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/multicluster.yaml")))
        }
        "nodes" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/nodes.yaml"))),
        "viz" => Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/viz.yaml"))),
        _ => None,
    }
}

/// Which state of a demo's cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As the user met it.
    Before,
    /// After the remedy.
    After,
}

/// A demo's file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// One line: what happened.
    pub title: String,
    /// The story as the user told it.
    pub story: String,
    before: Vec<Block>,
    after: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    title: String,
}

/// A demo that cannot be read; a test rules it out for the embedded ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DemoError {
    /// Not the grammar.
    #[error(transparent)]
    Grammar(#[from] MarkdownError),
    /// A block that makes no cluster.
    #[error("{name}.md: {error}")]
    Scene {
        /// The demo.
        name: String,
        /// What is wrong.
        error: SceneError,
    },
}

/// The demo of that name.
pub fn find(name: &str) -> Option<&'static Demo> {
    DEMOS.iter().find(|demo| demo.name == name)
}

impl Script {
    /// The blocks that describe a state: those of `Before`, and for [`State::After`] what is laid over them.
    pub fn blocks(&self, state: State) -> Vec<Block> {
        let after = match state {
            State::Before => &[][..],
            State::After => &self.after,
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
    pub fn scene(&self, state: State) -> Result<Scene, DemoError> {
        let blocks = self.script()?.blocks(state);
        let mut scene = Scene::of(&blocks, &|name| base(name).map(str::to_owned))
            .map_err(|error| DemoError::Scene { name: self.name.to_owned(), error })?;
        scene.memory.origin = Some(Origin { kind: "demo".to_owned(), name: self.name.to_owned() });
        Ok(scene)
    }
}
