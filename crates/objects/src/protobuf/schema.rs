//! Schemas for reading kinds of objects from protobuf: the fields that are read, with number and JSON form.
//! The numbers are defined in `k8s.io/api` and `k8s.io/apimachinery` (`generated.proto` of meta/v1, core/v1,
//! apps/v1 and batch/v1), where a number is never reused. The fields are listed with each kind.

/// The fields of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name in the Kubernetes API: `PodSpec`.
    pub name: &'static str,
    /// The fields that are read.
    pub fields: &'static [Field],
}

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub number: u64,
    /// Its name in JSON.
    pub name: &'static str,
    /// Its type.
    pub holds: Holds,
}

/// The type of a field.
#[derive(Debug, PartialEq, Eq)]
pub enum Holds {
    /// A text. API servers also write empty ones; JSON omits them, and so does this reader.
    Text,
    /// A number. The server only omits it if null is a distinct value.
    Number,
    /// A boolean. The server only omits it if null is a distinct value.
    Bool,
    /// A time; the zero time is `null` in JSON.
    Time,
    /// A message.
    One(&'static Schema),
    /// Messages.
    Many(&'static Schema),
    Texts,
    /// Texts by name.
    Map,
    /// Quantities by name: messages with a text as their first field, which is their JSON form.
    Quantities,
    /// A message whose fields belong to the containing message in JSON.
    Inline(&'static Schema),
    /// An `IntOrString`.
    NumberOrText,
}

impl Schema {
    /// The field of that number, if it is read.
    pub(super) fn field(&self, number: u64) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

/// Declares schemas: `POD "Pod" { 1 metadata: One(&META), }`.
macro_rules! schemas {
    ($( $static:ident $name:literal { $( $number:literal $field:ident: $holds:ident $(($of:expr))?, )* } )*) => { $(
        pub static $static: $crate::protobuf::Schema = $crate::protobuf::Schema {
            name: $name,
            fields: &[ $( $crate::protobuf::schema::Field {
                number: $number,
                name: stringify!($field),
                holds: $crate::protobuf::schema::Holds::$holds $(($of))?,
            }, )* ],
        };
    )* };
}

pub(crate) use schemas;
