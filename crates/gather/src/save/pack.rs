//! Writes a bundle or node snapshot as a folder or archive, completely or not at all: under a temporary name next to
//! the target, then renamed. Files are private (mode 0600, folders 0700).

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use jiff::Timestamp;
use tar::{EntryType, Header};

use crate::archive::member;
use crate::archive::spool::Blob;

/// gzip level: the default, which compresses pages better than lower ones without more time.
const GZIP_LEVEL: u32 = 6;
/// zstd level: the default.
const ZSTD_LEVEL: i32 = 3;

/// Format of a bundle, from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Folder,
    /// `.tar`
    Tar,
    /// `.tar.gz` or `.tgz`
    TarGz,
    /// `.tar.zst` or `.tzst`
    TarZst,
}

/// Reason why a bundle was not written. No files are left.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The name has no known format.
    #[error("{0}: end the name in .tar.gz, .tgz, .tar.zst or .tar, or in / for a folder")]
    Name(PathBuf),
    /// The folder exists and is not empty.
    #[error("{0}: the folder exists and is not empty; use another one, or remove it")]
    NotEmpty(PathBuf),
    /// The file's name is that of a folder.
    #[error("{0} is a folder; use another name, or remove it")]
    IsFolder(PathBuf),
    /// It could not be written.
    #[error("{path}: {error}; nothing was saved")]
    Write {
        /// The target.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// An object or file that a bundle cannot contain.
    #[error("{path}: {what}; nothing was saved")]
    Content {
        /// The target.
        path: PathBuf,
        /// The problem.
        what: String,
    },
}

impl Form {
    /// Whether it is compressed.
    pub(super) fn is_packed(self) -> bool {
        match self {
            Form::TarGz | Form::TarZst => true,
            Form::Folder | Form::Tar => false,
        }
    }

    /// Format of a target, from its name.
    ///
    /// # Errors
    /// The name has no known format.
    pub fn from_path(path: &Path) -> Result<Form, SaveError> {
        let text = path.to_string_lossy();
        let name = text.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&["/", std::path::MAIN_SEPARATOR_STR]) => Ok(Form::Folder),
            () if ends(&[".tar.gz", ".tgz"]) => Ok(Form::TarGz),
            () if ends(&[".tar.zst", ".tzst"]) => Ok(Form::TarZst),
            () if ends(&[".tar"]) => Ok(Form::Tar),
            () if path.is_dir() => Ok(Form::Folder),
            () => Err(SaveError::Name(path.to_owned())),
        }
    }
}

/// Content of a file of a bundle.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    Blob(Blob),
    /// Compressed like the archive, including tar padding; `len` is its uncompressed length.
    Packed {
        blob: Blob,
        len: u64,
    },
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Blob(blob) => blob.len(),
            Content::Packed { len, .. } => *len,
        }
    }

    fn copy(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Content::Bytes(bytes) => to.write_all(bytes),
            Content::Blob(blob) => pour(blob, to),
            Content::Packed { .. } => Err(io::Error::other("packed for an archive")),
        }
    }
}

fn pour(blob: &Blob, to: &mut dyn Write) -> io::Result<()> {
    let mut reader = blob.reader()?;
    let mut chunk = vec![0; 1 << 16];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(()),
            count => to.write_all(&chunk[..count])?,
        }
    }
}

/// Tests whether `path` is writable before anything is collected; returns the format.
///
/// # Errors
/// The name has no known format, something is in the way, or the folder is not writable.
pub fn ready(path: &Path) -> Result<Form, SaveError> {
    let form = Form::from_path(path)?;
    if let Ok(mut entries) = fs::read_dir(path) {
        match form {
            Form::Folder if entries.next().is_some() => return Err(SaveError::NotEmpty(path.to_owned())),
            Form::Folder => {}
            Form::Tar | Form::TarGz | Form::TarZst => return Err(SaveError::IsFolder(path.to_owned())),
        }
    }
    tempfile::tempfile_in(parent(path)).map_err(|error| SaveError::Write { path: path.to_owned(), error })?;
    Ok(form)
}

/// Writes files from memory after [`ready`]; returns the size.
///
/// # Errors
/// They could not be written; no files are left.
pub fn save(
    path: &Path,
    form: Form,
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
    at: Timestamp,
) -> Result<u64, SaveError> {
    write(path, form, &contents(files), seconds(at)).map_err(|error| SaveError::Write { path: path.to_owned(), error })
}

/// Writes files from memory to a stream, as `.tar.gz`.
///
/// # Errors
/// The stream cannot be written.
pub fn stream<W: Write>(out: W, files: impl IntoIterator<Item = (String, Vec<u8>)>, at: Timestamp) -> io::Result<()> {
    tar(Form::TarGz, out, &contents(files), seconds(at))?.flush()
}

fn contents(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<(String, Content)> {
    files.into_iter().map(|(path, bytes)| (path, Content::Bytes(bytes))).collect()
}

/// Seconds since 1970.
pub(super) fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_second()).unwrap_or(0)
}

/// Folder of a target.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes `files` in order, dated `seconds` since 1970; returns the size.
pub(super) fn write(path: &Path, form: Form, files: &[(String, Content)], seconds: u64) -> io::Result<u64> {
    if form == Form::Folder {
        return folder(path, files);
    }
    let temporary = tempfile::Builder::new().prefix(".meshdoctor-").tempfile_in(parent(path))?;
    let out = BufWriter::with_capacity(1 << 16, temporary.as_file());
    let out = tar(form, out, files, seconds)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    let size = temporary.as_file().metadata()?.len();
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(size)
}

/// A tar of the files, compressed for the format.
pub(super) fn tar<W: Write>(form: Form, out: W, files: &[(String, Content)], seconds: u64) -> io::Result<W> {
    let mut tar = tar::Builder::new(Members { form, now: Some(Packer::None(out)) });
    for (path, content) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(seconds);
        header.set_size(content.len());
        match content {
            Content::Bytes(bytes) => tar.append_data(&mut header, path, bytes.as_slice())?,
            Content::Blob(blob) => tar.append_data(&mut header, path, blob.reader()?)?,
            Content::Packed { blob, .. } => {
                tar.append_data(&mut header, path, io::empty())?;
                tar.get_mut().add(blob)?;
            }
        }
    }
    tar.into_inner()?.end()
}

/// A file's content with tar padding, compressed separately.
pub(super) fn packed(form: Form, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let padding = &[0; BLOCK][..bytes.len().next_multiple_of(BLOCK) - bytes.len()];
    if form == Form::TarGz {
        return member::pack(&[bytes, padding], GZIP_LEVEL);
    }
    let mut member = Members { form, now: Some(Packer::None(Vec::new())) };
    member.write_all(bytes)?;
    member.write_all(padding)?;
    member.end()
}

/// Block size of tar.
const BLOCK: usize = 512;

/// An archive of one or several compressed members.
struct Members<W: Write> {
    form: Form,
    /// `None` after an error.
    now: Option<Packer<W>>,
}

enum Packer<W: Write> {
    /// No member is open.
    None(W),
    Gz(GzEncoder<W>),
    Zst(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> Members<W> {
    /// Finishes the current member.
    fn end(self) -> io::Result<W> {
        match self.now {
            Some(Packer::None(out)) => Ok(out),
            Some(Packer::Gz(gzip)) => gzip.finish(),
            Some(Packer::Zst(zstd)) => zstd.finish(),
            None => Err(io::Error::other("broken off")),
        }
    }

    /// Adds data that was compressed before.
    fn add(&mut self, blob: &Blob) -> io::Result<()> {
        let mut out = Members { form: self.form, now: self.now.take() }.end()?;
        pour(blob, &mut out)?;
        self.now = Some(Packer::None(out));
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        self.now = match (self.now.take(), self.form) {
            (Some(Packer::None(out)), Form::TarGz) => {
                Some(Packer::Gz(GzBuilder::new().write(out, Compression::new(GZIP_LEVEL))))
            }
            (Some(Packer::None(out)), Form::TarZst) => {
                let mut zstd = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                zstd.include_checksum(true)?;
                Some(Packer::Zst(zstd))
            }
            (now, _) => now,
        };
        Ok(())
    }
}

impl<W: Write> Write for Members<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?;
        match &mut self.now {
            Some(Packer::None(out)) => out.write(bytes),
            Some(Packer::Gz(gzip)) => gzip.write(bytes),
            Some(Packer::Zst(zstd)) => zstd.write(bytes),
            None => Err(io::Error::other("broken off")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.now {
            Some(Packer::None(out)) => out.flush(),
            Some(Packer::Gz(gzip)) => gzip.flush(),
            Some(Packer::Zst(zstd)) => zstd.flush(),
            None => Ok(()),
        }
    }
}

fn folder(path: &Path, files: &[(String, Content)]) -> io::Result<u64> {
    // The parent of `a/b/` is `a`.
    let temporary = tempfile::Builder::new().prefix(".meshdoctor-").tempdir_in(parent(path))?;
    for_owner_alone(temporary.path())?;
    let mut size = 0;
    for (name, content) in files {
        let file = temporary.path().join(name);
        private_folders().create(parent(&file))?;
        let mut out = BufWriter::new(private(&file)?);
        content.copy(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        size += content.len();
    }
    fs::rename(temporary.path(), path)?;
    // It has its final name, so it must not be removed.
    _ = temporary.keep();
    Ok(size)
}

/// Creates folders with mode 0700.
fn private_folders() -> fs::DirBuilder {
    let mut folders = fs::DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders
}

#[cfg(unix)]
fn for_owner_alone(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn for_owner_alone(_: &Path) -> io::Result<()> {
    Ok(())
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
