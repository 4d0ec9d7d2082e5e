//! Changes in tracked files that status does not show: entries flagged to be left alone, and files that a filter or a
//! line-ending rule makes look unchanged although checkout would write other bytes.

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Flags, Mode};

use super::files::{self, full, stat_below};
use super::status::{Checkout, Reading};
use super::worktree::Scene;
use crate::error::{Error, Result};
use crate::git::Git;

/// Files of so many bytes together are asked about in one process, so that its answer fits into memory.
const AT_ONCE: u64 = 8 << 20;

/// Flagged entries that differ. A skipped one may be absent, that is what the flag is for.
///
/// # Errors
/// When a file cannot be read, or git cannot say what checkout would write.
pub(super) fn flagged(checkout: Checkout<'_>, reading: &Reading) -> Result<Vec<BString>> {
    // What the sparse index does not list cannot be compared.
    let mut differ = reading.found.collapsed.clone();
    let odd = |e: &gix::index::Entry| e.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
    differ.extend(differing(checkout, reading, odd)?);
    Ok(differ)
}

/// Entries that status calls unchanged although checkout would write other bytes.
///
/// # Errors
/// As above.
pub(super) fn converted(checkout: Checkout<'_>, reading: &Reading) -> Result<Vec<BString>> {
    differing(checkout, reading, |_| true)
}

/// The same where nothing is converted any more. The index may be older than that: its stat vouches for what was cleaned
/// into the blob, not for the blob. Only sizes are compared here, bytes before anything moves.
///
/// # Errors
/// When the blob of a file is missing, which leaves the file as the only copy.
pub(super) fn once_converted(scene: Scene<'_>, reading: &Reading) -> Result<Vec<BString>> {
    let index = &reading.index.file;
    let mut differ = Vec::new();
    for entry in index.entries().iter().filter(|e| !e.id.is_empty_blob()) {
        let size = scene.repo.size_of(scene.gix, entry.id)?;
        // A size of 0 stands for a stat that nobody trusts: the bytes were compared. The index keeps 32 bits.
        if entry.stat.size != 0 && entry.stat.size != size as u32 {
            differ.push(entry.path(index).to_owned());
        }
    }
    Ok(differ)
}

fn differing(
    checkout: Checkout<'_>,
    reading: &Reading,
    of_interest: impl Fn(&gix::index::Entry) -> bool,
) -> Result<Vec<BString>> {
    let index = &reading.index.file;
    let mut buffer = Vec::new();
    let (mut differ, mut unsure, mut bytes) = (Vec::new(), Vec::new(), 0);
    for entry in index.entries().iter().filter(|e| of_interest(e) && !matches!(e.mode, Mode::COMMIT | Mode::DIR)) {
        let path = entry.path(index);
        match compare(checkout, entry, path, &mut buffer)? {
            Compared::Same => {}
            Compared::Differs => differ.push(path.to_owned()),
            Compared::OtherBytes(size) => {
                unsure.push((entry.id, path.to_owned()));
                bytes += size;
            }
        }
        if bytes > AT_ONCE {
            differ.extend(not_as_checked_out(checkout, &std::mem::take(&mut unsure))?);
            bytes = 0;
        }
    }
    differ.extend(not_as_checked_out(checkout, &unsure)?);
    differ.sort();
    Ok(differ)
}

enum Compared {
    Same,
    Differs,
    /// The file, of this size, is not the blob; it may be what checkout makes of the blob.
    OtherBytes(u64),
}

fn compare(checkout: Checkout<'_>, entry: &gix::index::Entry, path: &BStr, buffer: &mut Vec<u8>) -> Result<Compared> {
    let file = full(checkout.root, path)?;
    let Some(found) = stat_below(checkout.root, path)? else {
        return Ok(if entry.flags.contains(Flags::SKIP_WORKTREE) { Compared::Same } else { Compared::Differs });
    };
    if found.is_link() && entry.mode == Mode::SYMLINK {
        let id = files::hash(entry.id.kind(), &files::target(&file)?)?;
        return Ok(if id == entry.id { Compared::Same } else { Compared::Differs });
    }
    if !found.is_file() || entry.mode == Mode::SYMLINK {
        return Ok(Compared::Differs);
    }
    let unlike = (found.mode & 0o100 != 0) != (entry.mode == Mode::FILE_EXECUTABLE);
    if unlike && entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID) {
        return Ok(Compared::Differs);
    }
    let same = files::blob_id(&file, found.size, entry.id.kind(), buffer)? == entry.id;
    if same && !checkout.gix.has_object(entry.id) {
        return Err(Error::failed("object", format!("the blob of '{path}' is missing")));
    }
    Ok(if same { Compared::Same } else { Compared::OtherBytes(found.size) })
}

/// Those of the files whose bytes are not what checkout would write.
fn not_as_checked_out(checkout: Checkout<'_>, entries: &[(gix::ObjectId, BString)]) -> Result<Vec<BString>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    // git announces the size before the conversion. A name that no object has, asked after each file, ends its answer.
    let end = format!("end-{:016x}", std::process::id());
    let mut input = Vec::new();
    for (id, path) in entries {
        for part in [id.to_string().as_bytes(), b" ", path.as_slice(), b"\0", end.as_bytes(), b" end\0"] {
            input.extend_from_slice(part);
        }
    }
    // git looks for attributes below its working directory.
    let git = Git::new(checkout.root, ["cat-file", "--batch", "--filters", "-z"]);
    let answer = git.worktree(checkout.git_dir, checkout.root).input(input).run()?;
    let end = format!("\n{end} missing\n");
    let mut rest = answer.as_slice();
    let mut differ = Vec::new();
    for (id, path) in entries {
        let strange = || Error::failed("git", format!("git cat-file answers in an unknown form about '{path}'"));
        let length = rest.find(&end).ok_or_else(strange)?;
        let (one, after) = (&rest[..length], &rest[length + end.len()..]);
        let header = one.find_byte(b'\n').ok_or_else(strange)?;
        if !one.starts_with(id.to_string().as_bytes()) {
            return Err(strange());
        }
        if fs_err::read(full(checkout.root, path.as_ref())?)? != one[header + 1..] {
            differ.push(path.clone());
        }
        rest = after;
    }
    Ok(differ)
}
