//! Dropping what is past its time. Only this is irreversible, so it proves again: a pin goes only when what it keeps is
//! reachable without it, has landed, or was reflog history only.

use gix::ObjectId;

use super::{pins, reach, sweep};
use crate::error::{Error, Result, chain};
use crate::git::Repository;
use crate::journal::{Item, NamedRef, Operation};
use crate::sys::tree;

/// What can be shown of what a pin keeps.
pub trait Proof {
    /// Whether the commits have landed, as far as this run may rely on it; in their order.
    ///
    /// # Errors
    /// When it cannot be told.
    fn landed(&mut self, commits: &[ObjectId]) -> Result<Vec<bool>>;

    /// Whether a ref of this name may be relied on to keep something.
    fn keeps(&self, name: &[u8]) -> bool;
}

/// What became of an operation that is past its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expired {
    /// It is gone.
    Dropped,
    /// It stays, with so many pins that nothing else keeps, or because it is not finished.
    Kept(String),
}

/// Every pin of an operation that is there.
///
/// # Errors
/// When the refs cannot be listed.
pub fn pins_of(repo: &Repository, operation: &str) -> Result<Vec<NamedRef>> {
    let unread = |e: &dyn std::error::Error| Error::failed("refs", format!("cannot read the refs: {}", chain(e)));
    let local = repo.local();
    let platform = local.references().map_err(|e| unread(&e))?;
    let prefix = format!("refs/shadow/kept/{operation}/");
    let mut found = Vec::new();
    for reference in platform.prefixed(prefix.as_str()).map_err(|e| unread(&e))? {
        let reference = reference.map_err(|e| Error::failed("refs", format!("cannot read a ref: {e}")))?;
        if let Some(at) = reference.target().try_id() {
            found.push(NamedRef { name: reference.name().as_bstr().to_owned(), at: at.to_owned() });
        }
    }
    Ok(found)
}

/// Drop an operation, or what of it nothing needs. The repository's lock must be held.
///
/// # Errors
/// When something cannot be read or deleted; what is pinned then stays.
pub fn expire(repo: &Repository, operation: &Operation, proof: &mut dyn Proof) -> Result<Expired> {
    if !operation.items.iter().all(Item::is_settled) {
        return Ok(Expired::Kept("it is not finished".into()));
    }
    for item in &operation.items {
        if let Some(hidden) = item.intent.worktree.as_ref().and_then(|worktree| worktree.hidden())
            && tree::stat(&hidden)?.is_some()
        {
            return Ok(Expired::Kept(format!("files that nothing proves are in '{}'", hidden.display())));
        }
    }
    let pins = pins_of(repo, &operation.header.operation)?;
    let mut unneeded = Vec::new();
    let mut needed = Vec::new();
    for pin in pins {
        let history = pin.name.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name.starts_with(b"reflog-"));
        if history || reach::is_reached(repo, pin.at, |name| !name.starts_with(b"refs/shadow/") && proof.keeps(name))? {
            unneeded.push(pin);
        } else {
            needed.push(pin);
        }
    }
    let tips: Vec<ObjectId> = needed.iter().map(|pin| pin.at).collect();
    let landed = proof.landed(&tips)?;
    let (more, needed): (Vec<_>, Vec<_>) = needed.into_iter().zip(landed).partition(|(_, landed)| *landed);
    unneeded.extend(more.into_iter().map(|(pin, _)| pin));
    pins::drop(repo, &unneeded)?;
    if !needed.is_empty() {
        let what = if needed.len() == 1 { "one pin keeps" } else { "pins keep" };
        return Ok(Expired::Kept(format!("{} {what} what nothing else is shown to keep", needed.len())));
    }
    sweep::remove_folder(&operation.dir)?;
    Ok(Expired::Dropped)
}
