//! A node snapshot as lines of a log, since a pod's log is the one way out of it that needs no right on the pod itself:
//! the files as tar, packed with zstd, as base64 in lines of bounded length between a line that begins and one that ends
//! it. Each line carries the tag and its number, so that lines of others in between do no harm and a lost one is noticed;
//! the last one carries count and checksum, so that a log that was cut off is never taken for a whole one. What the files
//! mean is not known here.

mod read;
mod write;

pub use read::{Held, LogError, read};
pub use write::{Written, write};

/// How many bytes of a packed snapshot a log holds at most. As base64, with the time that the container runtime puts
/// before each line, that stays below the 10 MiB at which the kubelet begins another file.
pub const MAX_PACKED: usize = 6 << 20;
/// How many bytes of log there can be at most: the lines of the largest snapshot, and as much again of others.
pub const MAX_LOG: usize = 16 << 20;

/// What every line of ours begins with, before the version.
const TAG: &str = "meshdoctor-node-log/";
/// The version that is written, and the only one that is read.
const VERSION: &str = "1";
/// How many packed bytes go into a line. Container runtimes cut lines at 16 KiB.
const LINE: usize = 3072;

#[cfg(test)]
mod tests;
