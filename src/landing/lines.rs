//! The lines of files as bags of hashes: a cheap sieve before git is asked to merge. It refuses only what git's merge
//! cannot have made, and what it lets through proves nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::rc::Rc;

use gix::ObjectId;

/// Larger files are not looked into.
const LARGE: u64 = 1 << 20;
/// How many hashes are kept.
const KEPT: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Lines {
    bags: HashMap<ObjectId, Rc<[u64]>>,
    size: usize,
}

impl Lines {
    /// The bag of a file; `None`: it is too large or cannot be read.
    pub(super) fn of(&mut self, repo: &gix::Repository, id: ObjectId) -> Option<Rc<[u64]>> {
        if let Some(bag) = self.bags.get(&id) {
            return Some(Rc::clone(bag));
        }
        if repo.find_header(id).ok()?.size() > LARGE {
            return None;
        }
        let bag = bag(&repo.find_object(id).ok()?.data);
        if self.size > KEPT {
            self.bags.clear();
            self.size = 0;
        }
        self.size += bag.len();
        self.bags.insert(id, Rc::clone(&bag));
        Some(bag)
    }
}

/// The hash of each line without its line feed, sorted.
fn bag(content: &[u8]) -> Rc<[u64]> {
    let mut lines: Vec<u64> = content
        .split(|b| *b == b'\n')
        .map(|line| {
            let mut hasher = DefaultHasher::new();
            hasher.write(line);
            hasher.finish()
        })
        .collect();
    lines.sort_unstable();
    lines.into()
}

/// Whether every line that `new` has more often than `old` is in `result` at least as often as it was added.
pub(super) fn added_lines_are_in(old: &[u64], new: &[u64], result: &[u64]) -> bool {
    let (mut o, mut r) = (0, 0);
    let mut rest = new;
    while let Some(&line) = rest.first() {
        let count = rest.iter().take_while(|l| **l == line).count();
        rest = &rest[count..];
        let had = count_from(old, &mut o, line);
        let has = count_from(result, &mut r, line);
        if count > had + has {
            return false;
        }
    }
    true
}

/// How often a line is in a bag, from a place that moves on.
fn count_from(bag: &[u64], at: &mut usize, line: u64) -> usize {
    while bag.get(*at).is_some_and(|l| *l < line) {
        *at += 1;
    }
    let count = bag[*at..].iter().take_while(|l| **l == line).count();
    *at += count;
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, result: &str) -> bool {
        added_lines_are_in(&bag(old.as_bytes()), &bag(new.as_bytes()), &bag(result.as_bytes()))
    }

    #[test]
    fn a_result_must_have_what_was_added() {
        assert!(check("a\nb\n", "a\nx\nb\n", "c\na\nx\nb\n"));
        assert!(!check("a\nb\n", "a\nx\nb\n", "a\nb\n"));
        assert!(!check("a\n", "a\nx\nx\n", "a\nx\n"));
        assert!(check("a\nb\n", "a\n", "c\n"), "what was only deleted says nothing");
        assert!(check("a\n", "a\nx", "a\nx\n"), "a last line without line feed is the same line");
        assert!(!check("a\n", "a\r\n", "a\n"), "a carriage return is content");
    }
}
