//! Packs large pages while others are still collected, each for itself: an archive whose parts were packed apart is read as if
//! it had been packed in one go. What is left for the end is small.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::pack::{Content, Form, packed};
use crate::archive::spool::Spool;

/// A smaller page is packed with its neighbours, at the end.
const LARGE: usize = 32 << 10;
/// So many pages wait at most; then collecting does.
const WAITING: usize = 2;

/// What packs pages of one archive.
#[derive(Debug)]
pub(super) struct Ahead {
    form: Form,
    spool: Option<Spool>,
    work: Option<Work>,
    given: usize,
}

#[derive(Debug)]
struct Work {
    pages: SyncSender<Vec<u8>>,
    /// Ends with the last page: all that was packed, and where each page lies in it.
    worker: JoinHandle<io::Result<(Spool, Vec<Page>)>>,
}

/// One page: where it begins, packed, its length there, and its own.
type Page = (u64, u64, u64);

impl Ahead {
    /// For an archive in a folder.
    pub(super) fn of(form: Form, folder: &Path) -> Ahead {
        Ahead { form, spool: Some(Spool::within(folder)), work: None, given: 0 }
    }

    /// Takes a page if it is worth it, and says which one it is; else gives it back.
    pub(super) fn take(&mut self, page: Vec<u8>) -> io::Result<Result<usize, Vec<u8>>> {
        if page.len() < LARGE || !self.form.is_packed() {
            return Ok(Err(page));
        }
        if let Some(spool) = self.spool.take() {
            self.work = Some(begin(self.form, spool)?);
        }
        // Nobody takes it any more after an error, which comes out in the end.
        if let Some(work) = &self.work {
            _ = work.pages.send(page);
        }
        self.given += 1;
        Ok(Ok(self.given - 1))
    }

    /// All pages that were taken.
    pub(super) fn finish(self) -> io::Result<Vec<Content>> {
        let Some(Work { pages, worker }) = self.work else { return Ok(Vec::new()) };
        drop(pages);
        let (spool, places) = worker.join().map_err(|_| io::Error::other("packing broke off"))??;
        let whole = spool.finish();
        Ok(places
            .into_iter()
            .map(|(at, length, len)| Content::Packed { blob: whole.slice(at, length), len })
            .collect())
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
