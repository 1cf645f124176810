//! A JSON document with the position of every value.

/// A position in the original file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// 1-based.
    pub line: usize,
    /// 1-based, in bytes.
    pub column: usize,
    /// 0-based, in bytes.
    pub offset: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The first to the last byte of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: Position,
    pub end: Position,
}

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    pub span: Span,
    pub value: Json,
}

/// A JSON value. Members keep their order and their duplicates.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    String(String),
    Array(Vec<Located>),
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub key: String,
    pub key_place: Position,
    pub value: Located,
}

impl Located {
    /// The member that Go reads under this name: the last one, exact spelling before other case.
    pub fn get(&self, key: &str) -> Option<&Located> {
        let Json::Object(members) = &self.value else { return None };
        let last = |same: &dyn Fn(&str) -> bool| members.iter().rev().find(|member| same(&member.key));
        last(&|name| name == key).or_else(|| last(&|name| name.eq_ignore_ascii_case(key))).map(|member| &member.value)
    }

    /// The last member with exactly this name.
    pub fn get_exact(&self, key: &str) -> Option<&Located> {
        let Json::Object(members) = &self.value else { return None };
        members.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Json::String(text) => Some(text),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Located]> {
        match &self.value {
            Json::Array(items) => Some(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => None,
        }
    }

    /// The value without positions; of duplicate members, the last one.
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.value {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            Json::String(text) => Value::String(text.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Located::to_value).collect()),
            Json::Object(members) => {
                Value::Object(members.iter().map(|member| (member.key.clone(), member.value.to_value())).collect())
            }
        }
    }

    /// Go's name for the kind of value in error messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Json::Null => "null",
            Json::Bool(_) => "bool",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }
}
