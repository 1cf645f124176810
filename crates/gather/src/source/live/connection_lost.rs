//! Reasons for connection failures, found in the chain of an error's sources.

use std::error::Error;
use std::io;

use super::quote::quote;

/// Reason for an incomplete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// Connection refused.
    Refused,
    /// Unknown host name.
    NoSuchHost { message: String },
    /// The network is unreachable.
    Unreachable { message: String },
    /// Connection timeout.
    ConnectTimedOut,
    /// The kubeconfig does not trust the server's certificate.
    Certificate { message: String },
    /// Another TLS error.
    Tls { message: String },
    /// The proxy refused.
    Proxy { message: String },
    /// The connection ended before the response.
    Cut,
    /// The response is endless or too large.
    TooLarge {
        /// Limit in bytes.
        limit: usize,
    },
    /// Another reason.
    Other { message: String },
}

impl Broken {
    /// Whether a retry may help.
    pub(super) fn may_pass(&self, settled: bool) -> bool {
        match self {
            Broken::Cut => true,
            Broken::Refused => settled,
            Broken::NoSuchHost { .. }
            | Broken::Unreachable { .. }
            | Broken::ConnectTimedOut
            | Broken::Certificate { .. }
            | Broken::Tls { .. }
            | Broken::Proxy { .. }
            | Broken::TooLarge { .. }
            | Broken::Other { .. } => false,
        }
    }

    /// Whether the server is unreachable, in contrast to a wrong response.
    pub(super) fn is_unanswered(&self) -> bool {
        match self {
            Broken::Refused
            | Broken::NoSuchHost { .. }
            | Broken::Unreachable { .. }
            | Broken::ConnectTimedOut
            | Broken::Proxy { .. }
            | Broken::Cut => true,
            Broken::Certificate { .. }
            | Broken::Tls { .. }
            | Broken::TooLarge { .. }
            | Broken::Other { .. } => false,
        }
    }

    /// Description, for the request that fails because of it.
    pub(super) fn words(&self) -> String {
        match self {
            Broken::Refused => "the connection was refused".to_owned(),
            Broken::ConnectTimedOut => "the connection timed out".to_owned(),
            Broken::Cut => "the connection ended in the middle of the response".to_owned(),
            Broken::Certificate { message } => format!("the server's certificate is not trusted: {message}"),
            Broken::Tls { message } => format!("TLS failed: {message}"),
            Broken::Proxy { message } => format!("the proxy refused: {message}"),
            Broken::TooLarge { limit } => {
                let (size, unit) = match limit / (1024 * 1024) {
                    0 => (limit / 1024, "KB"),
                    megabytes => (megabytes, "MB"),
                };
                format!("the response is larger than {size} {unit}")
            }
            Broken::NoSuchHost { message } | Broken::Unreachable { message } | Broken::Other { message } => {
                message.clone()
            }
        }
    }
}

/// Finds the reason in an error of the client.
pub(super) fn broken(error: &(dyn Error + 'static)) -> Broken {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = known(cause) {
            return found;
        }
        let text = cause.to_string();
        // Wrapping errors repeat the wrapped text.
        texts.retain(|earlier| !earlier.contains(&text));
        texts.push(text);
        next = cause.source();
    }
    if texts.iter().any(|text| text.starts_with("dns error") || text.contains("failed to lookup address")) {
        return Broken::NoSuchHost { message: quote(texts.last().map_or("", String::as_str), 200) };
    }
    if let Some(text) = texts.iter().find(|text| text.starts_with("tunnel error")) {
        return Broken::Proxy { message: quote(text, 200) };
    }
    Broken::Other { message: quote(&texts.join(": "), 300) }
}

fn known(cause: &(dyn Error + 'static)) -> Option<Broken> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls_trouble(tls));
    }
    if let Some(http) = cause.downcast_ref::<hyper::Error>()
        && (http.is_incomplete_message() || http.is_canceled() || http.is_closed())
    {
        return Some(Broken::Cut);
    }
    let io = cause.downcast_ref::<io::Error>()?;
    // The source of an io::Error is that of its inner error, not the inner error itself.
    if let Some(inner) = io.get_ref()
        && let Some(found) = known(inner)
    {
        return Some(found);
    }
    match io.kind() {
        io::ErrorKind::ConnectionRefused => Some(Broken::Refused),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some(Broken::Cut),
        io::ErrorKind::TimedOut => Some(Broken::ConnectTimedOut),
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable => {
            Some(Broken::Unreachable { message: quote(&io.to_string(), 200) })
        }
        _ => None,
    }
}

fn tls_trouble(error: &rustls::Error) -> Broken {
    use rustls::{CertificateError, Error};
    match error {
        Error::InvalidCertificate(reason) => Broken::Certificate {
            message: match reason {
                // A wrong signature means an authority of the same name in another cluster.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    "it is signed by an authority that is not in the kubeconfig".to_owned()
                }
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    "it has expired".to_owned()
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    "it is not valid yet (check the clock of this machine)".to_owned()
                }
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    "it is for another host name than the server in the kubeconfig".to_owned()
                }
                other => quote(&other.to_string(), 200),
            },
        },
        Error::InvalidMessage(_) => Broken::Tls { message: "the server does not use TLS".to_owned() },
        other => Broken::Tls { message: quote(&other.to_string(), 200) },
    }
}
