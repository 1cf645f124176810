//! `protocols.yaml`: protocols that protocol detection delays, how to recognize them, and the chart's default opaque
//! ports.

use serde::Deserialize;

use super::file::KnowledgeFile;

/// Which side sends the first byte of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    Server,
    /// It depends.
    Perhaps,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownProtocol {
    /// Name of the row.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// Which side sends the first byte.
    pub first: First,
    /// Its usual ports.
    pub ports: Vec<u16>,
    names: Vec<String>,
    images: Vec<String>,
}

impl KnownProtocol {
    /// Whether a port's name or appProtocol names it.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        // `mysql`, `mysql-0`, `tcp-mysql`; but not `mysqlx-metrics` or `http-nats`.
        let mut parts = name.split(['-', '_', '.', '/']).peekable();
        if parts.peek() == Some(&"tcp") {
            parts.next();
        }
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        let of_another = rest.iter().any(|part| {
            ["metrics", "exporter", "http", "monitor", "monitoring", "admin", "mgmt", "management"].contains(part)
        });
        !of_another && self.names.iter().any(|known| known == first)
    }

    /// Whether an image is a server of it.
    pub fn is_image(&self, image: &str) -> bool {
        let path = image.split('@').next().unwrap_or_default();
        let last = path.rsplit('/').next().unwrap_or_default();
        let name = last.split(':').next().unwrap_or_default();
        // The image named only `server` is identified by its path.
        let known = |known: &String| match known.as_str() {
            "server" => path.contains("mssql/server"),
            known => known == name,
        };
        self.images.iter().any(known)
    }
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Protocols {
    source: String,
    #[expect(dead_code, reason = "for readers of the file")]
    date: jiff::civil::Date,
    /// Default opaque ports of the chart.
    pub default_opaque: Vec<u16>,
    /// The known protocols.
    pub protocols: Vec<KnownProtocol>,
}

impl KnowledgeFile for Protocols {
    const NAME: &'static str = "protocols.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/protocols.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() || self.default_opaque.is_empty() {
            return Err("a source and the default are needed".to_owned());
        }
        match self.protocols.iter().find(|row| row.ports.is_empty() && row.names.is_empty()) {
            Some(row) => Err(format!("{}: nothing identifies it", row.id)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;

    #[test]
    fn protocols_are_detected_by_name_and_image() {
        let known = Knowledge::embedded().protocols();
        let named = |text: &str| known.protocols.iter().find(|row| row.is_named(text)).map(|row| row.id.as_str());
        for (text, id) in [
            ("mysql", Some("mysql")),
            ("tcp-mysql", Some("mysql")),
            ("smtp-relay", Some("smtp")),
            ("mysql-metrics", None),
            ("http-nats", None),
            ("mysqlx", None),
            ("", None),
        ] {
            assert_eq!(named(text), id, "{text}");
        }
        let image = |text: &str| known.protocols.iter().find(|row| row.is_image(text)).map(|row| row.id.as_str());
        for (text, id) in [
            ("mysql:8", Some("mysql")),
            ("docker.io/bitnami/mariadb:11@sha256:00", Some("mysql")),
            ("localhost:5000/nats", Some("nats")),
            ("mcr.microsoft.com/mssql/server:2022", Some("mssql")),
            ("example.com/shop/server:1", None),
            ("prom/mysqld-exporter:1", None),
        ] {
            assert_eq!(image(text), id, "{text}");
        }
    }
}
