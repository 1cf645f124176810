//! Played programs behind a port-forward: what comes back over the websocket, in every way in which it can be wrong.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use base64::Engine as _;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use super::cluster::{failure, http};

/// The result of a port-forward.
#[derive(Clone)]
pub enum Says {
    /// These bytes, once it is asked; then the stream stays open.
    Bytes(Vec<u8>),
    /// These bytes, and the end of the stream.
    Ends(Vec<u8>),
    /// A TLS server.
    Tls(Arc<ServerConfig>),
    /// A proxy's metrics port: TLS, metrics, and the environment with one variable.
    Proxy(Arc<ServerConfig>, Vec<u8>, Vec<u8>),
    /// What a server at this address answers.
    Relayed(String),
    /// The API server refuses.
    Refuses(u16, &'static str),
    /// The API server answers with a page and does not upgrade.
    Page,
    /// The API server never answers.
    Silence,
    /// The connection to the API server ends before an answer, this number of times; then this.
    After(Arc<AtomicUsize>, Box<Says>),
    /// One of these after another; the last one again and again.
    InTurn(Arc<AtomicUsize>, Vec<Says>),
    /// The stream is open, and nothing arrives.
    Hangs,
    /// The upgrade is followed by data that is not a websocket.
    NoWebsocket,
    /// The stream begins as that of another port.
    OtherPort,
    /// The kubelet reports the error.
    Kubelet(&'static str),
    /// An answer without an end.
    Endless,
}

impl Says {
    /// A whole answer of a program.
    pub fn http(status: u16, body: &str) -> Says {
        Says::Bytes(http(status, body).into_bytes())
    }
}

/// Plays it to the client whose request this is the head of.
pub async fn play(mut stream: TcpStream, head: &str, port: u16, says: &Says) -> Option<()> {
    let left = |left: usize| left.checked_sub(1);
    let says = match says {
        Says::After(breaks, _) if breaks.fetch_update(SeqCst, SeqCst, left).is_ok() => return None,
        Says::After(_, then) => then,
        Says::InTurn(turn, all) => &all[turn.fetch_add(1, SeqCst).min(all.len() - 1)],
        other => other,
    };
    let refusal = match says {
        Says::Refuses(status, message) => Some(http(*status, &failure(*status, message).to_string())),
        Says::Page => Some(http(200, "<html>please sign in</html>")),
        Says::Silence => return std::future::pending().await,
        _ => None,
    };
    if let Some(text) = refusal {
        stream.write_all(text.as_bytes()).await.ok()?;
        return stream.shutdown().await.ok();
    }
    upgrade(&mut stream, head).await?;
    match says {
        Says::NoWebsocket => {
            stream.write_all(&[0xff; 4096]).await.ok()?;
            return std::future::pending().await;
        }
        Says::OtherPort => begin(&mut stream, port + 1).await?,
        _ => begin(&mut stream, port).await?,
    }
    match says {
        Says::Bytes(bytes) | Says::Ends(bytes) => {
            message(&mut stream).await?;
            for part in bytes.chunks(30_000) {
                frame(&mut stream, 0, part).await?;
            }
            if matches!(says, Says::Ends(_)) {
                // A close frame, as a kubelet sends it.
                stream.write_all(&[0x88, 0]).await.ok()?;
            }
        }
        Says::Kubelet(text) => frame(&mut stream, 1, text.as_bytes()).await?,
        Says::Endless => {
            message(&mut stream).await?;
            frame(&mut stream, 0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
            loop {
                frame(&mut stream, 0, &[b'x'; 60_000]).await?;
            }
        }
        Says::Tls(config) => return tls(stream, Arc::clone(config), &[]).await,
        Says::Proxy(config, metrics, environment) => {
            let asked = message(&mut stream).await?;
            if asked.first() == Some(&0x16) {
                return tls(stream, Arc::clone(config), &asked).await;
            }
            let one = b"GET /env.json?LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS HTTP";
            let is_metrics = asked.starts_with(b"GET /metrics ");
            assert!(is_metrics || asked.starts_with(one), "{}", String::from_utf8_lossy(&asked));
            frame(&mut stream, 0, if is_metrics { metrics } else { environment }).await?;
        }
        Says::Relayed(address) => return relay(stream, address).await,
        _ => {}
    }
    std::future::pending().await
}

async fn upgrade(stream: &mut TcpStream, head: &str) -> Option<()> {
    let key = head.lines().find(|l| l.to_ascii_lowercase().starts_with("sec-websocket-key:"))?;
    let key = key.split_once(':')?.1.trim().to_owned() + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let accept = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    let accept = base64::engine::general_purpose::STANDARD.encode(accept);
    let text = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \
         {accept}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).await.ok()
}

/// Each channel begins with the port that it is for.
async fn begin(stream: &mut TcpStream, port: u16) -> Option<()> {
    for channel in [0, 1] {
        frame(stream, channel, &port.to_le_bytes()).await?;
    }
    Some(())
}

/// A binary message on a channel, as a server sends it: unmasked.
async fn frame(stream: &mut (impl AsyncWriteExt + Unpin), channel: u8, data: &[u8]) -> Option<()> {
    let length = u16::try_from(data.len() + 1).unwrap();
    let mut bytes = match u8::try_from(length) {
        Ok(short) if short < 126 => vec![0x82, short],
        _ => [&[0x82, 126][..], &length.to_be_bytes()].concat(),
    };
    bytes.push(channel);
    bytes.extend_from_slice(data);
    stream.write_all(&bytes).await.ok()
}

/// What a client's message holds, behind the channel: masked, as clients send it.
async fn message(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<Vec<u8>> {
    let _kind = stream.read_u8().await.ok()?;
    let length = match stream.read_u8().await.ok()? & 0x7f {
        126 => usize::from(stream.read_u16().await.ok()?),
        127 => usize::try_from(stream.read_u64().await.ok()?).ok()?,
        short => usize::from(short),
    };
    let mut mask = [0; 4];
    stream.read_exact(&mut mask).await.ok()?;
    let mut data = vec![0; length];
    stream.read_exact(&mut data).await.ok()?;
    data.iter_mut().zip(mask.into_iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    (!data.is_empty()).then(|| data.split_off(1))
}

/// A TLS server behind the websocket, after the first bytes.
async fn tls(stream: TcpStream, config: Arc<ServerConfig>, first: &[u8]) -> Option<()> {
    let (inside, outside) = tokio::io::duplex(64 * 1024);
    let (from, to) = stream.into_split();
    let (read, mut write) = tokio::io::split(outside);
    write.write_all(first).await.ok()?;
    tokio::spawn(inwards(from, write));
    tokio::spawn(outwards(read, to));
    let mut session = TlsAcceptor::from(config).accept(inside).await.ok()?;
    // Who only looks hangs up.
    _ = session.read_u8().await;
    Some(())
}

/// Passes everything on to another server, and its answers back.
async fn relay(stream: TcpStream, address: &str) -> Option<()> {
    let (read, write) = tokio::io::split(TcpStream::connect(address).await.ok()?);
    let (from, to) = stream.into_split();
    tokio::spawn(inwards(from, write));
    outwards(read, to).await
}

async fn inwards(mut from: tokio::net::tcp::OwnedReadHalf, mut to: WriteHalf<impl AsyncWrite>) -> Option<()> {
    loop {
        let data = message(&mut from).await?;
        to.write_all(&data).await.ok()?;
    }
}

async fn outwards(mut from: ReadHalf<impl AsyncRead>, mut to: tokio::net::tcp::OwnedWriteHalf) -> Option<()> {
    let mut part = [0; 16 * 1024];
    loop {
        match from.read(&mut part).await.ok()? {
            0 => return std::future::pending().await,
            read => frame(&mut to, 0, &part[..read]).await?,
        }
    }
}
