//! The Servers that select workloads, so that replicas and further queries need not compare labels again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::objects::{Shared, Texts, Word};

/// The number of places that are kept. Beyond it, each query compares labels again.
const MOST: usize = 1_000_000;

/// Workloads that the same Servers select: whether they are external, their namespace and their labels.
pub(super) type Class = (bool, Word, Shared<Texts>);

/// For each class of workloads, the places of the Servers of its namespace that select it.
#[derive(Debug, Default)]
pub(super) struct Matches(RefCell<HashMap<Class, Rc<[usize]>>>, Cell<usize>);

impl Matches {
    pub(super) fn get_or_insert(&self, class: Class, find: impl FnOnce() -> Rc<[usize]>) -> Rc<[usize]> {
        if let Some(known) = self.0.borrow().get(&class) {
            return Rc::clone(known);
        }
        let found = find();
        if self.1.get() < MOST {
            self.1.set(self.1.get() + found.len() + 1);
            self.0.borrow_mut().insert(class, Rc::clone(&found));
        }
        found
    }
}
