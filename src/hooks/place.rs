//! Where git looks for hooks, by git's own logic, and whether a file of ours may be put there.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;

use crate::error::{Error, Result, chain};
use crate::git::{Git, Repository};

/// Where git looks for hooks.
#[derive(Debug)]
pub struct Place {
    /// The directory, absolute.
    pub dir: PathBuf,
    /// Which configuration sets `core.hooksPath`: `local`, `worktree`, `global` …; none sets it.
    pub scope: Option<String>,
    /// It is the place for hooks inside the repository.
    pub inside: bool,
    /// It is in somebody's checkout and under version control.
    pub tracked: bool,
}

impl Place {
    /// Where git looks when it runs in `start`.
    ///
    /// # Errors
    /// When git does not tell.
    pub fn find(repo: &Repository, start: &Path) -> Result<Place> {
        let said = Git::new(start, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).run()?;
        let dir = path(said.strip_suffix(b"\n").unwrap_or(&said))?;
        let real = resolved(&dir);
        let inside = real.starts_with(repo.common_dir());
        let tracked = !inside && is_tracked(&real)?;
        let set = Git::new(start, ["config", "--show-scope", "--get", "core.hooksPath"]).output()?;
        let scope = match set.status.code() {
            Some(0) => set.stdout.split_once_str(b"\t").map(|(scope, _)| scope.to_str_lossy().into_owned()),
            Some(1) => None,
            _ => {
                let said = set.stderr.to_str_lossy().trim().to_owned();
                return Err(Error::failed("git", format!("git config --get core.hooksPath: {said}")));
            }
        };
        Ok(Place { dir, scope, inside, tracked })
    }

    /// Why no file of ours may be put there.
    pub fn unfit(&self) -> Option<String> {
        let shown = self.dir.display();
        match self.scope.as_deref() {
            _ if self.dir.exists() && !self.dir.is_dir() => {
                Some(format!("'{shown}' is not a directory, so git runs no hooks (core.hooksPath)"))
            }
            _ if self.inside => None,
            _ if self.tracked => Some(format!("'{shown}' is under version control (core.hooksPath)")),
            None | Some("local" | "worktree") => None,
            Some(scope) => Some(format!("'{shown}' is for more than this repository (core.hooksPath, {scope})")),
        }
    }
}

/// With links resolved as far as the path exists.
fn resolved(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, fs_err::canonicalize(above).ok()?)));
    match there {
        Some((above, real)) => path
            .strip_prefix(above)
            .map_or(real.clone(), |rest| if rest.as_os_str().is_empty() { real } else { real.join(rest) }),
        None => path.to_owned(),
    }
}

/// Whether something in a directory is under version control, in whatever repository.
fn is_tracked(dir: &Path) -> Result<bool> {
    if !dir.is_dir() {
        return Ok(false);
    }
    let checkout = Git::new(dir, ["rev-parse", "--is-inside-work-tree"]).output()?;
    if !checkout.status.success() || checkout.stdout.trim() != b"true" {
        return Ok(false);
    }
    Ok(!Git::new(dir, ["ls-files", "-z", "--", "."]).run()?.is_empty())
}

fn path(bytes: &[u8]) -> Result<PathBuf> {
    let path = gix::path::from_byte_slice(bytes).map_err(|e| Error::failed("hooks", chain(&e)))?;
    Ok(path.to_owned())
}
