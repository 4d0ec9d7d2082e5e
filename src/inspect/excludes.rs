//! Whether git ignores a path.

use std::collections::HashSet;
use std::path::PathBuf;

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::Mode;
use gix::worktree::Stack;
use gix::worktree::stack::state::ignore::Source;

use super::index::Index;
use crate::error::{Error, Result, chain};

/// Where the answer comes from.
pub(super) enum Excludes<'a> {
    /// The exclude files are read here; the stack is made when it is first asked.
    Read { gix: &'a gix::Repository, root: PathBuf, stack: Option<Box<Stack>> },
    /// git listed what it ignores, directories with a slash at the end.
    Listed(HashSet<BString>),
}

impl<'a> Excludes<'a> {
    /// Reading `.gitignore` below `root`, and the exclude files of the repository and the user.
    pub(super) fn read(gix: &'a gix::Repository, root: impl Into<PathBuf>) -> Self {
        Excludes::Read { gix, root: root.into(), stack: None }
    }

    /// Whether git ignores this path, which is not tracked. Ask from the root downwards: nothing is asked below what is
    /// ignored.
    ///
    /// # Errors
    /// When an exclude file cannot be read.
    pub(super) fn is_ignored(&mut self, index: &Index, path: &BStr, is_dir: bool) -> Result<bool> {
        match self {
            Excludes::Listed(listed) => {
                let mut directory = path.to_owned();
                directory.push(b'/');
                Ok(listed.contains(if is_dir { directory.as_bstr() } else { path }))
            }
            Excludes::Read { gix, root, stack } => {
                let stack = match stack {
                    Some(stack) => stack,
                    None => stack.insert(Box::new(new_stack(gix, root.clone(), index)?)),
                };
                let mode = if is_dir { Mode::DIR } else { Mode::FILE };
                let platform = stack.at_entry(path, Some(mode), &gix.objects);
                Ok(platform.map_err(|e| Error::failed("excludes", format!("'{path}': {e}")))?.is_excluded())
            }
        }
    }
}

/// gix roots its stack at the main worktree; this one is for another tree.
fn new_stack(gix: &gix::Repository, root: PathBuf, index: &Index) -> Result<Stack> {
    let source = Source::WorktreeThenIdMappingIfNotSkipped;
    let of_main = gix.excludes(&index.file, None, source).map_err(|e| Error::failed("excludes", chain(&e)))?;
    let state = of_main.detach().state().clone();
    Ok(Stack::from_state_and_ignore_case(root, false, state, &index.file, index.file.path_backing()))
}
