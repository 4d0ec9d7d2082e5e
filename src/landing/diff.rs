//! What differs between two trees, entry by entry: modes, links and gitlinks count like content.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryRef;

use super::read;
use crate::error::Result;

/// A path by number.
pub(super) type PathId = u32;
/// A mode with an object by number; equal numbers are equal entries.
pub(super) type EntryId = u32;
/// No entry.
pub(super) const ABSENT: EntryId = 0;

/// One path that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub path: PathId,
    pub old: EntryId,
    pub new: EntryId,
}

/// What differs between two trees, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Delta {
    pub changes: Vec<Change>,
}

impl Delta {
    pub(super) fn of(mut changes: Vec<Change>) -> Self {
        changes.retain(|c| c.old != c.new);
        changes.sort_unstable_by_key(|c| c.path);
        Delta { changes }
    }

    pub(super) fn get(&self, path: PathId) -> Option<&Change> {
        self.changes.binary_search_by_key(&path, |c| c.path).ok().map(|at| &self.changes[at])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// It deletes something, which may be one half of a rename.
    pub(super) fn deletes(&self) -> bool {
        self.changes.iter().any(|c| c.new == ABSENT)
    }

    /// One after the other.
    pub(super) fn compose<'a>(steps: impl IntoIterator<Item = &'a Delta>) -> Self {
        let mut all: HashMap<PathId, Change> = HashMap::new();
        for change in steps.into_iter().flat_map(|s| &s.changes) {
            all.entry(change.path).and_modify(|c| c.new = change.new).or_insert(*change);
        }
        Delta::of(all.into_values().collect())
    }
}

/// The paths and entries that were seen.
#[derive(Default)]
pub(super) struct Catalog {
    paths: Vec<Rc<[u8]>>,
    path_ids: HashMap<Rc<[u8]>, PathId>,
    dirs: HashSet<BString>,
    entries: Vec<(u16, ObjectId)>,
    entry_ids: HashMap<(u16, ObjectId), EntryId>,
}

impl Catalog {
    pub(super) fn path(&mut self, path: &BStr) -> PathId {
        if let Some(id) = self.known_path(path) {
            return id;
        }
        let id = self.paths.len() as PathId;
        let name: Rc<[u8]> = path.as_bytes().into();
        self.paths.push(Rc::clone(&name));
        self.path_ids.insert(name, id);
        let mut dir = path;
        while let Some(slash) = dir.iter().rposition(|b| *b == b'/') {
            dir = dir[..slash].into();
            if !self.dirs.insert(dir.to_owned()) {
                break;
            }
        }
        id
    }

    /// How many paths there are.
    pub(super) fn len(&self) -> PathId {
        self.paths.len() as PathId
    }

    fn known_path(&self, path: &BStr) -> Option<PathId> {
        self.path_ids.get(path.as_bytes()).copied()
    }

    pub(super) fn name(&self, path: PathId) -> &BStr {
        self.paths[path as usize].as_bstr()
    }

    pub(super) fn entry(&mut self, entry: Option<Entry>) -> EntryId {
        let Some(entry) = entry else { return ABSENT };
        let next = self.entries.len() as EntryId + 1;
        let id = *self.entry_ids.entry(entry).or_insert(next);
        if id == next {
            self.entries.push(entry);
        }
        id
    }

    /// The mode and object of an entry.
    pub(super) fn get(&self, id: EntryId) -> Option<Entry> {
        self.entries.get((id as usize).checked_sub(1)?).copied()
    }

    /// The object, where it is a regular file.
    pub(super) fn file(&self, id: EntryId) -> Option<ObjectId> {
        self.get(id).filter(|(mode, _)| mode & 0o170_000 == 0o100_000).map(|(_, oid)| oid)
    }
}

/// A mode with an object.
pub(super) type Entry = (u16, ObjectId);

/// Who looks at a difference.
pub(super) trait Visit {
    /// Whether to look into a directory that differs.
    fn enter(&mut self, dir: &BStr) -> bool;
    /// A path that differs and is no directory.
    fn change(&mut self, path: &BStr, old: Option<Entry>, new: Option<Entry>) -> ControlFlow<()>;
}

/// All that differs, its paths noted in the catalog.
pub(super) fn whole(repo: &gix::Repository, catalog: &mut Catalog, old: ObjectId, new: ObjectId) -> Result<Delta> {
    struct Whole<'c>(&'c mut Catalog, Vec<Change>);
    impl Visit for Whole<'_> {
        fn enter(&mut self, _dir: &BStr) -> bool {
            true
        }
        fn change(&mut self, path: &BStr, old: Option<Entry>, new: Option<Entry>) -> ControlFlow<()> {
            let (path, old, new) = (self.0.path(path), self.0.entry(old), self.0.entry(new));
            self.1.push(Change { path, old, new });
            ControlFlow::Continue(())
        }
    }
    let mut visit = Whole(catalog, Vec::new());
    walk(repo, Some(old), Some(new), &mut visit)?;
    Ok(Delta::of(visit.1))
}

/// What differs at paths that the catalog has, and whether other paths differ as well.
pub(super) fn known(
    repo: &gix::Repository,
    catalog: &mut Catalog,
    old: ObjectId,
    new: ObjectId,
) -> Result<(Delta, bool)> {
    struct Known<'c>(&'c mut Catalog, Vec<Change>, bool);
    impl Visit for Known<'_> {
        fn enter(&mut self, dir: &BStr) -> bool {
            let enter = self.0.dirs.contains(dir);
            self.2 |= !enter;
            enter
        }
        fn change(&mut self, path: &BStr, old: Option<Entry>, new: Option<Entry>) -> ControlFlow<()> {
            match self.0.known_path(path) {
                Some(path) => {
                    let (old, new) = (self.0.entry(old), self.0.entry(new));
                    self.1.push(Change { path, old, new });
                }
                None => self.2 = true,
            }
            ControlFlow::Continue(())
        }
    }
    let mut visit = Known(catalog, Vec::new(), false);
    walk(repo, Some(old), Some(new), &mut visit)?;
    let others = visit.2;
    Ok((Delta::of(visit.1), others))
}

/// Walk two trees beside each other and show what differs.
pub(super) fn walk(
    repo: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    visit: &mut dyn Visit,
) -> Result<()> {
    if old != new {
        let _ = Walker { repo, path: Vec::new() }.trees(old, new, visit)?;
    }
    Ok(())
}

struct Walker<'r> {
    repo: &'r gix::Repository,
    path: Vec<u8>,
}

impl Walker<'_> {
    fn trees(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        visit: &mut dyn Visit,
    ) -> Result<ControlFlow<()>> {
        let (old, new) = (self.data(old)?, self.data(new)?);
        let hash = self.repo.object_hash();
        let mut olds = TreeRefIter::from_bytes(&old, hash).peekable();
        let mut news = TreeRefIter::from_bytes(&new, hash).peekable();
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => return Ok(ControlFlow::Continue(())),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(Ok(a)), Some(Ok(b))) => {
                    let (a_dir, b_dir) = (a.mode.is_tree(), b.mode.is_tree());
                    gix::objs::tree::name_order(a.filename, a_dir, b.filename, b_dir)
                }
                (Some(Err(_)), _) => std::cmp::Ordering::Less,
                (_, Some(Err(_))) => std::cmp::Ordering::Greater,
            };
            let a = if order.is_le() { next(&mut olds)? } else { None };
            let b = if order.is_ge() { next(&mut news)? } else { None };
            if self.entries(a, b, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// Two entries of the same name, both directories or both not, or one without the other.
    fn entries(
        &mut self,
        old: Option<EntryRef<'_>>,
        new: Option<EntryRef<'_>>,
        visit: &mut dyn Visit,
    ) -> Result<ControlFlow<()>> {
        if old == new {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(either) = new.or(old) else { return Ok(ControlFlow::Continue(())) };
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(either.filename);
        let flow = if !either.mode.is_tree() {
            let entry = |e: EntryRef<'_>| (e.mode.value(), e.oid.to_owned());
            visit.change(self.path.as_slice().into(), old.map(entry), new.map(entry))
        } else if visit.enter(self.path.as_slice().into()) {
            self.trees(old.map(|e| e.oid.to_owned()), new.map(|e| e.oid.to_owned()), visit)?
        } else {
            ControlFlow::Continue(())
        };
        self.path.truncate(length);
        Ok(flow)
    }

    fn data(&self, tree: Option<ObjectId>) -> Result<Vec<u8>> {
        match tree {
            Some(id) => Ok(self.repo.find_tree(id).map_err(read)?.take_data()),
            None => Ok(Vec::new()),
        }
    }
}

fn next<'a>(entries: &mut Peekable<TreeRefIter<'a>>) -> Result<Option<EntryRef<'a>>> {
    entries.next().transpose().map_err(read)
}

/// The entry at a path of a tree; directories are none.
pub(super) fn lookup(repo: &gix::Repository, tree: ObjectId, path: &BStr) -> Result<Option<Entry>> {
    let tree = repo.find_tree(tree).map_err(read)?;
    let entry = tree.lookup_entry(path.split(|b| *b == b'/')).map_err(read)?;
    Ok(entry.filter(|e| !e.mode().is_tree()).map(|e| (e.mode().value(), e.object_id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: PathId, old: EntryId, new: EntryId) -> Change {
        Change { path, old, new }
    }

    #[test]
    fn what_cancels_out_is_no_change() {
        let steps = [Delta::of(vec![change(1, 0, 5), change(2, 3, 4)]), Delta::of(vec![change(1, 5, 0)])];
        assert_eq!(Delta::compose(&steps), Delta::of(vec![change(2, 3, 4)]));
        assert_eq!(Delta::of(vec![change(1, 2, 2)]), Delta::default());
    }

    #[test]
    fn entries_are_equal_by_mode_and_object() {
        let mut catalog = Catalog::default();
        let oid = ObjectId::empty_blob(gix::hash::Kind::Sha1);
        let plain = catalog.entry(Some((0o100_644, oid)));
        assert_ne!(plain, catalog.entry(Some((0o100_755, oid))));
        assert_eq!(plain, catalog.entry(Some((0o100_644, oid))));
        assert_eq!(catalog.entry(None), ABSENT);
        let link = catalog.entry(Some((0o120_000, oid)));
        assert_eq!((catalog.file(plain), catalog.file(link)), (Some(oid), None));
    }

    #[test]
    fn all_directories_above_a_path_are_known() {
        let mut catalog = Catalog::default();
        catalog.path("a/b/c".into());
        assert!(catalog.dirs.contains(BStr::new("a/b")) && catalog.dirs.contains(BStr::new("a")));
    }
}
