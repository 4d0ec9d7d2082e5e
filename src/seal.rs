//! Texts that this program writes for others (hooks, units, a line of a table), sealed with a checksum: any later version
//! knows its own, and whether somebody has changed them since.

use gix::objs::Kind;

use crate::error::{Error, Result, chain};

/// The checksum of a text.
///
/// # Errors
/// When it cannot be made.
pub fn sum(text: &[u8]) -> Result<String> {
    let sum = gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, text);
    sum.map(|id| id.to_string()).map_err(|error| Error::failed("checksum", chain(&error)))
}

/// A text whose first lines are `head`, which ends where the checksum of `body` begins; `end` closes that line.
///
/// # Errors
/// When the checksum cannot be made.
pub fn seal(head: &str, body: &[u8], end: &str) -> Result<Vec<u8>> {
    Ok([head.as_bytes(), sum(body)?.as_bytes(), end.as_bytes(), body].concat())
}

/// Whether a text was sealed with this head and end: `Some(true)` as it was written, `Some(false)` changed since.
///
/// # Errors
/// When the checksum cannot be made.
pub fn check(head: &str, text: &[u8], end: &str) -> Result<Option<bool>> {
    let Some(rest) = text.strip_prefix(head.as_bytes()) else { return Ok(None) };
    let Some((claimed, rest)) = rest.split_at_checked(40) else { return Ok(Some(false)) };
    let Some(body) = rest.strip_prefix(end.as_bytes()) else { return Ok(Some(false)) };
    Ok(Some(claimed == sum(body)?.as_bytes()))
}
