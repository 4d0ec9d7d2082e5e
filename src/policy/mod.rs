//! `.shadowrc` and the user's file: strict, layered, every value with its source (DESIGN section 7).

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Result;
use crate::git::Repository;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Built in.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The repository's `.shadowrc`: a path, or `<base>:.shadowrc` when it was read from the base's tree.
    Repo(String),
    /// An option on the command line.
    Option,
}

/// A value with all the sources that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it came from; several for a union.
    pub from: Vec<Source>,
}

impl<T> std::ops::Deref for Sourced<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// How long what kind of shadow is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graces {
    /// No work of its own.
    pub unused: Sourced<Duration>,
    /// On a remote, not landed.
    pub pushed: Sourced<Duration>,
    /// Its lease died unfinished.
    pub dead: Sourced<Duration>,
    /// Its files are gone.
    pub purged: Sourced<Duration>,
    /// Landed.
    pub landed: Sourced<Duration>,
}

/// The policy that one repository is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// `base`
    pub base: Sourced<Vec<String>>,
    /// `remotes`
    pub remotes: Sourced<Vec<String>>,
    /// `protect`
    pub protect: Sourced<Vec<String>>,
    /// `keep`
    pub keep: Sourced<Duration>,
    /// `shadows.branches`
    pub branches: Sourced<Vec<String>>,
    /// `shadows.roots`, expanded: globs of absolute paths
    pub roots: Sourced<Vec<String>>,
    /// `grace.*`
    pub grace: Graces,
    /// `landing.pushed`
    pub landing_pushed: Sourced<bool>,
    /// `ignored.disposable`
    pub disposable: Sourced<Vec<String>>,
    /// `ignored.save`
    pub ignored_save: Sourced<Vec<String>>,
    /// `untracked.save`
    pub untracked_save: Sourced<Vec<String>>,
    /// `purged.roots`
    pub purged_roots: Sourced<Vec<PathBuf>>,
    /// `locks.stale = "release"`
    pub stale_locks_release: Sourced<bool>,
    /// `hooks.post-merge`
    pub hook_post_merge: Sourced<bool>,
    /// `hooks.pre-push`
    pub hook_pre_push: Sourced<bool>,
}

/// The policy for `repo`: defaults, the user's file, the repository's.
///
/// # Errors
/// 128 with line, column and the nearest key for an unknown key or a bad value.
pub fn load(_repo: &Repository) -> Result<Policy> {
    Err(crate::error::Error::fatal("bad-policy", "not loaded yet"))
}

impl Policy {
    /// Whether `shadows.branches` covers this full branch name.
    pub fn is_shadow_branch(&self, name: &gix::bstr::BStr) -> bool {
        name.starts_with(b"refs/heads/aos/")
    }

    /// Whether a worktree at this path is under one of `shadows.roots`.
    pub fn is_under_root(&self, _path: &std::path::Path) -> bool {
        false
    }
}
