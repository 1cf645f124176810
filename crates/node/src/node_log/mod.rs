//! Encodes a node snapshot as log lines, because reading a pod's log needs no permission on the pod itself.
//! The files are packed as tar and zstd, and written as base64 in lines of bounded length between a begin
//! line and an end line. Each line has the tag and its number, so that other log lines are ignored and a lost
//! line is noticed. The end line has the count and a checksum, so that a truncated log is rejected.

mod read;
mod write;

pub use read::{FoundSnapshot, LogError, is_log, read, read_all};
pub use write::{WrittenLog, write};

/// Maximum size of a packed snapshot in a log, in bytes. As base64, with the runtime's time before each line,
/// it stays below the 10 MiB at which the kubelet rotates the log.
pub const MAX_PACKED: usize = 6 << 20;
/// Maximum size of a log, in bytes: the lines of the largest snapshot, and as much again of other lines.
pub const MAX_LOG: usize = 16 << 20;

/// The beginning of every snapshot line, before the version.
const TAG: &str = "meshdoctor-node-log/";
/// The written format version, and the only supported one.
const VERSION: &str = "1";
/// Number of packed bytes per line. Container runtimes split lines at 16 KiB.
const LINE: usize = 3072;

#[cfg(test)]
mod tests;
