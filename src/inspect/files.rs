//! Reading files that may be absent: only "not there" is read as absence, every other error stays one.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BStr, BString};

use crate::error::{Error, Result, chain};
pub(super) use crate::sys::tree::Kind;
use crate::sys::tree::{Stat, stat};

/// Whether an error says that there is nothing at the path.
pub(super) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The content of a file; `None` when there is none.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    absent(fs_err::read(path))
}

/// The entries of a directory, names as bytes; none when it is absent.
///
/// # Errors
/// When it cannot be read.
pub(super) fn list(path: &Path) -> Result<Vec<(BString, Kind)>> {
    let Some(entries) = absent(fs_err::read_dir(path))? else { return Ok(Vec::new()) };
    let one = |entry: std::io::Result<fs_err::DirEntry>| {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = match (kind.is_dir(), kind.is_file(), kind.is_symlink()) {
            (true, ..) => Kind::Directory,
            (_, true, _) => Kind::File,
            (.., true) => Kind::Link,
            (false, false, false) => Kind::Other,
        };
        let name = gix::path::os_string_into_bstring(entry.file_name());
        Ok((name.map_err(|e| Error::failed("path", chain(&e)))?, kind))
    };
    entries.map(one).collect()
}

/// Whether there is anything at the path.
///
/// # Errors
/// When that cannot be told.
pub(super) fn exists(path: &Path) -> Result<bool> {
    Ok(stat(path)?.is_some())
}

/// `dir/name`, relative to a root.
pub(super) fn join(dir: &BStr, name: &BStr) -> BString {
    let mut path = BString::from(Vec::with_capacity(dir.len() + name.len() + 1));
    if !dir.is_empty() {
        path.extend_from_slice(dir);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// A path below a root.
///
/// # Errors
/// Where this platform has no such path.
pub(super) fn full(root: &Path, path: &BStr) -> Result<PathBuf> {
    Ok(root.join(gix::path::from_bstr(path).map_err(|e| Error::failed("path", chain(&e)))?))
}

/// The target of a link, as bytes.
///
/// # Errors
/// When it cannot be read.
pub(super) fn target(link: &Path) -> Result<BString> {
    let target = fs_err::read_link(link)?.into_os_string();
    gix::path::os_string_into_bstring(target).map_err(|e| Error::failed("path", chain(&e)))
}

/// `lstat` of a path below a root that does not see through a link where the path has a directory.
///
/// # Errors
/// When that cannot be told.
pub(super) fn stat_below(root: &Path, path: &BStr) -> Result<Option<Stat>> {
    let mut at = root.to_owned();
    let mut found = None;
    for name in full(Path::new(""), path)?.iter() {
        if found.is_some_and(|above: Stat| !above.is_dir()) {
            return Ok(None);
        }
        at.push(name);
        found = stat(&at)?;
        if found.is_none() {
            return Ok(None);
        }
    }
    Ok(found)
}

fn absent<T>(result: std::io::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The id that the file's bytes, as they are, would have as a blob; `size` is what its stat says.
///
/// # Errors
/// When it cannot be read, or changes its size meanwhile.
pub(super) fn blob_id(path: &Path, size: u64, kind: gix::hash::Kind, buffer: &mut Vec<u8>) -> Result<ObjectId> {
    buffer.resize(64 << 10, 0);
    let mut file = fs_err::File::open(path)?;
    let mut hasher = gix::hash::hasher(kind);
    hasher.update(format!("blob {size}\0").as_bytes());
    let mut total = 0;
    loop {
        let read = file.read(buffer)?;
        hasher.update(&buffer[..read]);
        total += read as u64;
        // Where all came in one go into a buffer with room for more, there is no more.
        if read == 0 || (total == size && read < buffer.len()) {
            break;
        }
    }
    if total != size {
        return Err(Error::failed("changing", format!("'{}' changes while it is read", path.display())));
    }
    hasher.try_finalize().map_err(unhashed)
}

/// Whether a file, or the target of a link, is this blob.
///
/// # Errors
/// When it cannot be read, or changes its size meanwhile.
pub(super) fn is_blob(path: &Path, stat: &Stat, blob: ObjectId, buffer: &mut Vec<u8>) -> Result<bool> {
    Ok(if stat.is_link() {
        hash(blob.kind(), &target(path)?)? == blob
    } else {
        // Reading a pipe would never end.
        stat.is_file() && blob_id(path, stat.size, blob.kind(), buffer)? == blob
    })
}

/// The id that these bytes would have as a blob.
///
/// # Errors
/// When they are a collision attack.
pub(super) fn hash(kind: gix::hash::Kind, bytes: &[u8]) -> Result<ObjectId> {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).map_err(unhashed)
}

fn unhashed(error: impl std::error::Error + 'static) -> Error {
    Error::failed("hash", chain(&error))
}
