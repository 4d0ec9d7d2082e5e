//! Merges by git itself, without a trace: `git merge-tree --write-tree --stdin` over a private repository that borrows
//! the objects of the real one.
//!
//! The merged trees go into the private repository, so nothing below the real one changes. Because it has a
//! configuration of its own and no `info` of the real one, no user's or repository's setting, merge driver, attribute,
//! graft or replace ref changes an answer.

use std::path::Path;

use gix::ObjectId;
use once_cell::unsync::OnceCell;
use tempfile::TempDir;

use super::{Git, Repository};
use crate::error::{Error, Result};
use crate::sys;

/// How often a batch goes on behind a merge that ended git.
const RESTARTS: usize = 16;

/// One three-way merge. All of these must exist: one bad name ends git.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Merge {
    /// The merge base; `None`: git finds it, or makes one of several.
    pub base: Option<ObjectId>,
    /// The commit that is merged into.
    pub ours: ObjectId,
    /// The commit that is merged.
    pub theirs: ObjectId,
}

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// It was clean and gave this tree.
    Tree(ObjectId),
    /// It had conflicts.
    Conflict,
    /// This git cannot be told the merge base.
    Unsupported,
    /// git failed on it.
    Failed(String),
}

/// Runs merges of one repository.
#[derive(Debug)]
pub struct Merger<'r> {
    repo: &'r Repository,
    hash: gix::hash::Kind,
    quarantine: OnceCell<TempDir>,
}

impl<'r> Merger<'r> {
    /// Nothing is made before there is something to merge.
    pub fn new(repo: &'r Repository, hash: gix::hash::Kind) -> Self {
        Merger { repo, hash, quarantine: OnceCell::new() }
    }

    /// What comes of each merge, in their order. A merge on which git fails does not spoil the others.
    pub fn run(&self, merges: &[Merge]) -> Vec<Merged> {
        let mut results = Vec::with_capacity(merges.len());
        let mut no_base = false;
        for _ in 0..RESTARTS {
            let rest = &merges[results.len()..];
            if rest.is_empty() {
                break;
            }
            // Once git has refused the form that names the base, only the others are asked.
            let asked: Vec<&Merge> = rest.iter().filter(|m| !(no_base && m.base.is_some())).collect();
            let (answers, failure) = self.batch(&asked).unwrap_or_else(|e| (Vec::new(), Some(e.to_string())));
            let mut answers = answers.into_iter();
            for merge in rest {
                if no_base && merge.base.is_some() {
                    results.push(Merged::Unsupported);
                } else if let Some(answer) = answers.next() {
                    results.push(answer);
                } else {
                    break;
                }
            }
            if let Some(failure) = failure
                && let Some(failed) = merges.get(results.len())
            {
                if failed.base.is_some() && failure.contains("malformed input line") {
                    no_base = true;
                } else {
                    results.push(Merged::Failed(failure));
                }
            }
        }
        let missing = merges.len() - results.len();
        results.extend(std::iter::repeat_n(Merged::Failed("git merge-tree failed too often".into()), missing));
        results
    }

    /// What git says before it ends, and why it ended before the last answer.
    fn batch(&self, merges: &[&Merge]) -> Result<(Vec<Merged>, Option<String>)> {
        if merges.is_empty() {
            return Ok((Vec::new(), None));
        }
        let dir = self.quarantine.get_or_try_init(|| quarantine(self.repo, self.hash))?.path();
        let mut input = String::new();
        for merge in merges {
            if let Some(base) = merge.base {
                input.push_str(&format!("{base} -- "));
            }
            input.push_str(&format!("{} {}\n", merge.ours, merge.theirs));
        }
        let args = ["merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only"];
        let output = Git::new(dir, args)
            .env("GIT_DIR", dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_ATTR_SOURCE", ObjectId::empty_tree(self.hash).to_string())
            .input(input)
            .output()?;
        let answers = parse(&output.stdout)?;
        if answers.len() >= merges.len() && output.status.success() {
            return Ok((answers, None));
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        let said = if said.is_empty() { output.status.to_string() } else { said };
        // What it said about the last one before it failed is not trusted when there is one answer too many.
        let answers = if answers.len() >= merges.len() { Vec::new() } else { answers };
        Ok((answers, Some(format!("git merge-tree: {said}"))))
    }
}

/// `<status> NUL <tree> NUL (<conflicted path> NUL)* NUL` for each merge; an unfinished last one is left out.
fn parse(mut rest: &[u8]) -> Result<Vec<Merged>> {
    let mut results = Vec::new();
    let mut field = || {
        let end = rest.iter().position(|b| *b == 0)?;
        let (head, tail) = rest.split_at(end);
        rest = tail.get(1..)?;
        Some(head)
    };
    while let (Some(status), Some(tree)) = (field(), field()) {
        loop {
            match field() {
                None => return Ok(results),
                Some(b"") => break,
                Some(_) => {}
            }
        }
        results.push(match status {
            b"1" => Merged::Tree(ObjectId::from_hex(tree).map_err(|_| odd(tree))?),
            b"0" => Merged::Conflict,
            other => return Err(odd(other)),
        });
    }
    Ok(results)
}

fn odd(field: &[u8]) -> Error {
    Error::failed("git", format!("git merge-tree printed '{}'", String::from_utf8_lossy(field)))
}

/// A bare repository of its own in the system's temporary directory.
fn quarantine(repo: &Repository, hash: gix::hash::Kind) -> Result<TempDir> {
    let dir = sys::private::temporary_dir("git-shadow-merge-")?;
    let at = dir.path();
    fs_err::create_dir_all(at.join("objects/info"))?;
    fs_err::create_dir(at.join("refs"))?;
    fs_err::write(at.join("HEAD"), "ref: refs/heads/none\n")?;
    let format = match hash {
        gix::hash::Kind::Sha1 => "[core]\n\trepositoryFormatVersion = 0\n".to_owned(),
        other => format!("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = {other}\n"),
    };
    // Directory renames are guesses about files nobody renamed; loose objects that live for a moment need no packing.
    let config = "[core]\n\tbare = true\n\tattributesFile = /dev/null\n\tlooseCompression = 0\n\
                  [merge]\n\trenames = true\n\tdirectoryRenames = false\n\trenormalize = false\n";
    fs_err::write(at.join("config"), format + config)?;
    fs_err::write(at.join("objects/info/alternates"), alternate(&repo.common_dir().join("objects"))?)?;
    // git looks for merge bases itself where there are several; it must know where history ends.
    let shallow = repo.common_dir().join("shallow");
    if shallow.try_exists()? {
        fs_err::copy(shallow, at.join("shallow"))?;
    }
    Ok(dir)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const OID: &str = "796b977745e4e587a8dfc27911fb16892c439a10";

    #[test]
    fn answers_are_told_apart_by_the_empty_field() {
        let out = format!("1\0{OID}\0\x000\0{OID}\0a\0b c\0\x001\0{OID}\0\0");
        let tree = Merged::Tree(ObjectId::from_hex(OID.as_bytes()).unwrap());
        assert_eq!(parse(out.as_bytes()).unwrap(), [tree.clone(), Merged::Conflict, tree]);
    }

    #[test]
    fn an_answer_that_was_cut_off_does_not_count() {
        let out = format!("1\0{OID}\0\x000\0{OID}\0a\0");
        assert_eq!(parse(out.as_bytes()).unwrap().len(), 1);
        assert_eq!(parse(format!("1\0{OID}").as_bytes()).unwrap(), []);
        assert!(parse(format!("2\0{OID}\0\0").as_bytes()).is_err());
    }

    #[test]
    fn an_alternate_is_quoted() {
        assert_eq!(alternate(Path::new("/a b:c/\"x\"\n")).unwrap(), b"\"/a b:c/\\\"x\\\"\\012\"\n");
    }
}
