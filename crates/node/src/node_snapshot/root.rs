//! The node's file system below a root. Every access of a snapshot uses this module, and none leaves the
//! root. A path is walked part by part with file descriptors, so that a link, absolute or with `..`, is
//! followed as the node itself would follow it, and a directory cannot be replaced by a link in between. Only
//! regular files are read, with a limit that does not trust their size.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

/// Maximum number of links to follow for one path, as in the kernel.
const MAX_LINKS: usize = 40;
/// Maximum number of entries to list in one directory.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// Maximum number of attempts to read a file that changes while it is read.
const TRIES: usize = 3;
/// Pause between the attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The root of a node's file system: `/`, or its mount point in a pod.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    top: Rc<File>,
    whole: OnceCell<bool>,
}

/// Why a file or directory was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadFailure {
    /// Does not exist, or a dangling link.
    #[error("does not exist")]
    Absent,
    /// Exists, but is not a regular file.
    #[error("not a regular file but a {0}")]
    NotAFile(&'static str),
    /// Not a directory.
    #[error("not a directory")]
    NotAFolder,
    /// Larger than the limit.
    #[error("larger than the limit of {0} bytes")]
    TooLarge(usize),
    /// Changed during every attempt.
    #[error("it changed during each attempt to read it")]
    Changing,
    /// The system's error.
    #[error("{}", message(.0))]
    System(io::Error),
}

/// The system's error without the number that Rust adds.
fn message(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

impl From<io::Error> for ReadFailure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { ReadFailure::Absent } else { ReadFailure::System(error) }
    }
}

impl From<Errno> for ReadFailure {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

/// A resolved path.
#[derive(Debug)]
pub(super) struct ResolvedPath {
    parent: Rc<File>,
    name: OsString,
    /// Absolute path on the node without links.
    pub(super) real: PathBuf,
    /// The targets of the links of the last part, as absolute paths, in order.
    pub(super) hops: Vec<PathBuf>,
    pub(super) metadata: Metadata,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct FileContent {
    pub(super) bytes: Vec<u8>,
    pub(super) metadata: Metadata,
    /// Absolute path on the node without links.
    pub(super) real: PathBuf,
}

/// One entry of a directory.
#[derive(Debug)]
pub(super) struct DirectoryEntry {
    pub(super) name: OsString,
    /// Metadata of the entry itself; a link is not followed.
    pub(super) metadata: Metadata,
    /// The target of a link.
    pub(super) link: Option<PathBuf>,
}

/// The entries of a directory in byte order.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) entries: Vec<DirectoryEntry>,
    /// Whether entries are missing from the list, so that no name is known to be absent.
    pub(super) partial: bool,
}

impl Root {
    /// Opens a root.
    pub(super) fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(path, flags, Mode::empty())?;
        let path = path.canonicalize()?;
        Ok(Root { path, top: Rc::new(File::from(top)), whole: OnceCell::new() })
    }

    /// Whether this is the root of the running system as this process sees it. Only then programs are run.
    pub(super) fn is_own(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Its path in this process.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path in this process of a path on the node.
    pub(super) fn outside(&self, real: &Path) -> PathBuf {
        self.path.join(real.strip_prefix("/").unwrap_or(real))
    }

    /// Whether it looks like a whole file system. In a part of one, missing files may only not be mounted.
    pub(super) fn is_whole(&self) -> bool {
        *self.whole.get_or_init(|| {
            let folder = |path: &str| self.place(Path::new(path)).is_ok_and(|place| place.metadata.is_dir());
            self.is_own() || folder("/etc") && ["/usr/bin", "/usr/sbin", "/bin"].iter().any(|path| folder(path))
        })
    }

    /// Resolves a path, with links followed inside the root.
    pub(super) fn place(&self, path: &Path) -> Result<ResolvedPath, ReadFailure> {
        let mut pending: VecDeque<OsString> = parts(path).collect();
        let mut stack: Vec<(OsString, Rc<File>)> = Vec::new();
        let mut hops = Vec::new();
        let mut links = 0;
        loop {
            let Some(part) = pending.pop_front() else {
                // The root itself, or a path that ends in `..`.
                let here = stack.last().map_or(&self.top, |(_, folder)| folder);
                let metadata = here.metadata()?;
                let real = real(&stack, None);
                return Ok(ResolvedPath { parent: Rc::clone(here), name: OsString::from("."), real, hops, metadata });
            };
            if part == ".." {
                stack.pop();
                continue;
            }
            let parent = Rc::clone(stack.last().map_or(&self.top, |(_, folder)| folder));
            let (here, metadata) = look(&parent, &part)?;
            let last = pending.is_empty();
            if metadata.is_symlink() {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                let target = read_link(&here)?;
                if target.is_absolute() {
                    stack.clear();
                }
                if last {
                    hops.push(clean(&real(&stack, None).join(&target)));
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    pending.push_front(part);
                }
            } else if last {
                let real = real(&stack, Some(&part));
                return Ok(ResolvedPath { parent, name: part, real, hops, metadata });
            } else if metadata.is_dir() {
                stack.push((part, Rc::new(here)));
            } else {
                return Err(Errno::NOTDIR.into());
            }
        }
    }

    /// A regular file of at most `limit` bytes, the same before and after it was read.
    pub(super) fn read(&self, path: &Path, limit: usize) -> Result<FileContent, ReadFailure> {
        let place = self.place(path)?;
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let mut file = open(&place)?;
            let before = file.metadata()?;
            let mut bytes = Vec::new();
            (&mut file).take(limit as u64 + 1).read_to_end(&mut bytes)?;
            if bytes.len() > limit {
                return Err(ReadFailure::TooLarge(limit));
            }
            let after = file.metadata()?;
            // The kernel's own files have no size, and new times at each access.
            let unchanged =
                before.len() == 0 && after.len() == 0 || before.len() == bytes.len() as u64 && same(&before, &after);
            if unchanged {
                return Ok(FileContent { bytes, metadata: after, real: place.real });
            }
        }
        Err(ReadFailure::Changing)
    }

    /// The last `limit` bytes of a regular file that may grow in the meantime, and whether it has more bytes
    /// before them.
    pub(super) fn tail(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, bool), ReadFailure> {
        let mut file = open(&self.place(path)?)?;
        let size = file.metadata()?.len();
        let from = size.saturating_sub(limit);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok((bytes, from > 0))
    }

    /// The SHA-256 of a regular file of at most `limit` bytes, lower-case hex.
    pub(super) fn sha256(&self, path: &Path, limit: u64) -> Result<String, ReadFailure> {
        let mut file = open(&self.place(path)?)?;
        let before = file.metadata()?;
        let too_large = || ReadFailure::TooLarge(usize::try_from(limit).unwrap_or(usize::MAX));
        if before.len() > limit {
            return Err(too_large());
        }
        let mut hash = Sha256::new();
        let mut chunk = vec![0; 1 << 16];
        let mut left = limit;
        loop {
            let count = file.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            left = left.checked_sub(count as u64).ok_or_else(too_large)?;
            hash.update(&chunk[..count]);
        }
        if !same(&before, &file.metadata()?) {
            return Err(ReadFailure::Changing);
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The entries of a directory.
    pub(super) fn list(&self, path: &Path) -> Result<Listing, ReadFailure> {
        let place = self.place(path)?;
        if !place.metadata.is_dir() {
            return Err(ReadFailure::NotAFolder);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = File::from(rustix::fs::openat(&*place.parent, &place.name, flags, Mode::empty())?);
        let mut listing = Listing::default();
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == MAX_ENTRIES {
                listing.partial = true;
                break;
            }
            names.push(OsString::from_vec(name));
        }
        names.sort();
        for name in names {
            match look(&folder, &name) {
                Ok((here, metadata)) => {
                    let link = if metadata.is_symlink() { read_link(&here).ok() } else { None };
                    listing.entries.push(DirectoryEntry { name, metadata, link });
                }
                // It was removed after the listing.
                Err(ReadFailure::Absent) => {}
                Err(_) => listing.partial = true,
            }
        }
        Ok(listing)
    }

    /// Whether it is known to exist.
    pub(super) fn has(&self, path: &str) -> bool {
        self.place(Path::new(path)).is_ok()
    }
}

/// The parts of a path below the root, without `.` and slashes; `..` stays.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

fn real(stack: &[(OsString, Rc<File>)], last: Option<&OsStr>) -> PathBuf {
    let mut path = PathBuf::from("/");
    path.extend(stack.iter().map(|(name, _)| name.as_os_str()).chain(last));
    path
}

/// A path without `.` and `..`, resolved by text only.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for part in parts(path) {
        if part == ".." {
            clean.pop();
        } else {
            clean.push(part);
        }
    }
    clean
}

/// Metadata of an entry without opening it, so that FIFOs and devices are not affected.
fn look(parent: &File, name: &OsStr) -> Result<(File, Metadata), ReadFailure> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let here = File::from(rustix::fs::openat(parent, name, flags, Mode::empty())?);
    let metadata = here.metadata()?;
    Ok((here, metadata))
}

fn read_link(link: &File) -> Result<PathBuf, ReadFailure> {
    let target = rustix::fs::readlinkat(link, "", Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
}

/// Opens a regular file for reading, without blocking.
fn open(place: &ResolvedPath) -> Result<File, ReadFailure> {
    regular(&place.metadata)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(&*place.parent, &place.name, flags, Mode::empty())?);
    // It may have been replaced.
    regular(&file.metadata()?)?;
    Ok(file)
}

fn regular(metadata: &Metadata) -> Result<(), ReadFailure> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    Err(ReadFailure::NotAFile(match () {
        () if kind.is_dir() => "directory",
        () if kind.is_fifo() => "FIFO",
        () if kind.is_socket() => "socket",
        () if kind.is_block_device() || kind.is_char_device() => "device",
        () => "special file",
    }))
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.len(), one.mtime(), one.mtime_nsec(), one.ino())
        == (other.len(), other.mtime(), other.mtime_nsec(), other.ino())
}

/// Permission bits as the snapshot writes them: `0644`.
pub(super) fn mode(metadata: &Metadata) -> String {
    format!("{:04o}", metadata.mode() & 0o7777)
}

/// The time of the last change of the content, in whole seconds.
pub(super) fn mtime(metadata: &Metadata) -> Option<Timestamp> {
    Timestamp::from_second(metadata.mtime()).ok()
}

/// Whether any user may execute it.
pub(super) fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.mode() & 0o111 != 0
}
