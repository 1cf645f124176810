//! Parses kubeconfigs, for several modules and parts. They may contain keys and tokens, so errors do not quote them.

use serde::de::DeserializeOwned;

/// Real ones have one to three kilobytes.
const MAX_KUBECONFIG: usize = 1 << 20;

/// The parts of a raw kubeconfig that `T` defines.
///
/// # Errors
/// It is not a kubeconfig. The text does not quote it.
pub fn parse<T: DeserializeOwned>(content: &[u8]) -> Result<T, String> {
    if content.len() > MAX_KUBECONFIG {
        return Err(format!("larger than {MAX_KUBECONFIG} bytes"));
    }
    if content.trim_ascii().is_empty() {
        return Err("the file is empty".to_owned());
    }
    let text = std::str::from_utf8(content).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    serde_saphyr::from_str(text).map_err(|error| match error.location() {
        Some(place) => format!("not a kubeconfig: line {}, column {}", place.line(), place.column()),
        None => "not a kubeconfig".to_owned(),
    })
}
