//! Own leases that are over: the process is provably gone, and so is the registration.

use gix::bstr::{BString, ByteSlice as _};

use super::own;
use crate::error::Result;
use crate::git::Repository;
use crate::journal::Turns;
use crate::model::bytes;
use crate::sys::{clock, tree};

/// A lease that was taken so lately may belong to a worktree that is only being made.
const JUST_TAKEN: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// Remove them, as far as it is their turn. One that cannot be read or removed stays.
///
/// # Errors
/// When the folder cannot be listed or the turn cannot be kept.
pub fn sweep(repo: &Repository, turns: &mut Turns) -> Result<()> {
    let shadow_dir = repo.shadow_dir();
    let mut names = Vec::new();
    match fs_err::read_dir(own::folder(&shadow_dir)) {
        Ok(entries) => {
            for entry in entries {
                let name = entry?.file_name();
                names.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(ToOwned::to_owned));
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    turns.each("leases", names, |name| {
        if let Some(id) = bytes::decode(name)
            && is_over(repo, &id).unwrap_or(false)
        {
            // What cannot be removed now is seen again when its turn comes.
            let _ = fs_err::remove_file(own::path_of(&shadow_dir, id.as_bstr()));
        }
    })
}

fn is_over(repo: &Repository, id: &BString) -> Result<bool> {
    let shadow_dir = repo.shadow_dir();
    let Some(lease) = own::find(&shadow_dir, id.as_bstr())? else { return Ok(false) };
    let newest = lease.finished.unwrap_or(lease.acquired).max(lease.acquired);
    if clock::now().duration_since(newest) < JUST_TAKEN {
        return Ok(false);
    }
    let registration = repo.common_dir().join("worktrees").join(id.to_path_lossy());
    Ok(tree::stat(&registration)?.is_none()
        && lease.holder.may_live(&own::path_of(&shadow_dir, id.as_bstr())).is_none())
}
