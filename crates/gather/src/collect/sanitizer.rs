//! Redacts and files every object of a response. Kept or saved objects are redacted completely; others are redacted
//! while they are decoded into the slim type, by the same rules.

use serde::Deserialize;

use super::{Observer, Saver};
use crate::fetched::Why;
use crate::item::{Item, Kind};
use crate::model::log::{Log, LogObject};
use crate::model::node;
use crate::node_files::NodeFiles;
use crate::objects::Store;
use crate::protobuf::Message;
use crate::redact::{self, Passed, Rule, Sanitized};
use crate::request::Request;
use crate::source::ObjectSink;
use crate::source::kept::{self, Limit, ObjectCount};

/// The result of one request.
pub(super) struct Border<'a> {
    request: &'a Request,
    /// Kind of its objects, and the rules for their fields.
    kind: &'static str,
    rule: &'static Rule,
    /// Version and kind for objects without them.
    alone: Option<(String, &'static str)>,
    pub(super) store: Option<Box<dyn Store>>,
    saver: Option<&'a dyn Saver>,
    observer: &'a dyn Observer,
    pub(super) touched: usize,
    pub(super) malformed: Vec<Why>,
    pub(super) raw: Vec<serde_json::Value>,
    pub(super) nodes: Vec<NodeFiles>,
    pub(super) arrived: usize,
    /// Whether objects come directly from a cluster.
    live: bool,
    /// The redacted objects, if they are kept completely.
    pub(super) whole: Option<Vec<serde_json::Value>>,
    /// The objects of the run.
    kept: &'a ObjectCount,
    /// Objects of this request in it: number, and bytes beyond the usual.
    counted: (usize, usize),
    /// The limit that ended the list.
    pub(super) limit: Option<Limit>,
}

/// Name of an unreadable object, as far as known.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Name {
    metadata: ObjectNames,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectNames {
    namespace: Option<String>,
    name: Option<String>,
}

impl<'a> Border<'a> {
    /// An empty result. `live`: objects come directly from a cluster; `whole`: they are kept completely.
    pub(super) fn new(
        request: &'a Request,
        saver: Option<&'a dyn Saver>,
        observer: &'a dyn Observer,
        (live, whole): (bool, bool),
        kept: &'a ObjectCount,
    ) -> Border<'a> {
        Border {
            request,
            kind: request.item.answers(),
            rule: request.item.rule(),
            alone: request.item.kind().map(|kind| (kind.api_version(), kind.info().kind)),
            store: store_of(&request.item),
            saver,
            observer,
            touched: 0,
            malformed: Vec::new(),
            raw: Vec::new(),
            nodes: Vec::new(),
            arrived: 0,
            live,
            whole: whole.then(Vec::new),
            kept,
            counted: (0, 0),
            limit: None,
        }
    }
}

impl Border<'_> {
    fn malformed(&mut self, named: Name, error: &dyn std::fmt::Display) {
        let names = named.metadata;
        let name = match (names.namespace, names.name) {
            (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
            (None, Some(name)) => name,
            (_, None) => format!("object {}", self.arrived),
        };
        let message = format!("{}: {}", redact::object_name(&name), redact::error(error));
        self.malformed.push(Why::Malformed { message });
    }

    /// Parses, redacts and saves; returns the redacted object.
    fn redacted(&mut self, json: &[u8]) -> Result<Sanitized, serde_json::Error> {
        let Passed { object, touched } = match self.request.item {
            Item::Logs => self.log(json)?,
            _ => self.passed(json)?,
        };
        if touched {
            self.touched += 1;
        }
        if let Some(saver) = self.saver {
            saver.object(self.request, &object);
        }
        Ok(object)
    }

    fn passed(&self, json: &[u8]) -> Result<Passed, serde_json::Error> {
        Sanitized::read(self.kind, self.rule, json, self.type_of_single_object(), self.live)
    }

    /// API servers omit both in list items, but saved objects need them.
    fn type_of_single_object(&self) -> Option<(&str, &str)> {
        self.alone.as_ref().map(|(version, kind)| (version.as_str(), *kind))
    }

    /// Redacts, files and saves the object at the start of `text`; returns its length. A declined object comes again as
    /// a whole, and is then saved and counted.
    fn begun_whole(&mut self, text: &str) -> Option<usize> {
        if self.request.item == Item::Logs {
            return None;
        }
        let (Passed { object, touched }, length) =
            Sanitized::read_first(self.kind, self.rule, text, self.type_of_single_object())?;
        let value = match &self.whole {
            Some(_) => Some(object.value().ok()?),
            None => None,
        };
        self.store.as_mut()?.push(object.json(), &redact::CLEAN).ok()?;
        if let Some(whole) = &mut self.whole {
            whole.extend(value);
        }
        self.touched += usize::from(touched);
        if let Some(saver) = self.saver {
            saver.object(self.request, &object);
        }
        self.count();
        Some(length)
    }

    /// A log, bounded and redacted.
    fn log(&self, json: &[u8]) -> Result<Passed, serde_json::Error> {
        let raw: LogObject = serde_json::from_slice(json)?;
        let kept = raw.clone().normalised();
        let touched = kept.text != raw.text;
        let passed = Sanitized::sanitize(self.kind, self.rule, serde_json::to_value(kept)?)?;
        Ok(Passed { touched, ..passed })
    }

    /// Direct decoding uses the same rules. For Secrets the key is evaluated here, and the rules for ConfigMaps depend
    /// on their name.
    fn is_redacted_whole(&self) -> bool {
        self.saver.is_some()
            || self.whole.is_some()
            || self.request.item == Item::Logs
            || matches!(self.request.item.kind(), Some(Kind::Secret | Kind::ConfigMap))
    }

    /// Whether an object may be kept. Requests by name return one object, so only lists have limits.
    fn admit(&mut self, size: usize) -> bool {
        if !matches!(self.request.item, Item::List(_)) {
            return true;
        }
        match self.kept.admit(size) {
            Ok(()) => {
                self.counted.0 += 1;
                self.counted.1 += kept::excess(size);
                true
            }
            Err(limit) => {
                self.limit.get_or_insert(limit);
                false
            }
        }
    }

    fn count(&mut self) {
        self.arrived += 1;
        if self.arrived.is_multiple_of(500) {
            self.observer.arrived(self.request, self.arrived);
        }
    }

    fn store(&mut self, json: &[u8]) -> Result<(), serde_json::Error> {
        let redacted = if self.is_redacted_whole() { Some(self.redacted(json)?) } else { None };
        let rule = if redacted.is_some() { &redact::CLEAN } else { self.rule };
        if let (Some(whole), Some(redacted)) = (&mut self.whole, &redacted) {
            whole.push(redacted.value()?);
        }
        match &mut self.store {
            Some(store) => store.push(redacted.as_ref().map_or(json, Sanitized::json), rule),
            None => Ok(()),
        }
    }
}

impl ObjectSink for Border<'_> {
    fn object(&mut self, json: &[u8]) {
        if !self.admit(json.len()) {
            return;
        }
        self.count();
        let outcome = match self.request.item {
            Item::ServerVersion | Item::CliVersion => {
                self.redacted(json).and_then(|object| object.value()).map(|value| self.raw.push(value))
            }
            _ => self.store(json),
        };
        if let Err(error) = outcome {
            self.malformed(serde_json::from_slice(json).unwrap_or_default(), &error);
        }
    }

    fn begun(&mut self, text: &str) -> Option<usize> {
        // At a limit, it comes again as a whole.
        if matches!(self.request.item, Item::List(_)) {
            self.kept.room().ok()?;
        }
        let length = if self.is_redacted_whole() {
            self.begun_whole(text)?
        } else {
            let length = self.store.as_mut()?.push_first(text, self.rule)?;
            self.count();
            length
        };
        self.admit(length);
        Some(length)
    }

    fn takes_messages(&self) -> bool {
        self.store.is_some() && !self.is_redacted_whole()
    }

    fn message(&mut self, message: Message<'_>) -> bool {
        // The reader of the list limits the sizes.
        if self.store.is_some() && !self.admit(0) {
            return true;
        }
        let Some(store) = &mut self.store else { return false };
        let outcome = store.push_message(message, self.rule);
        self.count();
        if let Err(error) = outcome {
            self.malformed(Name::deserialize(message).unwrap_or_default(), &error);
        }
        true
    }

    fn node(&mut self, files: NodeFiles) {
        self.arrived += 1;
        let files = node::normalise(&files, &node::Defaults::default());
        if let Some(saver) = self.saver {
            saver.node(&files);
        }
        self.nodes.push(files);
    }

    fn restart(&mut self) {
        let (objects, excess) = std::mem::take(&mut self.counted);
        self.kept.discard(objects, excess);
        self.limit = None;
        self.arrived = 0;
        self.touched = 0;
        self.malformed.clear();
        self.raw.clear();
        self.whole.iter_mut().for_each(Vec::clear);
        self.nodes.clear();
        if let Some(store) = &mut self.store {
            store.clear();
        }
        if let Some(saver) = self.saver {
            saver.restart(self.request);
        }
    }
}

/// An empty store for the objects of an item.
pub(super) fn store_of(item: &Item) -> Option<Box<dyn Store>> {
    match item {
        Item::Logs => Some(Box::new(Vec::<Log>::new())),
        item => item.store(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Unobserved;
    use crate::source::kept::{MOST_EXCESS, MOST_OBJECTS};

    const POD: &str = r#"{"metadata":{"namespace":"shop","name":"web"}}"#;

    #[test]
    fn lists_of_a_run_end_at_a_common_limit() {
        let request = Request::new(Item::List(Kind::Pod));
        let kept = ObjectCount::default();
        (1..MOST_OBJECTS).for_each(|_| kept.admit(1).expect("room"));
        let mut first = Border::new(&request, None, &Unobserved, (true, false), &kept);
        assert_eq!(first.begun(POD), Some(POD.len()));
        first.object(POD.as_bytes());
        assert_eq!((first.arrived, first.limit), (1, Some(Limit::Objects)));
        let mut second = Border::new(&request, None, &Unobserved, (true, false), &kept);
        assert_eq!(second.begun(POD), None);
        second.object(POD.as_bytes());
        assert_eq!((second.arrived, second.limit), (0, Some(Limit::Objects)));
        // A list that starts again counts once.
        first.restart();
        first.object(POD.as_bytes());
        assert_eq!((first.arrived, first.limit), (1, None));
        let large = ObjectCount::default();
        large.admit(MOST_EXCESS * 2).expect("room");
        let mut border = Border::new(&request, None, &Unobserved, (true, false), &large);
        border.object(POD.as_bytes());
        assert_eq!((border.arrived, border.limit), (0, Some(Limit::Excess)));
        // One object by name has no limit.
        let named = Item::named(Kind::Namespace, crate::item::Scope::Cluster, "shop");
        let named = Request::new(named);
        let mut border = Border::new(&named, None, &Unobserved, (true, false), &large);
        border.object(br#"{"metadata":{"name":"shop"}}"#);
        assert_eq!((border.arrived, border.limit), (1, None));
    }
}
