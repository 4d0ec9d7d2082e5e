//! `git worktree lock`.

use gix::bstr::{BStr, BString, ByteSlice as _};

use super::files;
use crate::error::Result;
use crate::model::{Lock, LockKind, Registration};

/// The lock of a registration, with its reason as written.
///
/// # Errors
/// When the lock file cannot be read.
pub(super) fn lock(registration: &Registration) -> Result<Option<Lock>> {
    let reason = files::read(&registration.git_dir.join("locked"))?;
    Ok(reason.map(|reason| {
        let reason = BString::from(reason.trim());
        Lock { kind: kind(reason.as_ref()), reason }
    }))
}

fn kind(reason: &BStr) -> LockKind {
    if reason == "initializing" {
        LockKind::Initializing
    } else if reason.starts_with(b"git-shadow undo ") {
        LockKind::Undone
    } else if reason.starts_with(b"git-shadow ") {
        LockKind::Releasing
    } else {
        LockKind::ByHand
    }
}
