//! Compresses large pages while others are still being collected, each separately: the parts form one valid archive.
//! This shortens the final write.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::pack::{Content, Form, packed};
use crate::archive::spool::Spool;

/// Smaller pages are compressed together at the end.
const LARGE: usize = 32 << 10;
/// Maximum number of waiting pages; then collecting waits.
const WAITING: usize = 2;

/// Compresses the pages of one archive.
#[derive(Debug)]
pub(super) struct SavePlan {
    form: Form,
    spool: Option<Spool>,
    work: Option<Work>,
    given: usize,
}

#[derive(Debug)]
struct Work {
    pages: SyncSender<Vec<u8>>,
    /// Finishes after the last page: all compressed data, and the position of each page.
    worker: JoinHandle<io::Result<(Spool, Vec<SpoolPage>)>>,
}

/// One page: offset, compressed length, and uncompressed length.
type SpoolPage = (u64, u64, u64);

impl SavePlan {
    /// For an archive in a folder.
    pub(super) fn new(form: Form, folder: &Path) -> SavePlan {
        SavePlan { form, spool: Some(Spool::within(folder)), work: None, given: 0 }
    }

    /// Accepts a page if it is large enough, and returns its number; otherwise returns the page.
    pub(super) fn take(&mut self, page: Vec<u8>) -> io::Result<Result<usize, Vec<u8>>> {
        if page.len() < LARGE || !self.form.is_packed() {
            return Ok(Err(page));
        }
        if let Some(spool) = self.spool.take() {
            self.work = Some(begin(self.form, spool)?);
        }
        // After an error no more pages are accepted; the error is returned at the end.
        if let Some(work) = &self.work {
            _ = work.pages.send(page);
        }
        self.given += 1;
        Ok(Ok(self.given - 1))
    }

    /// All accepted pages.
    pub(super) fn finish(self) -> io::Result<Vec<Content>> {
        let Some(Work { pages, worker }) = self.work else { return Ok(Vec::new()) };
        drop(pages);
        let (spool, places) = worker.join().map_err(|_| io::Error::other("the compression thread failed"))??;
        let whole = spool.finish();
        Ok(places.into_iter().map(|(at, length, len)| Content::Packed { blob: whole.slice(at, length), len }).collect())
    }
}

fn begin(form: Form, mut spool: Spool) -> io::Result<Work> {
    let (pages, given) = sync_channel::<Vec<u8>>(WAITING);
    let worker = std::thread::Builder::new().name("pack".to_owned()).spawn(move || {
        let mut places = Vec::new();
        for page in given {
            let bytes = packed(form, &page)?;
            places.push((spool.len(), bytes.len() as u64, page.len() as u64));
            spool.write_all(&bytes)?;
        }
        Ok((spool, places))
    })?;
    Ok(Work { pages, worker })
}
