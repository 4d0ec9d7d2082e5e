//! Refs that only this worktree sees (`refs/worktree/*`, `refs/bisect/*`, `refs/rewritten/*`): they go with the registration.

use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use super::files::{self, Kind, full, join};
use super::worktree::Scene;
use crate::error::{Error, Result, chain};
use crate::model::Registration;

/// Private refs that reach objects which no branch, tag or remote-tracking ref keeps.
///
/// # Errors
/// When a ref or an object cannot be read.
pub fn unkept(scene: Scene<'_>, registration: &Registration) -> Result<Vec<BString>> {
    let mut refs = Vec::new();
    for space in ["refs/worktree", "refs/bisect", "refs/rewritten"] {
        collect(&registration.git_dir.join(space), space.into(), &mut refs)?;
    }
    let mut unkept = Vec::new();
    for (name, id) in refs {
        if !is_kept(scene, id)? {
            unkept.push(name);
        }
    }
    unkept.sort();
    Ok(unkept)
}

/// Private refs are always loose. Symbolic ones keep nothing themselves.
fn collect(dir: &Path, name: &BStr, refs: &mut Vec<(BString, ObjectId)>) -> Result<()> {
    for (last, kind) in files::list(dir)? {
        let (path, name) = (full(dir, last.as_ref())?, join(name, last.as_ref()));
        if kind == Kind::Directory {
            collect(&path, name.as_ref(), refs)?;
        } else if !name.ends_with(b".lock") {
            let value = fs_err::read(path)?;
            if !value.starts_with(b"ref:") {
                let id = ObjectId::from_hex(value.trim())
                    .map_err(|_| Error::failed("ref", format!("'{name}' holds no object id")))?;
                refs.push((name, id));
            }
        }
    }
    Ok(())
}

/// Whether refs that stay reach the object. Only commits (and tags of commits) can be told to be.
fn is_kept(scene: Scene<'_>, id: ObjectId) -> Result<bool> {
    let object = scene.gix.find_object(id).map_err(|e| Error::failed("object", chain(&e)))?;
    let Ok(commit) = object.peel_to_commit() else { return Ok(false) };
    if commit.id != id {
        return Ok(false);
    }
    let args = ["rev-list", "--max-count=1", &id.to_string(), "--not", "--branches", "--tags", "--remotes"];
    Ok(scene.repo.git(args).run()?.is_empty())
}
