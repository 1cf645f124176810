//! How a kind of object is read from protobuf: which of its fields, by their numbers, and how their JSON looks. The numbers stand
//! in `k8s.io/api` and `k8s.io/apimachinery` (`generated.proto` of meta/v1, core/v1, apps/v1 and batch/v1), where a number is never
//! given twice. Which fields there are stands with each kind.

/// The fields of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// As in the Kubernetes API: `PodSpec`.
    pub name: &'static str,
    /// Those that are read.
    pub fields: &'static [Field],
}

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub number: u64,
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// What a field holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Holds {
    /// A text. API servers write it also where it is empty; JSON leaves that out, and so is it left out here.
    Text,
    /// A number. Where none is a value of its own, it is not written.
    Number,
    /// True or false. Where none is a value of its own, it is not written.
    Bool,
    /// A time; an empty one is JSON's `null`.
    Time,
    /// A message.
    One(&'static Schema),
    /// Messages.
    Many(&'static Schema),
    /// Texts.
    Texts,
    /// Texts by name.
    Map,
    /// Quantities by name: messages with a text as their first field, which JSON writes as that text.
    Quantities,
    /// A message whose fields JSON writes among those of the message that holds it.
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
        pub(crate) static $static: $crate::protobuf::Schema = $crate::protobuf::Schema {
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
