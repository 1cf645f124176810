//! Gzip members that record their own length, so that a reader can skip one and return to it later, without unpacking
//! it twice or holding it in memory. The lengths are in the extra field of RFC 1952 (2.3.1.1), which other programs
//! ignore.

use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};

use super::spool::{Blob, BlobReader, Repeatable};

/// Name of the field.
const NAME: [u8; 2] = *b"MD";
/// Position of the field: after the header and the length of all extra fields.
const BEGIN: usize = 12;
/// Name, length, and the packed and unpacked lengths of the member.
const FIELD: u16 = 12;
/// A member that unpacks to more is never skipped, because reading it holds all of it in memory.
const LARGEST: u64 = 8 << 20;

/// Packs bytes as a member with recorded lengths.
///
/// # Errors
/// There are too many bytes.
pub fn pack(parts: &[&[u8]], level: u32) -> io::Result<Vec<u8>> {
    let number = |count: usize| u32::try_from(count).map_err(io::Error::other);
    let unpacked = number(parts.iter().map(|part| part.len()).sum())?;
    let mut field = Vec::with_capacity(usize::from(FIELD));
    field.extend(NAME);
    field.extend(8_u16.to_le_bytes());
    field.extend(0_u32.to_le_bytes());
    field.extend(unpacked.to_le_bytes());
    let mut gzip = GzBuilder::new().extra(field).write(Vec::new(), Compression::new(level));
    for part in parts {
        gzip.write_all(part)?;
    }
    let mut member = gzip.finish()?;
    let packed = number(member.len())?;
    if let Some(place) = member.get_mut(BEGIN + 4..BEGIN + 8) {
        place.copy_from_slice(&packed.to_le_bytes());
    }
    Ok(member)
}

/// Packed and unpacked lengths of a member, from its first bytes.
fn lengths(head: &[u8]) -> Option<(u64, u64)> {
    let (header, field) = (head.get(..BEGIN)?, head.get(BEGIN..BEGIN + usize::from(FIELD))?);
    // Deflate, and only this extra field before the data.
    let is_ours = header.starts_with(&[0x1F, 0x8B, 8, 4]) && header[10..] == FIELD.to_le_bytes();
    let number = |at: usize| Some(u64::from(u32::from_le_bytes(field.get(at..at + 4)?.try_into().ok()?)));
    (is_ours && field.starts_with(&[NAME[0], NAME[1], 8, 0])).then_some((number(4)?, number(8)?))
}

/// A skipped member.
#[derive(Debug)]
struct Member {
    packed: Blob,
    len: u64,
}

impl Repeatable for Member {
    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut input = BufReader::with_capacity(1 << 16, self.packed.reader()?);
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        GzDecoder::new(&mut input).take(self.len + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != self.len || !input.fill_buf()?.is_empty() {
            return Err(io::Error::other("its length differs from the recorded one"));
        }
        Ok(bytes)
    }
}

/// Unpacks gzip, one member after another.
pub(super) struct Members {
    blob: Blob,
    /// The current member; none after the end of one.
    now: Option<GzDecoder<CountingReader>>,
    /// Start of the next member, after the end of one.
    next: u64,
    /// A byte that was read to detect the end of a member.
    ahead: Option<u8>,
}

impl Members {
    /// From the start of a blob.
    pub(super) fn new(blob: &Blob) -> Members {
        Members { blob: blob.clone(), now: None, next: 0, ahead: None }
    }

    /// Reads from the current member; nothing at its end, after its checksum was verified.
    fn within(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(member) = &mut self.now else { return Ok(0) };
        let count = member.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.next = member.get_ref().passed;
            self.now = None;
        }
        Ok(count)
    }

    fn has_ended(&mut self) -> io::Result<bool> {
        let mut byte = [0];
        if self.ahead.is_none() && self.within(&mut byte)? > 0 {
            self.ahead = Some(byte[0]);
        }
        Ok(self.ahead.is_none())
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let (Some(first), Some(ahead)) = (buffer.first_mut(), self.ahead) {
            *first = ahead;
            self.ahead = None;
            return Ok(1);
        }
        loop {
            let count = self.within(buffer)?;
            if count > 0 || buffer.is_empty() || (self.now.is_none() && self.next >= self.blob.len()) {
                return Ok(count);
            }
            self.now = Some(GzDecoder::new(CountingReader::from(&self.blob, self.next)?));
        }
    }
}

/// Input of the tar reader.
pub(super) trait Input: Read {
    /// Skips the next bytes, if they are exactly one member with recorded lengths.
    fn member(&mut self, _len: u64) -> Option<Blob> {
        None
    }
}

impl Input for Members {
    fn member(&mut self, len: u64) -> Option<Blob> {
        // An error occurs again when reading continues.
        if len > LARGEST || !self.has_ended().ok()? {
            return None;
        }
        let head = self.blob.slice(self.next, self.blob.len()).head(BEGIN as u64 + u64::from(FIELD)).ok()?;
        let (packed, unpacked) = lengths(&head)?;
        let fits = self.next.checked_add(packed).is_some_and(|end| end <= self.blob.len());
        if unpacked != len || !fits {
            return None;
        }
        let member = Member { packed: self.blob.slice(self.next, packed), len };
        self.next += packed;
        Some(Blob::repeatable(member, len))
    }
}

/// Counts the bytes read from a blob.
struct CountingReader {
    input: BufReader<BlobReader>,
    passed: u64,
}

impl CountingReader {
    fn from(blob: &Blob, offset: u64) -> io::Result<CountingReader> {
        let mut reader = blob.reader()?;
        reader.go_to(offset)?;
        Ok(CountingReader { input: BufReader::with_capacity(1 << 16, reader), passed: offset })
    }
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.passed += count as u64;
        Ok(count)
    }
}

impl BufRead for CountingReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.passed += count as u64;
        self.input.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::spool::Spool;
    use crate::{Budget, Tree, Unpacked, unpack};

    const BLOCK: usize = 512;

    fn header(path: &str, len: usize) -> Vec<u8> {
        let mut header = ::tar::Header::new_gnu();
        header.set_path(path).unwrap();
        header.set_size(len as u64);
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    /// A packed tar of these files, each in a member with recorded lengths or not, and the start of the content of
    /// each.
    fn archive(files: &[(&str, Vec<u8>)], marked: bool) -> (Vec<u8>, Vec<usize>) {
        let plain = |bytes: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Compression::new(6));
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        };
        let (mut all, mut begins) = (Vec::new(), Vec::new());
        for (path, bytes) in files {
            all.extend(plain(&header(path, bytes.len())));
            begins.push(all.len());
            let padding = vec![0; bytes.len().next_multiple_of(BLOCK) - bytes.len()];
            all.extend(match marked {
                true => pack(&[bytes, &padding], 6).unwrap(),
                false => plain(&[&bytes[..], &padding].concat()),
            });
        }
        all.extend(plain(&[0; 2 * BLOCK]));
        (all, begins)
    }

    fn tree(bytes: &[u8], budget: &mut Budget) -> Tree {
        let mut spool = Spool::new();
        spool.write_all(bytes).unwrap();
        match unpack(&spool.finish(), budget, |_| true) {
            Ok(Unpacked::Tree(tree)) => tree,
            _ => Tree::default(),
        }
    }

    fn files() -> [(&'static str, Vec<u8>); 3] {
        let noise = (0..3000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]);
        [("a.json", b"{}".repeat(700)), ("b/c.json", noise.collect()), ("d", vec![7; 512])]
    }

    #[test]
    fn skipped_members_have_the_same_content() {
        let files = files();
        let (marked, _) = archive(&files, true);
        let (plain, _) = archive(&files, false);
        let (mut one, mut other) = (Budget::default(), Budget::default());
        let (marked, plain) = (tree(&marked, &mut one), tree(&plain, &mut other));
        assert!(marked.trouble.is_empty() && plain.trouble.is_empty(), "{marked:?}");
        // Skipped bytes count like unpacked ones.
        assert_eq!(one.left(), other.left());
        for (path, bytes) in &files {
            let blob = &marked.files[*path];
            assert!(format!("{blob:?}").contains("Member"), "{blob:?}");
            assert_eq!((&blob.bytes(9999).unwrap(), plain.files[*path].bytes(9999).unwrap()), (bytes, bytes.clone()));
            assert_eq!(blob.slice(3, 4).bytes(4).unwrap(), bytes[3..7]);
            let mut again = Vec::new();
            blob.reader().unwrap().at(10, 5, &mut again).unwrap();
            assert_eq!(again, bytes[10..15]);
        }
        assert_eq!(marked.files.len(), plain.files.len());
    }

    #[test]
    fn any_gzip_reader_unpacks_members() {
        let (marked, _) = archive(&files(), true);
        let mut unpacked = Vec::new();
        flate2::read::MultiGzDecoder::new(&marked[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked.len() % BLOCK, 0);
        let mut tar = ::tar::Archive::new(&unpacked[..]);
        assert_eq!(tar.entries().unwrap().count(), 3);
    }

    #[test]
    fn member_with_wrong_length_is_an_error() {
        let files = files();
        let (marked, begins) = archive(&files, true);
        for (at, by) in [(BEGIN + 4, 1_u8), (BEGIN + 4, 255), (BEGIN + 5, 3), (BEGIN + 8, 1), (BEGIN + 9, 2)] {
            let mut lying = marked.clone();
            lying[begins[0] + at] = lying[begins[0] + at].wrapping_add(by);
            let tree = tree(&lying, &mut Budget::default());
            if let Some(Ok(read)) = tree.files.get("a.json").map(|blob| blob.bytes(9999)) {
                assert_eq!(read, files[0].1, "{at} {by}");
            }
        }
    }

    proptest! {
        #[test]
        fn damage_is_reported_or_harmless(at in 0_usize..2000, byte in any::<u8>()) {
            let files = files();
            let (mut bytes, _) = archive(&files, true);
            let at = at % bytes.len();
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            let tree = tree(&bytes, &mut Budget::default());
            let mut said = !tree.trouble.is_empty() || tree.files.is_empty();
            for (path, expected) in &files {
                match tree.files.get(*path).map(|blob| blob.bytes(9999)) {
                    Some(Ok(read)) => prop_assert!(said || read == *expected, "{path}"),
                    Some(Err(_)) => {}
                    None => said = true,
                }
            }
        }
    }
}
