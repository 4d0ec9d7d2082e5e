//! `.shadowrc` and the user's file: strict, layered, every value with its source (DESIGN section 7).

mod disposable;
mod duration;
mod file;
mod keys;
mod layers;
mod load;
mod pattern;
mod template;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::bstr::BStr;

pub use disposable::Disposable;
pub use keys::{KEYS, Key, Who};
pub use load::{FILE_NAME, NO_CHECKOUT, load, load_user, user_path};
pub(crate) use pattern::{matches_branch, matches_remote};
pub use template::{Proposal, template};

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

/// One key with its value, for `explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The dotted name.
    pub key: &'static str,
    /// The value as a file would have it.
    pub value: String,
    /// Where it came from.
    pub from: Vec<Source>,
}

impl Policy {
    /// What holds without any file.
    pub fn built_in() -> Policy {
        let days = |n: u64| Sourced::built_in(Duration::from_secs(n * 86_400));
        let none = || Sourced::built_in(Vec::new());
        let disposable = disposable::DIRECTORIES.iter().chain(disposable::FILES);
        Policy {
            base: Sourced::built_in(vec!["auto".to_owned()]),
            remotes: Sourced::built_in(vec!["*".to_owned()]),
            protect: none(),
            keep: days(30),
            branches: Sourced::built_in(vec!["aos/**".to_owned()]),
            roots: Sourced::built_in(session_roots()),
            grace: Graces { unused: days(1), pushed: days(3), dead: days(1), purged: days(1), landed: days(0) },
            landing_pushed: Sourced::built_in(false),
            disposable: Sourced::built_in(disposable.map(|name| (*name).to_owned()).collect()),
            ignored_save: none(),
            untracked_save: none(),
            purged_roots: Sourced::built_in(Vec::new()),
            stale_locks_release: Sourced::built_in(false),
            hook_post_merge: Sourced::built_in(true),
            hook_pre_push: Sourced::built_in(true),
        }
    }

    /// Whether a branch (its full name) is a session's.
    pub fn is_shadow_branch(&self, full_name: &BStr) -> bool {
        self.branches.iter().any(|pattern| matches_branch(pattern, full_name))
    }

    /// The pattern of `protect` that matches a branch (its full name).
    pub fn is_protected_name(&self, full_name: &BStr) -> Option<String> {
        self.protect.iter().find(|pattern| matches_branch(pattern, full_name)).cloned()
    }

    /// Whether a path is a root of sessions' worktrees or below one.
    pub fn is_under_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| pattern::is_under(root, path))
    }

    /// What an ignored path (relative to its worktree) is worth.
    pub fn disposable(&self, path: &BStr, is_dir: bool) -> Disposable {
        disposable::classify(path, is_dir, &self.disposable)
    }

    /// Whether an ignored file is saved with the operation and then does not hold.
    pub fn saves_ignored(&self, file: &BStr) -> bool {
        pattern::selects(&self.ignored_save, file)
    }

    /// Whether an untracked file is saved with the operation and then does not hold.
    pub fn saves_untracked(&self, file: &BStr) -> bool {
        pattern::selects(&self.untracked_save, file)
    }

    /// Every key with its value and sources, in the order of [`KEYS`].
    pub fn rows(&self) -> Vec<Row> {
        let folders: Vec<String> = self.purged_roots.iter().map(|path| path.display().to_string()).collect();
        let stale = if *self.stale_locks_release { "release" } else { "hold" };
        let shown = [
            (list(&self.base), &self.base.from),
            (list(&self.remotes), &self.remotes.from),
            (list(&self.protect), &self.protect.from),
            (span(&self.keep), &self.keep.from),
            (list(&self.branches), &self.branches.from),
            (list(&self.roots), &self.roots.from),
            (span(&self.grace.unused), &self.grace.unused.from),
            (span(&self.grace.pushed), &self.grace.pushed.from),
            (span(&self.grace.dead), &self.grace.dead.from),
            (span(&self.grace.purged), &self.grace.purged.from),
            (span(&self.grace.landed), &self.grace.landed.from),
            (self.landing_pushed.to_string(), &self.landing_pushed.from),
            (list(&self.disposable), &self.disposable.from),
            (list(&self.ignored_save), &self.ignored_save.from),
            (list(&self.untracked_save), &self.untracked_save.from),
            (list(&folders), &self.purged_roots.from),
            (format!("\"{stale}\""), &self.stale_locks_release.from),
            (self.hook_post_merge.to_string(), &self.hook_post_merge.from),
            (self.hook_pre_push.to_string(), &self.hook_pre_push.from),
        ];
        let row =
            |(key, (value, from)): (&Key, (String, &Vec<Source>))| Row { key: key.name, value, from: from.clone() };
        KEYS.iter().zip(shown).map(row).collect()
    }
}

/// The folders of the harness as globs. One that is not UTF-8 cannot be written as a pattern, and nobody has one.
fn session_roots() -> Vec<String> {
    let folders = crate::lease::session_folders();
    let mut roots: Vec<String> = folders.iter().filter_map(|folder| folder.to_str()).map(pattern::escape).collect();
    add_resolved(&mut roots);
    roots
}

/// Roots as they are named and as they resolve.
fn add_resolved(roots: &mut Vec<String>) {
    for resolved in roots.clone().iter().filter_map(|root| pattern::resolve_root(root)) {
        if !roots.contains(&resolved) {
            roots.push(resolved);
        }
    }
}

fn list(values: &[String]) -> String {
    toml::Value::from(values.to_vec()).to_string()
}

fn span(value: &Duration) -> String {
    format!("\"{}\"", duration::show(*value))
}

#[cfg(test)]
mod tests {
    use super::{KEYS, Policy, Source};

    #[test]
    fn the_table_of_keys_and_the_values_agree() {
        let rows = Policy::built_in().rows();
        assert_eq!(rows.len(), KEYS.len());
        for (row, key) in rows.iter().zip(KEYS) {
            assert_eq!(row.key, key.name);
            assert_eq!(row.from, [Source::Default]);
            // The sessions folder depends on the machine.
            if key.name != "shadows.roots" {
                assert_eq!(row.value, key.default, "{}", key.name);
            }
        }
    }
}
