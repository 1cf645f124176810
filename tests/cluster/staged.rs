//! The demos on a real server: their objects as a cluster, their node files as folders, their versions as flags.

use std::fs;

use meshdoctor::demo::{Demo, DemoState};
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use crate::doctor::{Doctor, Ran, text};
use crate::harness::kubeconfig::ADMIN;
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options};

/// The additional user, without any rights until some are granted.
pub const READER: &str = "reader";

/// A demo on a server, and the arguments that evaluate it like the demo itself.
pub struct Staged {
    pub cluster: Cluster,
    pub doctor: Doctor,
    words: Vec<String>,
}

impl Staged {
    /// Puts a demo on a server of its own.
    pub fn new(demo: &Demo, state: DemoState) -> Option<Staged> {
        let scene = demo.scene(state).unwrap();
        let version = scene.memory.server_version.as_ref().unwrap()["gitVersion"].as_str().unwrap();
        let cluster = Cluster::start(Options::still().presenting(version).user(READER))?;
        cluster.seed(&objects(&scene).completed());
        let doctor = Doctor::new(&cluster, ADMIN);
        let words = words(&scene, &doctor);
        Some(Staged { cluster, doctor, words })
    }

    /// Runs a live check as this user, with `more` arguments.
    pub fn check(&self, doctor: &Doctor, more: &[&str]) -> Ran {
        doctor.check(&[&self.words()[..], more].concat())
    }

    /// The arguments for the evidence that is not on the server, and for the evaluation time.
    pub fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

fn objects(scene: &Scene) -> ObjectSet {
    let held = scene.memory.objects.values().flatten().map(|held| {
        let mut object: Value = serde_json::from_slice(&held.json).unwrap();
        if !held.namespace.is_empty() {
            object["metadata"]["namespace"] = json!(held.namespace);
        }
        object
    });
    ObjectSet::new(held.collect())
}

fn words(scene: &Scene, doctor: &Doctor) -> Vec<String> {
    let memory = &scene.memory;
    let mut words = vec!["--live".to_owned(), "--at".to_owned(), memory.captured_at.unwrap().to_string()];
    words.extend(["--linkerd-cli".to_owned(), memory.cli_version.clone().unwrap_or_else(|| "none".to_owned())]);
    let flags = [
        ("--linkerd-namespace", &scene.options.control_plane_namespace),
        ("--cni-namespace", &scene.options.cni_namespace),
    ];
    for (flag, namespace) in flags {
        words.extend(namespace.iter().flat_map(|namespace| [flag.to_owned(), namespace.clone()]));
    }
    for namespace in &scene.settings.namespaces {
        words.extend(["--namespace".to_owned(), namespace.clone()]);
    }
    if !memory.nodes.is_empty() {
        let folder = doctor.file("nodes");
        for node in &memory.nodes {
            for (path, content) in &node.files {
                let file = folder.join(&node.node).join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, content).unwrap();
            }
        }
        words.extend(["--nodes".to_owned(), text(&folder).to_owned()]);
    }
    words
}
