//! Images of directory trees, to tell that a run changed no byte and no time.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err as fs;

/// Set a file's modification time to so many hours ago.
pub fn set_mtime(path: &Path, hours: u64) {
    let then = SystemTime::now() - Duration::from_secs(hours * 3600);
    std::fs::File::open(path).unwrap().set_modified(then).unwrap();
}

/// What is known of one entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub mode: u32,
    pub size: u64,
    pub mtime: (i64, i64),
    /// Hash of a file's content or a link's target.
    pub content: u64,
}

/// Image of a directory tree: type, mode, size, time and content of every entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<PathBuf, Entry>);

impl Tree {
    /// The tree at `root`; empty when nothing is there.
    pub fn of(root: &Path) -> Tree {
        let mut tree = Tree(BTreeMap::new());
        if fs::symlink_metadata(root).is_ok() {
            tree.walk(root, Path::new(""));
        }
        tree
    }

    fn walk(&mut self, root: &Path, below: &Path) {
        let path = if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) };
        let stat = fs::symlink_metadata(&path).unwrap();
        let mut hash = DefaultHasher::new();
        if stat.is_file() {
            fs::read(&path).unwrap_or_else(|e| e.to_string().into_bytes()).hash(&mut hash);
        } else if stat.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().hash(&mut hash);
        }
        let size = if stat.is_dir() { 0 } else { stat.size() };
        let mtime = (stat.mtime(), stat.mtime_nsec());
        self.0.insert(below.to_owned(), Entry { mode: stat.mode(), size, mtime, content: hash.finish() });
        if stat.is_dir() {
            for entry in fs::read_dir(&path).unwrap() {
                self.walk(root, &below.join(entry.unwrap().file_name()));
            }
        }
    }

    /// What differs in `other`, a line each.
    pub fn changes(&self, other: &Tree) -> Vec<String> {
        let gone = self.0.iter().filter(|(p, _)| !other.0.contains_key(*p)).map(|(p, _)| format!("gone: {p:?}"));
        let differs = other.0.iter().filter_map(|(p, new)| match self.0.get(p) {
            None => Some(format!("new: {p:?}")),
            Some(old) if old != new => Some(format!("changed: {p:?}: {old:?} -> {new:?}")),
            Some(_) => None,
        });
        gone.chain(differs).collect()
    }
}
