//! Answers to one question about a mesh, asked with a command of its own, from the same evidence that checks read. What an answer
//! could not see is part of it.

mod doubt;
pub mod ends;
pub mod evidence;
pub mod injection;
mod network;
pub mod nodes;
pub mod outbound;
pub mod policy;
pub mod reach;
mod refused;
mod routed;
mod walk;
