//! Reflogs: when something happened on a ref, and whether a commit was made.

use std::io::ErrorKind;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};

use crate::error::{Error, Result};
use crate::model::Timestamp;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The old value.
    pub old: ObjectId,
    /// The new value.
    pub new: ObjectId,
    /// When git wrote it: the entry's own time, never a commit's date.
    pub time: Timestamp,
    /// What was done.
    pub message: BString,
}

/// The entries of a reflog file, oldest first; none when there is no file.
///
/// # Errors
/// When the file cannot be read or has a line that is no entry.
pub fn read(file: &Path) -> Result<Vec<Entry>> {
    let text = match fs_err::read(file) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(e) => return Err(e.into()),
    };
    let bad =
        |line: usize| Error::failed("reflog", format!("'{}' line {}: not a reflog entry", file.display(), line + 1));
    text.lines().enumerate().map(|(n, line)| parse(line).ok_or_else(|| bad(n))).collect()
}

/// `<old> <new> <name> <<mail>> <seconds> <zone>\t<message>`
fn parse(line: &[u8]) -> Option<Entry> {
    let (head, message) = line.split_once_str("\t").unwrap_or((line, b""));
    let mut oids = head.splitn(3, |b| *b == b' ');
    let old = ObjectId::from_hex(oids.next()?).ok()?;
    let new = ObjectId::from_hex(oids.next()?).ok()?;
    // A name may hold '>', the time comes after the last one.
    let (_, time) = oids.next()?.rsplit_once_str("> ")?;
    let seconds = time.split(|b| *b == b' ').next()?.to_str().ok()?.parse().ok()?;
    Some(Entry { old, new, time: Timestamp::from_second(seconds).ok()?, message: message.into() })
}

/// What an entry says about commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// It made one.
    Commit,
    /// It only moved the ref.
    Nothing,
    /// Its message is not known; it did if its new value is not on a base's first-parent line.
    AskTheBase,
}

/// `commit…`, `cherry-pick`, `revert` and `am` make commits; `merge`, `pull` and `rebase` do unless they ended in a
/// fast-forward or in their onto; creation, reset, checkout and rename do not.
pub fn made(entry: &Entry) -> Made {
    let message = entry.message.as_bstr();
    let action = message.split(|b| matches!(b, b':' | b' ')).next().unwrap_or_default();
    match action {
        b"" => Made::Nothing,
        b"commit" | b"cherry-pick" | b"revert" | b"am" => Made::Commit,
        b"clone" | b"branch" | b"Branch" | b"reset" | b"checkout" => Made::Nothing,
        b"merge" | b"pull" | b"rebase" => {
            let moved = message.contains_str("ast-forward")
                || ["(start)", "(abort)", "returning to "].iter().any(|word| message.contains_str(word))
                || ended_in_onto(entry);
            if moved { Made::Nothing } else { Made::Commit }
        }
        _ => Made::AskTheBase,
    }
}

/// `rebase (finish): refs/heads/x onto <new value>`
fn ended_in_onto(entry: &Entry) -> bool {
    let onto = entry.message.rsplit_once_str(" onto ").map(|(_, onto)| onto);
    onto.is_some_and(|onto| ObjectId::from_hex(onto.trim()).is_ok_and(|onto| onto == entry.new))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(message: &str) -> Entry {
        let line = format!("{0} {0} A > B <a@b> 1700000000 +0200\t{message}", "1".repeat(40));
        parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn what_makes_a_commit() {
        let own = "1".repeat(40);
        let other = "2".repeat(40);
        for (message, expected) in [
            ("commit: x", Made::Commit),
            ("commit (amend): x", Made::Commit),
            ("commit (initial): x", Made::Commit),
            ("cherry-pick: x", Made::Commit),
            ("revert: x", Made::Commit),
            ("am: x", Made::Commit),
            ("merge origin/main: Fast-forward", Made::Nothing),
            ("merge origin/main: Merge made by the 'ort' strategy.", Made::Commit),
            ("pull: Fast-forward", Made::Nothing),
            ("pull --rebase (start): checkout abc", Made::Nothing),
            ("rebase (pick): x", Made::Commit),
            (&format!("rebase (finish): refs/heads/a onto {own}"), Made::Nothing),
            (&format!("rebase (finish): refs/heads/a onto {other}"), Made::Commit),
            ("rebase (finish): returning to refs/heads/a", Made::Nothing),
            ("rebase (abort): updating HEAD", Made::Nothing),
            ("branch: Created from origin/main", Made::Nothing),
            ("Branch: renamed refs/heads/a to refs/heads/b", Made::Nothing),
            ("reset: moving to HEAD~1", Made::Nothing),
            ("checkout: moving from a to b", Made::Nothing),
            ("clone: from x", Made::Nothing),
            ("", Made::Nothing),
            ("jj: something", Made::AskTheBase),
        ] {
            assert_eq!(made(&entry(message)), expected, "{message}");
        }
    }

    #[test]
    fn lines_that_are_no_entries() {
        let oid = "1".repeat(40);
        for line in ["", "x y z", &format!("{oid} {oid} no time\tx"), &format!("{oid} {oid} A <a> soon +0\tx")] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
