//! Merges by git itself, without a trace: `git merge-tree --write-tree --stdin` over a private repository that borrows
//! the objects of the real one.
//!
//! The merged trees go into the private repository, so nothing below the real one changes. Because it has a
//! configuration of its own and no `info` of the real one, no user's or repository's setting, merge driver, attribute,
//! graft or replace ref changes an answer.

use gix::ObjectId;

use super::Git;
use super::quarantine::Quarantine;
use crate::error::{Error, Result};

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
    /// This git cannot be told the merge base, or must find one among too many loose objects.
    Unsupported,
    /// git failed on it, or what it needs cannot be read.
    Failed(String),
}

/// Runs merges of one repository.
#[derive(Debug)]
pub struct Merger<'r> {
    repo: &'r gix::Repository,
    quarantine: Option<Quarantine>,
    on_disk: bool,
}

impl<'r> Merger<'r> {
    /// Nothing is made before there is something to merge.
    pub fn new(repo: &'r gix::Repository) -> Self {
        Merger { repo, quarantine: None, on_disk: false }
    }

    /// What comes of each merge, in their order. A merge on which git fails does not spoil the others.
    pub fn run(&mut self, merges: &[Merge]) -> Vec<Merged> {
        let results = self.try_all(merges);
        let failed = |result: &Merged| matches!(result, Merged::Failed(_));
        if self.on_disk || !results.iter().any(failed) {
            return results;
        }
        // There may have been too little room in memory.
        (self.on_disk, self.quarantine) = (true, None);
        self.try_all(merges)
    }

    fn try_all(&mut self, merges: &[Merge]) -> Vec<Merged> {
        let mut results: Vec<Option<Merged>> = merges.iter().map(|merge| self.prepare(merge)).collect();
        for _ in 0..RESTARTS {
            let open: Vec<usize> = (0..merges.len()).filter(|at| results[*at].is_none()).collect();
            let asked: Vec<&Merge> = open.iter().map(|at| &merges[*at]).collect();
            let (answers, failure) = self.batch(&asked).unwrap_or_else(|e| (Vec::new(), Some(e.to_string())));
            let failed = open.get(answers.len()).copied();
            for (at, answer) in open.iter().zip(answers) {
                results[*at] = Some(answer);
            }
            let (Some(at), Some(failure)) = (failed, failure) else { break };
            if merges[at].base.is_some() && failure.contains("malformed input line") {
                for at in open.into_iter().filter(|at| merges[*at].base.is_some()) {
                    results[at] = Some(Merged::Unsupported);
                }
            } else {
                results[at] = Some(Merged::Failed(failure));
            }
        }
        let given_up = || Merged::Failed("git merge-tree failed too often".into());
        results.into_iter().map(|result| result.unwrap_or_else(given_up)).collect()
    }

    /// Have there what a merge reads; some answer means that it cannot be asked.
    fn prepare(&mut self, merge: &Merge) -> Option<Merged> {
        let repo = self.repo;
        let provided = self.quarantine().and_then(|quarantine| match merge.base {
            Some(base) => quarantine.provide(repo, [base, merge.ours, merge.theirs]).map(|()| true),
            None => quarantine.provide_all(),
        });
        match provided {
            Ok(true) => None,
            Ok(false) => Some(Merged::Unsupported),
            Err(error) => Some(Merged::Failed(error.message)),
        }
    }

    fn quarantine(&mut self) -> Result<&mut Quarantine> {
        match &mut self.quarantine {
            Some(quarantine) => Ok(quarantine),
            none => Ok(none.insert(Quarantine::new(self.repo, !self.on_disk)?)),
        }
    }

    /// What git says before it ends, and why it ended before the last answer.
    fn batch(&mut self, merges: &[&Merge]) -> Result<(Vec<Merged>, Option<String>)> {
        if merges.is_empty() {
            return Ok((Vec::new(), None));
        }
        let dir = self.quarantine()?.path().to_owned();
        let mut input = String::new();
        for merge in merges {
            if let Some(base) = merge.base {
                input.push_str(&format!("{base} -- "));
            }
            input.push_str(&format!("{} {}\n", merge.ours, merge.theirs));
        }
        let args = ["merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only"];
        let output = Git::new(&dir, args)
            .env("GIT_DIR", &dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_ATTR_SOURCE", ObjectId::empty_tree(self.repo.object_hash()).to_string())
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
}
