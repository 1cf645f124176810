//! The bare read: a process that reads lists page by page on one connection, decompresses them, and discards
//! them. It only looks for the token of the next page.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use bytes::Bytes;
use flate2::write::GzDecoder;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;

/// The first word of this process's command line; the address, `gzip` or `plain`, and paths follow.
pub(crate) const WORD: &str = "bare-read";

pub(crate) fn main(words: &[String]) -> anyhow::Result<()> {
    let [address, coding, paths @ ..] = words else { bail!("{WORD} ADDRESS gzip|plain PATH...") };
    let address: SocketAddr = address.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        for path in paths {
            let mut token = String::new();
            while let Some(next) = page(&mut sender, path, &token, coding == "gzip").await.context(path.clone())? {
                token = format!("&continue={next}");
            }
        }
        Ok(())
    })
}

async fn page(
    sender: &mut SendRequest<Empty<Bytes>>,
    path: &str,
    token: &str,
    gzip: bool,
) -> anyhow::Result<Option<String>> {
    let coding = if gzip { "gzip" } else { "identity" };
    let request = Request::get(format!("{path}?limit=500{token}"))
        .header(header::HOST, "127.0.0.1")
        .header(header::ACCEPT_ENCODING, coding);
    let response = sender.send_request(request.body(Empty::new())?).await?;
    if !response.status().is_success() {
        bail!("{}", response.status());
    }
    let packed = response.headers().contains_key(header::CONTENT_ENCODING);
    let mut unpack = GzDecoder::new(First(Vec::new()));
    let mut first = Vec::new();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        if packed {
            unpack.write_all(&piece)?;
        } else if first.len() < HEAD {
            first.extend_from_slice(&piece[..piece.len().min(HEAD)]);
        }
    }
    let first = if packed { unpack.finish()?.0 } else { first };
    let text = String::from_utf8_lossy(&first);
    let token = text.split_once(r#""continue":""#).and_then(|(_, rest)| rest.split_once('"'));
    Ok(token.map(|(token, _)| token.to_owned()).filter(|token| !token.is_empty()))
}

/// A list's own metadata is within these bytes.
const HEAD: usize = 512;

/// Keeps the first bytes.
struct First(Vec<u8>);

impl Write for First {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() < HEAD {
            self.0.extend_from_slice(&bytes[..bytes.len().min(HEAD)]);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
