//! Skips the logs that `kubectl cluster-info dump` writes between its JSON documents.

use std::io::{self, Read};

use super::{Scanner, Wrong, unexpected};

impl<R: Read> Scanner<R> {
    /// Skips `==== START logs for container C of pod NS/P ====` up to the matching END, which may not start a line: a
    /// log may lack a final newline.
    pub(super) fn logs(&mut self) -> Result<(), Wrong> {
        const LONG: usize = 2048;
        let mut start = Vec::new();
        self.line(&mut start, LONG)?;
        let Some(whose) = start.strip_prefix(b"==== START logs for ") else {
            return Err(unexpected("a JSON object", b'='));
        };
        let end = [b"==== END logs for ", whose].concat();
        let mut line = Vec::new();
        loop {
            if !self.line(&mut line, end.len())? {
                return Err(Wrong::Ends("a container's log"));
            }
            if line.ends_with(&end) {
                return Ok(());
            }
        }
    }

    /// The last `most` bytes of the next line, without its end; `false` at the end.
    fn line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<bool> {
        line.clear();
        let mut any = false;
        loop {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                return Ok(any);
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            let count = text.len() + usize::from(end.is_some());
            let tail = &text[text.len().saturating_sub(most + 1)..];
            line.extend_from_slice(tail);
            let over = line.len().saturating_sub(most + 1);
            line.drain(..over);
            self.consume(count);
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                let over = line.len().saturating_sub(most);
                line.drain(..over);
                return Ok(true);
            }
        }
    }
}
