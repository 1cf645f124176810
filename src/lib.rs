//! meshdoctor
