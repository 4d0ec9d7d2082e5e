//! All branches and remote-tracking refs, read once.

use std::collections::BTreeMap;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result, chain};

/// What a ref holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An object.
    Object(ObjectId),
    /// Another ref.
    Symbolic(BString),
    /// It could not be read.
    Broken(String),
}

/// Full names with what they hold; names are compared as bytes.
#[derive(Debug, Clone, Default)]
pub struct Refs {
    /// `refs/heads/*`
    pub heads: BTreeMap<BString, Target>,
    /// `refs/remotes/*`
    pub remotes: BTreeMap<BString, Target>,
}

impl Refs {
    /// Read them.
    ///
    /// # Errors
    /// When they cannot be listed, or a ref is broken and cannot be told which.
    pub fn read(repo: &gix::Repository) -> Result<Refs> {
        Ok(Refs { heads: read_below(repo, "refs/heads/")?, remotes: read_below(repo, "refs/remotes/")? })
    }

    /// The object that a branch or remote-tracking ref points at, symbolic refs followed.
    pub fn resolve<'a>(&'a self, name: &'a BStr) -> Option<(&'a BStr, ObjectId)> {
        let mut name = name;
        // Five hops are what git allows too.
        for _ in 0..5 {
            match self.heads.get(name).or_else(|| self.remotes.get(name))? {
                Target::Object(id) => return Some((name, *id)),
                Target::Symbolic(next) => name = next.as_bstr(),
                Target::Broken(_) => return None,
            }
        }
        None
    }
}

fn read_below(repo: &gix::Repository, prefix: &str) -> Result<BTreeMap<BString, Target>> {
    let cannot = |e: &(dyn std::error::Error + 'static)| {
        Error::fatal("bad-refs", format!("cannot list '{prefix}': {}", chain(e)))
    };
    let mut refs = BTreeMap::new();
    let mut broken = Vec::new();
    for item in repo.references().map_err(|e| cannot(&e))?.prefixed(prefix).map_err(|e| cannot(&e))? {
        match item {
            Ok(reference) => {
                let target = match reference.target() {
                    gix::refs::TargetRef::Object(id) => Target::Object(id.to_owned()),
                    gix::refs::TargetRef::Symbolic(name) => Target::Symbolic(name.as_bstr().to_owned()),
                };
                refs.insert(reference.name().as_bstr().to_owned(), target);
            }
            Err(e) => broken.push(e.to_string()),
        }
    }
    if !broken.is_empty() {
        let found = broken_below(repo, prefix)?;
        if found.len() < broken.len() {
            return Err(Error::fatal("bad-refs", format!("cannot list '{prefix}': {}", broken.join("; "))));
        }
        refs.extend(found);
    }
    Ok(refs)
}

/// The iterator does not name a ref that it cannot read: look at every loose file.
fn broken_below(repo: &gix::Repository, prefix: &str) -> Result<Vec<(BString, Target)>> {
    let root = repo.common_dir().to_owned();
    let mut found = Vec::new();
    let mut folders = vec![root.join(prefix)];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if let Some((name, target)) = broken_file(repo, &root, &entry.path()) {
                found.push((name, target));
            }
        }
    }
    Ok(found)
}

fn broken_file(repo: &gix::Repository, root: &Path, file: &Path) -> Option<(BString, Target)> {
    let name = gix::path::to_unix_separators_on_windows(gix::path::into_bstr(file.strip_prefix(root).ok()?).ok()?)
        .into_owned();
    // A lock file, or what git would not take for a ref either.
    let full = gix::refs::FullName::try_from(name.as_bstr()).ok()?;
    let error = repo.try_find_reference(full.as_ref()).err()?;
    Some((name, Target::Broken(chain(&error))))
}
