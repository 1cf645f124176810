//! Applies the effects of kubectl commands to a set, so that a repair can be judged before it runs.

use serde_json::Value;

use super::{Change, ObjectKey, Set, key};
use crate::finding::Subject;
use crate::item::Kind;
use crate::kubectl::{Action, Target};
use crate::source::Source;

/// Kinds that `kubectl rollout restart` accepts.
const RESTARTABLE: [Kind; 3] = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet];

impl Set {
    /// Adds an object, in place of one with the same name.
    pub fn put(&mut self, kind: Kind, object: Value) {
        let key = key(&object, kind);
        self.removed.remove(&(kind, key.clone()));
        self.objects.entry(kind).or_default().insert(key, object);
    }

    fn remove(&mut self, kind: Kind, key: ObjectKey) {
        if let Some(objects) = self.objects.get_mut(&kind) {
            objects.remove(&key);
        }
        self.removed.insert((kind, key));
    }
}

impl<S: Source> Change<'_, S> {
    /// The set with the effect of a command added.
    ///
    /// # Errors
    /// The command would fail, or its objects are not in the evidence.
    pub async fn with_action(&self, action: &Action) -> Result<Set, String> {
        let mut set = self.set.clone();
        match action {
            Action::Observe => {}
            Action::Create(kind, object) => {
                let name = key(object, *kind);
                if self.objects(*kind).await.iter().any(|known| key(known, *kind) == name) {
                    return Err(format!("the {kind} {} already exists", name.1));
                }
                set.put(*kind, object.clone());
            }
            Action::Edit { target, edit } => {
                for (name, object) in self.targets(target, true).await? {
                    let after = edit.apply(&object).map_err(|why| format!("{}: {why}", shown(target, &name)))?;
                    let is_stopped = |workload: &Value| workload["spec"]["replicas"] == 0;
                    if is_stopped(&object) && !is_stopped(&after) {
                        return Err(format!(
                            "the new pods and endpoints of {} are not predicted",
                            shown(target, &name)
                        ));
                    }
                    set.exact.insert((target.kind, name));
                    set.put(target.kind, after);
                }
            }
            Action::Restart(target) => {
                if !RESTARTABLE.contains(&target.kind) {
                    return Err(format!("kubectl cannot restart a {}", target.kind));
                }
                for (name, object) in self.targets(target, true).await? {
                    if object["spec"]["paused"] == Value::Bool(true) {
                        return Err(format!("{} is paused", shown(target, &name)));
                    }
                    set.exact.insert((target.kind, name.clone()));
                    set.restarted.insert((target.kind, name));
                    set.put(target.kind, object);
                }
            }
            Action::Delete { target, must_exist } => {
                for (name, object) in self.targets(target, *must_exist).await? {
                    match target.kind {
                        Kind::Pod if self.knows_maker(&object).await => {
                            set.recreated.insert(name);
                        }
                        Kind::Pod => {
                            return Err(format!("the workload of {} is not in the evidence", shown(target, &name)));
                        }
                        kind => set.remove(kind, name),
                    }
                }
            }
        }
        Ok(set)
    }

    /// The objects of a target, by name.
    async fn targets(&self, target: &Target, must_exist: bool) -> Result<Vec<(ObjectKey, Value)>, String> {
        let all = self.objects(target.kind).await.into_iter().map(|object| (key(&object, target.kind), object));
        let mut found: Vec<(ObjectKey, Value)> = all.filter(|(name, _)| name.0 == target.namespace).collect();
        if !target.names.is_empty() {
            found.retain(|(name, _)| target.names.contains(&name.1));
        }
        let is_found = |name: &&String| found.iter().any(|(known, _)| known.1 == **name);
        if let Some(missing) = target.names.iter().find(|name| !is_found(name)).filter(|_| must_exist) {
            let name = (target.namespace.clone(), missing.clone());
            return Err(format!("{} is not in the evidence", shown(target, &name)));
        }
        Ok(found)
    }

    async fn objects(&self, kind: Kind) -> Vec<Value> {
        match kind {
            Kind::Pod => self.pods().await.0,
            kind => self.overlaid(kind).await.0,
        }
    }
}

fn shown(target: &Target, (namespace, name): &ObjectKey) -> Subject {
    Subject::object(target.kind, namespace, name)
}
