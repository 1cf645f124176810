//! Reasons for connection failures, found in the chain of an error's sources.

use std::error::Error;
use std::io;

use super::quote::quote;

/// Reason for an incomplete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectionError {
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

impl ConnectionError {
    /// Whether a retry may help.
    pub(super) fn may_pass(&self, settled: bool) -> bool {
        match self {
            ConnectionError::Cut => true,
            ConnectionError::Refused => settled,
            ConnectionError::NoSuchHost { .. }
            | ConnectionError::Unreachable { .. }
            | ConnectionError::ConnectTimedOut
            | ConnectionError::Certificate { .. }
            | ConnectionError::Tls { .. }
            | ConnectionError::Proxy { .. }
            | ConnectionError::TooLarge { .. }
            | ConnectionError::Other { .. } => false,
        }
    }

    /// Whether the server is unreachable, in contrast to a wrong response.
    pub(super) fn is_unanswered(&self) -> bool {
        match self {
            ConnectionError::Refused
            | ConnectionError::NoSuchHost { .. }
            | ConnectionError::Unreachable { .. }
            | ConnectionError::ConnectTimedOut
            | ConnectionError::Proxy { .. }
            | ConnectionError::Cut => true,
            ConnectionError::Certificate { .. }
            | ConnectionError::Tls { .. }
            | ConnectionError::TooLarge { .. }
            | ConnectionError::Other { .. } => false,
        }
    }

    /// Description, for the request that fails because of it.
    pub(super) fn words(&self) -> String {
        match self {
            ConnectionError::Refused => "the connection was refused".to_owned(),
            ConnectionError::ConnectTimedOut => "the connection timed out".to_owned(),
            ConnectionError::Cut => "the connection ended in the middle of the response".to_owned(),
            ConnectionError::Certificate { message } => {
                format!("the server's certificate is not trusted: {message}")
            }
            ConnectionError::Tls { message } => format!("TLS failed: {message}"),
            ConnectionError::Proxy { message } => format!("the proxy refused: {message}"),
            ConnectionError::TooLarge { limit } => {
                let (size, unit) = match limit / (1024 * 1024) {
                    0 => (limit / 1024, "KB"),
                    megabytes => (megabytes, "MB"),
                };
                format!("the response is larger than {size} {unit}")
            }
            ConnectionError::NoSuchHost { message }
            | ConnectionError::Unreachable { message }
            | ConnectionError::Other { message } => message.clone(),
        }
    }
}

/// Finds the reason in an error of the client.
pub(super) fn broken(error: &(dyn Error + 'static)) -> ConnectionError {
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
        return ConnectionError::NoSuchHost { message: quote(texts.last().map_or("", String::as_str), 200) };
    }
    if let Some(text) = texts.iter().find(|text| text.starts_with("tunnel error")) {
        return ConnectionError::Proxy { message: quote(text, 200) };
    }
    ConnectionError::Other { message: quote(&texts.join(": "), 300) }
}

fn known(cause: &(dyn Error + 'static)) -> Option<ConnectionError> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls_trouble(tls));
    }
    if let Some(http) = cause.downcast_ref::<hyper::Error>()
        && (http.is_incomplete_message() || http.is_canceled() || http.is_closed())
    {
        return Some(ConnectionError::Cut);
    }
    let io = cause.downcast_ref::<io::Error>()?;
    // The source of an io::Error is that of its inner error, not the inner error itself.
    if let Some(inner) = io.get_ref()
        && let Some(found) = known(inner)
    {
        return Some(found);
    }
    match io.kind() {
        io::ErrorKind::ConnectionRefused => Some(ConnectionError::Refused),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some(ConnectionError::Cut),
        io::ErrorKind::TimedOut => Some(ConnectionError::ConnectTimedOut),
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable => {
            Some(ConnectionError::Unreachable { message: quote(&io.to_string(), 200) })
        }
        _ => None,
    }
}

fn tls_trouble(error: &rustls::Error) -> ConnectionError {
    use rustls::{CertificateError, Error};
    match error {
        Error::InvalidCertificate(reason) => ConnectionError::Certificate {
            message: match reason {
                // A wrong signature means an authority of the same name in another cluster.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    "it is signed by an authority that is not in the kubeconfig".to_owned()
                }
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    "it is not valid yet (check the clock of this machine)".to_owned()
                }
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    "it is for another host name than the server in the kubeconfig".to_owned()
                }
                other => quote(&other.to_string(), 200),
            },
        },
        Error::InvalidMessage(_) => ConnectionError::Tls { message: "the server does not use TLS".to_owned() },
        other => ConnectionError::Tls { message: quote(&other.to_string(), 200) },
    }
}
