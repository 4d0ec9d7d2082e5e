//! A private bare repository that sees the objects of a real one and writes nothing below it, not even a time.
//!
//! git refreshes the modification time of an object that it is about to write and finds in the repository or in what
//! it borrows from, so borrowing by `info/alternates` is not enough for a dry run. Here packs are links beside an empty
//! `.mtimes` file: git takes them for packs of unreachable objects, which it reads and never refreshes. Loose objects
//! are copied when a merge needs them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::BString;

use crate::error::{Error, Result, chain};
use crate::sys::{self, interrupt::Folder};

/// What the name of its folder begins with; the process and something random follow.
pub const PREFIX: &str = "git-shadow-merge-";

/// So few loose objects are copied whether a merge needs them or not.
const FEW: usize = 32;
/// Where git must find merge bases it may need any commit; beyond so many loose objects it is not asked.
const MANY: usize = 20_000;

/// The private repository; gone when it is dropped.
#[derive(Debug)]
pub(super) struct Quarantine {
    dir: Folder,
    /// The object folders of the repository and of those it borrows from.
    sources: Vec<PathBuf>,
    /// The loose objects that were not copied, with their folder.
    loose: HashMap<ObjectId, usize>,
}

impl Quarantine {
    /// Make one for a repository, in memory or in the system's temporary directory.
    pub(super) fn new(repo: &gix::Repository, in_memory: bool) -> Result<Self> {
        // With the process, so that what a killed one leaves can be told from what is in use.
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let memory = if in_memory { sys::private::memory_dir(&prefix) } else { None };
        let dir = memory.map_or_else(|| sys::private::temporary_dir(&prefix), Ok)?;
        let at = dir.path();
        for folder in ["objects/info", "packs/pack", "refs"] {
            fs_err::create_dir_all(at.join(folder))?;
        }
        fs_err::write(at.join("HEAD"), "ref: refs/heads/none\n")?;
        let format = match repo.object_hash() {
            gix::hash::Kind::Sha1 => "[core]\n\trepositoryFormatVersion = 0\n".to_owned(),
            other => format!("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = {other}\n"),
        };
        // Directory renames are guesses about files nobody renamed; objects that live for a moment need no packing.
        let config = "[core]\n\tbare = true\n\tattributesFile = /dev/null\n\tlooseCompression = 0\n\
                      [merge]\n\trenames = true\n\tdirectoryRenames = false\n\trenormalize = false\n";
        fs_err::write(at.join("config"), format + config)?;
        fs_err::write(at.join("objects/info/alternates"), alternate(&at.join("packs"))?)?;
        // git looks for merge bases itself where there are several; it must know where history ends.
        let shallow = repo.common_dir().join("shallow");
        if shallow.try_exists()? {
            fs_err::copy(shallow, at.join("shallow"))?;
        }
        let store = repo.objects.store_ref();
        let mut sources = vec![store.path().to_owned()];
        sources.extend(store.alternate_db_paths().map_err(read)?);
        let mut loose = HashMap::new();
        for (number, source) in sources.iter().enumerate() {
            link_packs(source, &at.join("packs/pack"))?;
            loose.extend(find_loose(source)?.into_iter().map(|id| (id, number)));
        }
        let mut quarantine = Quarantine { dir, sources, loose };
        if quarantine.loose.len() <= FEW {
            quarantine.provide_all()?;
        }
        Ok(quarantine)
    }

    /// The repository's folder.
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Have the loose objects there that a merge of these commits with a named base reads: themselves and all in which
    /// their trees differ.
    pub(super) fn provide(&mut self, repo: &gix::Repository, commits: [ObjectId; 3]) -> Result<()> {
        if self.loose.is_empty() {
            return Ok(());
        }
        let mut trees = Vec::new();
        for commit in commits {
            self.copy(commit)?;
            trees.push(repo.find_commit(commit).and_then(|c| Ok(c.tree_id()?.detach())).map_err(read)?);
        }
        let mut open = vec![trees];
        while let Some(trees) = open.pop() {
            if trees.iter().all(|tree| *tree == trees[0]) {
                continue;
            }
            // Each name with what it is in one tree, the same ones once.
            let mut names: HashMap<BString, (usize, Vec<ObjectId>, Vec<ObjectId>)> = HashMap::new();
            for &tree in &trees {
                self.copy(tree)?;
                let data = repo.find_tree(tree).map_err(read)?;
                for entry in data.decode().map_err(read)?.entries.iter().filter(|e| !e.mode.is_commit()) {
                    let (count, files, trees) = names.entry(entry.filename.to_owned()).or_default();
                    *count += 1;
                    let kind = if entry.mode.is_tree() { trees } else { files };
                    kind.push(entry.oid.to_owned());
                }
            }
            for (count, files, subtrees) in names.into_values() {
                let same =
                    |ids: &[ObjectId]| count == trees.len() && ids.len() == count && ids.iter().all(|i| *i == ids[0]);
                if !same(&files) {
                    files.into_iter().try_for_each(|id| self.copy(id))?;
                }
                if !subtrees.is_empty() && !same(&subtrees) {
                    // Where it is missing on a side, it is set against nothing.
                    let missing = (subtrees.len() < trees.len()).then(|| ObjectId::empty_tree(repo.object_hash()));
                    open.push(subtrees.into_iter().chain(missing).collect());
                }
            }
        }
        Ok(())
    }

    /// Have all loose objects there, for merges whose bases git must find; `false`: there are too many.
    pub(super) fn provide_all(&mut self) -> Result<bool> {
        if self.loose.len() > MANY {
            return Ok(false);
        }
        let all: Vec<ObjectId> = self.loose.keys().copied().collect();
        all.into_iter().try_for_each(|id| self.copy(id))?;
        Ok(true)
    }

    /// Have an object there, where it is loose.
    fn copy(&mut self, id: ObjectId) -> Result<()> {
        let Some(source) = self.loose.remove(&id) else { return Ok(()) };
        let hex = id.to_string();
        let (folder, file) = hex.split_at(2);
        let to = self.path().join("objects").join(folder);
        fs_err::create_dir_all(&to)?;
        fs_err::copy(self.sources[source].join(folder).join(file), to.join(file))?;
        Ok(())
    }
}

/// The loose objects of an object folder.
fn find_loose(objects: &Path) -> Result<Vec<ObjectId>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(objects)? {
        let folder = entry?;
        let first = folder.file_name();
        if first.len() != 2 || !first.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit) {
            continue;
        }
        for entry in fs_err::read_dir(folder.path())? {
            let file = entry?;
            let hex = [first.as_encoded_bytes(), file.file_name().as_encoded_bytes()].concat();
            // Files that are being written have other names.
            if let Ok(id) = ObjectId::from_hex(&hex) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

fn link_packs(objects: &Path, to: &Path) -> Result<()> {
    let packs = objects.join("pack");
    if !packs.try_exists()? {
        return Ok(());
    }
    for entry in fs_err::read_dir(packs)? {
        let pack = entry?.path();
        let index = pack.with_extension("idx");
        let Some(name) = pack.file_name().filter(|_| pack.extension().is_some_and(|e| e == "pack")) else { continue };
        let link = to.join(name);
        if index.try_exists()? && !link.try_exists()? {
            sys::private::link(&pack, &link)?;
            sys::private::link(&index, &link.with_extension("idx"))?;
            fs_err::write(link.with_extension("mtimes"), "")?;
        }
    }
    Ok(())
}

/// A line of `info/alternates`, quoted as C does: the path may hold anything but NUL.
fn alternate(objects: &Path) -> Result<Vec<u8>> {
    let path = gix::path::into_bstr(objects)
        .map_err(|_| Error::failed("path", format!("cannot name '{}' to git", objects.display())))?;
    let mut line = b"\"".to_vec();
    for &byte in path.iter() {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => line.push(byte),
            other => line.extend_from_slice(format!("\\{other:03o}").as_bytes()),
        }
    }
    line.extend_from_slice(b"\"\n");
    Ok(line)
}

fn read(error: impl Into<gix::Error>) -> Error {
    let error: gix::Error = error.into();
    Error::failed("objects", chain(&error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_alternate_is_quoted() {
        assert_eq!(alternate(Path::new("/a b:c/\"x\"\n")).unwrap(), b"\"/a b:c/\\\"x\\\"\\012\"\n");
    }
}
