//! Changing refs: one `git update-ref --stdin -z` transaction, all or nothing, every old value named.
//!
//! gix 0.90 can lose unrelated refs beside a running `git pack-refs`; git does not.

use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::{BStr, BString};

use super::Repository;
use crate::error::{Error, Result, chain};
use crate::sys::file;

/// One line of a transaction; never through a symbolic ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefEdit {
    /// The ref must have this value.
    Verify(BString, ObjectId),
    /// The ref must not exist; make it.
    Create(BString, ObjectId),
    /// The ref must have the old value (last); give it the new one.
    Update(BString, ObjectId, ObjectId),
    /// The ref must have this value; delete it.
    Delete(BString, ObjectId),
}

/// All of it or nothing, with `message` as the reflog entry.
///
/// # Errors
/// git's own message when a ref does not have its expected value or is locked.
pub fn update_refs(repo: &Repository, edits: &[RefEdit], message: &str) -> Result<()> {
    transact(repo, edits, &["update-ref", "-m", message, "--stdin", "-z"])
}

fn transact(repo: &Repository, edits: &[RefEdit], command: &[&str]) -> Result<()> {
    if edits.is_empty() {
        return Ok(());
    }
    let mut input = b"start\0".to_vec();
    for edit in edits {
        let mut line = |verb: &str, name: &BStr, oids: &[&ObjectId]| {
            input.extend_from_slice(b"option no-deref\0");
            input.extend_from_slice(verb.as_bytes());
            input.push(b' ');
            input.extend_from_slice(name);
            for oid in oids {
                input.push(0);
                input.extend_from_slice(oid.to_string().as_bytes());
            }
            input.push(0);
        };
        match edit {
            RefEdit::Verify(name, old) => line("verify", name.as_ref(), &[old]),
            RefEdit::Create(name, new) => line("create", name.as_ref(), &[new]),
            RefEdit::Update(name, new, old) => line("update", name.as_ref(), &[new, old]),
            RefEdit::Delete(name, old) => line("delete", name.as_ref(), &[old]),
        }
    }
    input.extend_from_slice(b"prepare\0commit\0");
    let head = head_of_our_own(repo)?;
    repo.git(command).env("GIT_DIR", head).input(input).run().map(|_| ())
}

/// A git directory with nothing but a detached HEAD. For a `verify` of the branch that HEAD is on, git (2.47) writes an
/// entry into HEAD's reflog that says HEAD went to nothing.
fn head_of_our_own(repo: &Repository) -> Result<PathBuf> {
    let dir = repo.shadow_dir().join("transaction");
    let nothing = format!("{}\n", ObjectId::null(repo.local().object_hash()));
    for (name, text) in [("commondir", "../..\n"), ("HEAD", nothing.as_str())] {
        let path = dir.join(name);
        if !fs_err::read(&path).is_ok_and(|now| now == text.as_bytes()) {
            fs_err::create_dir_all(&dir)?;
            file::write_atomically(&path, text.as_bytes(), file::Access::Umask)?;
        }
    }
    Ok(dir)
}

/// What a ref points at, never through a symbolic one; `None` when there is no such ref.
///
/// # Errors
/// When it is symbolic, or cannot be read.
pub fn read_ref(repo: &Repository, name: &BStr) -> Result<Option<ObjectId>> {
    let unread = |why: String| Error::failed("ref", format!("cannot read '{name}': {why}"));
    let local = repo.local();
    match local.try_find_reference(name).map_err(|e| unread(chain(&e)))? {
        None => Ok(None),
        Some(found) if found.name().as_bstr() != name => Ok(None),
        Some(found) => match found.target().try_id() {
            Some(id) => Ok(Some(id.to_owned())),
            None => Err(unread("it is symbolic".into())),
        },
    }
}

/// Like [`update_refs`], but git writes no reflog of its own for refs that have none.
///
/// # Errors
/// As [`update_refs`].
pub fn create_without_reflog(repo: &Repository, edits: &[RefEdit]) -> Result<()> {
    transact(repo, edits, &["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin", "-z"])
}
