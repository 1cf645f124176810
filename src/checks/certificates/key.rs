//! Whether a Secret's private key belongs to its certificate, as it was computed when the key was dropped.

use crate::checks::Context;
use crate::item::Item;
use crate::missing::Missing;
use crate::model::objects::Secret;
use crate::redact::{KEY_MATCHES, KeyMatches};
use crate::source::Why;

/// What was computed.
pub(super) fn matches(secret: &Secret) -> KeyMatches {
    match secret.metadata.annotation(KEY_MATCHES) {
        Some("true") => KeyMatches::True,
        Some("false") => KeyMatches::False,
        Some(_) | None => KeyMatches::Unknown,
    }
}

/// Where nothing could be computed: a dump without the key, or a form of key that is not understood here. Nobody asked for
/// the key, so this is no evidence that was refused.
pub(super) fn not_known(ctx: &Context<'_>, item: Item) -> Missing {
    ctx.lacking(item, Why::NotOffered, "whether its private key belongs to its certificate")
}
