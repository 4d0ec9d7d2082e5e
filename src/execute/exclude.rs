//! A renamed worktree that lies in another checkout is hidden from its `git status` (and from `git add -A` and
//! `git clean`) for the while, by a line in that checkout's `info/exclude`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};

use crate::error::Result;
use crate::journal::{Exclude, files, of_path, to_path};
use crate::sys::file;

/// The line that would hide `hidden`, when its folder lies in a checkout.
pub(super) fn line_for(hidden: &Path) -> Result<Option<Exclude>> {
    let Some(common_dir) = hidden.parent().and_then(checkout_around) else { return Ok(None) };
    let file = common_dir.join("info").join("exclude");
    let before = read(&file)?;
    let newline = if before.as_ref().is_none_or(|text| text.is_empty() || text.ends_with(b"\n")) { "" } else { "\n" };
    let name = of_path(Path::new(hidden.file_name().unwrap_or_default()));
    // Whatever may mean something in a pattern, or in a file of lines, is matched by `?`.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let pattern: String = name.iter().map(|byte| if plain(byte) { char::from(*byte) } else { '?' }).collect();
    Ok(Some(Exclude { file: of_path(&file), text: format!("{newline}{pattern}\n"), created: before.is_none() }))
}

/// Hide it.
pub(super) fn add(exclude: &Exclude) -> Result<()> {
    let file = to_path(exclude.file.as_ref());
    if let Some(info) = file.parent() {
        fs_err::create_dir_all(info)?;
    }
    fs_err::OpenOptions::new().append(true).create(true).open(&file)?.write_all(exclude.text.as_bytes())?;
    Ok(())
}

/// Take our line away, and nothing else.
pub(super) fn remove(exclude: &Exclude) -> Result<()> {
    let file = to_path(exclude.file.as_ref());
    let Some(text) = read(&file)? else { return Ok(()) };
    let Some(at) = text.find(&exclude.text) else { return Ok(()) };
    let mut rest = text.to_vec();
    rest.drain(at..at + exclude.text.len());
    if rest.is_empty() && exclude.created {
        return Ok(fs_err::remove_file(&file)?);
    }
    let resolved = fs_err::canonicalize(&file)?;
    let permissions = fs_err::metadata(&resolved)?.permissions();
    files::write(&resolved, &rest)?;
    Ok(fs_err::set_permissions(&resolved, permissions)?)
}

fn read(file: &Path) -> Result<Option<BString>> {
    Ok(file::read(file)?.map(BString::from))
}

/// The common directory of the repository whose checkout `dir` lies in.
fn checkout_around(dir: &Path) -> Option<PathBuf> {
    let top = dir.ancestors().find(|above| fs_err::symlink_metadata(above.join(".git")).is_ok())?;
    let repo = gix::open(top).ok()?;
    fs_err::canonicalize(repo.common_dir()).ok()
}
