//! The only way from the API server to a simulated kubelet: its egress socket, served here. The server dials
//! a node's address, which belongs to another network on this machine; only the kubelets' port is forwarded,
//! to kwok on loopback.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

/// A served socket. It ends with the process; its file is deleted with the cluster's folder.
pub struct Road;

impl Road {
    /// Serves the socket at `path`: `CONNECT <any address>:<port>` connects to that port on loopback,
    /// anything else is refused.
    pub fn open(path: &Path, port: u16) -> Road {
        let listener = UnixListener::bind(path).unwrap();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                thread::spawn(move || {
                    // A connection that breaks is the server's to notice.
                    let _ = carry(stream, port);
                });
            }
        });
        Road
    }
}

fn carry(mut stream: UnixStream, port: u16) -> io::Result<()> {
    // The server sends nothing more before it gets an answer, so nothing is lost in the buffer.
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let wanted = request.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    if !wanted.ends_with(&format!(":{port}")) {
        return stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    }
    let kubelet = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut from, mut to) = (stream.try_clone()?, kubelet.try_clone()?);
    let there = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut &kubelet, &mut stream);
    let _ = stream.shutdown(Shutdown::Both);
    let _ = there.join();
    Ok(())
}
