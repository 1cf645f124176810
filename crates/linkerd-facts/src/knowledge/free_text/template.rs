//! Parts of messages that programs print word for word, with typed holes: `serviceaccounts "{name}" not found`.

use serde::Deserialize;

/// Minimum length of the text in front of the first hole, so that a template cannot match by accident.
const SHORTEST: usize = 8;

/// A part of a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Template {
    /// The text before the first hole.
    pub start: String,
    /// Each hole with the text behind it.
    pub holes: Vec<(Hole, String)>,
}

/// The content of a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hole {
    /// The name of an object.
    Name,
    /// Lower-case hexadecimal digits of an id.
    Hex,
    /// Digits, or numbers between dots.
    Number,
    /// Blanks and line ends.
    Blank,
    /// The path of a request, as a probe of a container has it.
    Path,
    /// A host name or IP address, with a port.
    Host,
    /// Repository, and tag or digest, of an image, as a registry serves them.
    Image,
    /// A repository in a URL, with escaped slashes.
    Escaped,
    /// An image with its registry.
    Reference,
    /// The uid of an object.
    Uid,
    /// The kind of an object.
    Kind,
    /// The number of a temporary directory.
    Digits,
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Template, String> {
        let mut parts = text.split('{');
        let start = parts.next().unwrap_or_default().to_owned();
        if start.trim().len() < SHORTEST {
            return Err(format!("messages: {text:?} begins with fewer than {SHORTEST} characters of text"));
        }
        let hole = |part: &str| {
            let (name, behind) = part.split_once('}').ok_or_else(|| format!("messages: {text:?} has an open brace"))?;
            let hole = match name {
                "name" => Hole::Name,
                "hex" => Hole::Hex,
                "number" => Hole::Number,
                "blank" => Hole::Blank,
                "path" => Hole::Path,
                "host" => Hole::Host,
                "image" => Hole::Image,
                "escaped" => Hole::Escaped,
                "reference" => Hole::Reference,
                "uid" => Hole::Uid,
                "kind" => Hole::Kind,
                "digits" => Hole::Digits,
                other => return Err(format!("messages: {text:?} has an unknown hole {other:?}")),
            };
            Ok((hole, behind.to_owned()))
        };
        let holes = parts.map(hole).collect::<Result<Vec<_>, String>>()?;
        Ok(Template { start, holes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_has_text_and_known_holes() {
        let read = |text: &str| Template::try_from(text.to_owned());
        let template = read("serviceaccounts \"{name}\" not found").unwrap();
        assert_eq!(template.start, "serviceaccounts \"");
        assert_eq!(template.holes, [(Hole::Name, "\" not found".to_owned())]);
        for wrong in ["{name} not found", "a {name}", "serviceaccounts {nam}", "serviceaccounts {name"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
