//! Reads a zip archive by its central directory: keeps only regular files with safe names. The directory is read entry
//! by entry, so that its length costs no memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipEntry, ZipFileHeaderRecord, ZipLocator};

use super::spool::{Blob, BlobReader, Spool};
use super::tree::{Tree, clean};
use super::{Bounded, Budget, MAX_ENTRIES, MAX_GZIP_RATIO, MAX_PATH, RATIO_FREE, TOO_MUCH, copy};

const NO_DIRECTORY: &str = "a zip archive without its list of files, possibly truncated";
const TWICE: &str = "it occurs twice in the archive; the later one is used";

/// A blob with random access.
struct Places(RefCell<BlobReader>);

impl ReaderAt for Places {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut reader = self.0.try_borrow_mut().map_err(io::Error::other)?;
        reader.go_to(offset)?;
        reader.read(buffer)
    }
}

/// The files of a zip archive.
///
/// # Errors
/// The central directory is missing: the archive is truncated, or is not a zip.
pub(super) fn walk(blob: &Blob, budget: &mut Budget) -> io::Result<Tree> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let places = Places(RefCell::new(blob.reader()?));
    let located = ZipLocator::new().locate_in_reader(places, &mut buffer, blob.len());
    let archive = located.map_err(|(_, error)| io::Error::other(format!("{NO_DIRECTORY}: {error}")))?;
    let most = budget.left().min(RATIO_FREE.max(blob.len().saturating_mul(MAX_GZIP_RATIO)));
    let mut left = most;
    let mut tree = Tree::default();
    let mut spool = Spool::new();
    let mut kept: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut links: Vec<(String, String)> = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    loop {
        let record = match entries.next_entry() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(error) => {
                tree.trouble.push((String::new(), format!("its list of files is damaged: {error}")));
                tree.corrupt = true;
                break;
            }
        };
        if !budget.entry() {
            tree.trouble.push((String::new(), format!("more than {MAX_ENTRIES} entries")));
            break;
        }
        let path = match path_of(&record) {
            Ok(Some(path)) => path,
            Ok(None) => continue,
            Err(trouble) => {
                tree.trouble.push(trouble);
                continue;
            }
        };
        let (method, is_link) = (record.compression_method(), record.mode().is_symlink());
        let entry = match archive.get_entry(record.wayfinder()) {
            Ok(entry) => entry,
            Err(error) => {
                tree.trouble.push((path, format!("it is damaged: {error}")));
                tree.corrupt = true;
                continue;
            }
        };
        let Some(content) = content(&entry, method) else {
            tree.trouble.push((path, format!("not read: compression method {} is not supported", method.as_u16())));
            continue;
        };
        let mut content = Bounded { input: content, left };
        let begin = spool.len();
        let copied = match is_link {
            true => link(&mut content).map(|target| links.push((path.clone(), target))),
            false => copy(&mut content, &mut spool).map(|_| ()),
        };
        left = content.left;
        match copied {
            Ok(()) if is_link => {}
            Ok(()) => {
                if kept.insert(path.clone(), (begin, spool.len() - begin)).is_some() {
                    tree.notes.push((path, TWICE.to_owned()));
                }
            }
            Err(_) if left == 0 => {
                tree.trouble.push((path, TOO_MUCH.to_owned()));
                break;
            }
            Err(error) => {
                tree.trouble.push((path, format!("it is damaged: {error}")));
                tree.corrupt = true;
            }
        }
    }
    budget.take(most - left);
    let whole = spool.finish();
    tree.files = kept.into_iter().map(|(path, (at, len))| (path, whole.slice(at, len))).collect();
    for (path, target) in links {
        tree.link(path, &target);
    }
    Ok(tree.bounded())
}

/// The safe name of an entry; `None` for a folder.
///
/// # Errors
/// The name as shown, and why the entry is not read.
fn path_of(record: &ZipFileHeaderRecord<'_>) -> Result<Option<String>, (String, String)> {
    if record.is_dir() {
        return Ok(None);
    }
    let name = record.file_path().as_ref().to_vec();
    let shown = || String::from_utf8_lossy(&name).escape_debug().to_string();
    let path = clean(&name).map_err(|why| (shown(), why.to_owned()))?;
    match record.flags().is_encrypted() {
        true => Err((path, "not read: it is encrypted".to_owned())),
        false => Ok(Some(path)),
    }
}

/// The unpacked content of an entry, with its checksum verified at the end; `None` for unsupported methods.
fn content<'a>(entry: &ZipEntry<'a, Places>, method: CompressionMethod) -> Option<Box<dyn Read + 'a>> {
    let packed = entry.reader();
    match method {
        CompressionMethod::STORE => Some(Box::new(entry.verifying_reader(packed))),
        CompressionMethod::DEFLATE => {
            let packed = BufReader::with_capacity(1 << 16, packed);
            Some(Box::new(entry.verifying_reader(DeflateDecoder::new(packed))))
        }
        _ => None,
    }
}

/// Target of a link.
fn link(content: &mut impl Read) -> io::Result<String> {
    let mut target = Vec::new();
    content.take(MAX_PATH as u64).read_to_end(&mut target)?;
    Ok(String::from_utf8_lossy(&target).into_owned())
}
