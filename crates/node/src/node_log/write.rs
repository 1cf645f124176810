//! Packs a snapshot and writes it as lines.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{LINE, MAX_PACKED, TAG, VERSION};
use crate::node_files::NodeFiles;

/// Compression level of zstd. Higher levels take seconds of the pod's CPU for a few percent.
const LEVEL: i32 = 9;
/// The file that lists omitted files.
const META: &str = "meta.json";

/// The result of writing a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLog {
    /// Number of packed bytes.
    pub bytes: usize,
    /// Files omitted because of the size limit, largest first; `meta.json` names them under `truncated`.
    pub left_out: Vec<String>,
}

/// Writes a node's files as lines. Above [`MAX_PACKED`] bytes the largest files are omitted.
///
/// # Errors
/// The output cannot be written.
pub fn write(files: &NodeFiles, out: &mut impl Write) -> io::Result<WrittenLog> {
    let mut kept = files.files.clone();
    let mut left_out = Vec::new();
    let mut packed = pack(&kept)?;
    while packed.len() > MAX_PACKED {
        let largest = kept.iter().filter(|(path, _)| *path != META).max_by_key(|(_, bytes)| bytes.len());
        let Some(largest) = largest.map(|(path, _)| path.clone()) else {
            return Err(io::Error::other(format!("{META} alone is too large for a log")));
        };
        kept.remove(&largest);
        note(&mut kept, &largest);
        left_out.push(largest);
        packed = pack(&kept)?;
    }
    let mut lines = 0;
    writeln!(out, "{TAG}{VERSION} begin {}", files.node)?;
    for piece in packed.chunks(LINE) {
        writeln!(out, "{TAG}{VERSION} {lines} {}", STANDARD.encode(piece))?;
        lines += 1;
    }
    let bytes = packed.len();
    writeln!(out, "{TAG}{VERSION} end lines={lines} bytes={bytes} sha256={}", checksum(&packed))?;
    out.flush()?;
    Ok(WrittenLog { bytes, left_out })
}

/// SHA-256 in hexadecimal.
pub(super) fn checksum(packed: &[u8]) -> String {
    Sha256::digest(packed).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files as a tar, packed. Equal files give equal bytes.
fn pack(files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut tar = ::tar::Builder::new(zstd::stream::write::Encoder::new(Vec::new(), LEVEL)?);
    for (path, bytes) in files {
        let mut header = ::tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        tar.append_data(&mut header, path, bytes.as_slice())?;
    }
    tar.into_inner()?.finish()
}

/// Adds an omitted file to `meta.json`.
fn note(files: &mut BTreeMap<String, Vec<u8>>, path: &str) {
    let Some(bytes) = files.get_mut(META) else { return };
    let Ok(mut meta) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    let Some(fields) = meta.as_object_mut() else { return };
    let truncated = fields.entry("truncated").or_insert_with(|| serde_json::json!([]));
    if let Some(list) = truncated.as_array_mut() {
        list.push(path.into());
        *bytes = meta.to_string().into_bytes();
    }
}
