//! `git worktree lock`.

use std::path::Path;

use gix::bstr::{BString, ByteSlice as _};

use super::files;
use crate::error::Result;
use crate::lease::lock_reason;
use crate::model::{Lock, Registration};

/// The lock of a registration, with its reason as written.
///
/// # Errors
/// When the lock file cannot be read.
pub fn lock(registration: &Registration) -> Result<Option<Lock>> {
    let reason = files::read(&registration.git_dir.join("locked"))?;
    Ok(reason.map(|reason| {
        let reason = BString::from(reason.trim());
        let places: Vec<&Path> =
            std::iter::once(registration.git_dir.as_path()).chain(registration.path.as_deref()).collect();
        Lock { kind: lock_reason::judge(reason.as_ref(), &places), reason }
    }))
}
