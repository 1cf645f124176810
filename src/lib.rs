//! meshdoctor

pub mod version;
