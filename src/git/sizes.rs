//! Sizes of blobs, asked of the object database once for all worktrees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use gix::ObjectId;

use crate::error::{Error, Result, chain};
use crate::sys::threads::locked;

/// What was asked so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Sizes(Arc<Mutex<HashMap<ObjectId, u64>>>);

impl Sizes {
    /// The size of an object.
    ///
    /// # Errors
    /// When there is no such object, or it cannot be read.
    pub(super) fn of(&self, gix: &gix::Repository, id: ObjectId) -> Result<u64> {
        if let Some(size) = locked(&self.0).get(&id) {
            return Ok(*size);
        }
        let size = gix.find_header(id).map_err(|e| Error::failed("object", chain(&e)))?.size();
        locked(&self.0).insert(id, size);
        Ok(size)
    }
}
