//! Edits of both sides of a file that are so plainly apart that every merge gives the same, so git need not be asked.
//!
//! Where no line of the base is there twice and the lines that a side kept are in their old order, there is one way to
//! set the side against the base: each kept line beside itself. All diff algorithms find it, and no change can slide.
//! Changes with an unchanged line between them do not conflict, and the merge is the base with both applied. Whatever
//! is less plain than that is for git.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// As far as git looks for a NUL byte before it takes a file for text.
const TEXT: usize = 8000;

/// Where each line of the base is.
type Places<'a> = HashMap<&'a [u8], usize, BuildHasherDefault<LineHasher>>;

/// Lines of the base that a side replaced: from line to line, by these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hunk<'a> {
    from: usize,
    to: usize,
    by: &'a [u8],
}

/// Whether `ours` and `theirs` changed `base` apart from each other, and `result` is both changes together.
pub(super) fn are_apart(base: &[u8], ours: &[u8], theirs: &[u8], result: &[u8]) -> bool {
    let plain = |text: &[u8]| text.last() == Some(&b'\n') && !text[..text.len().min(TEXT)].contains(&0);
    if ![base, ours, theirs, result].into_iter().all(plain) {
        return false;
    }
    let mut starts = vec![0];
    let mut lines = Places::with_capacity_and_hasher(base.iter().filter(|b| **b == b'\n').count(), Default::default());
    for line in base.split_inclusive(|b| *b == b'\n') {
        if lines.insert(line, starts.len() - 1).is_some() {
            return false;
        }
        starts.push(starts[starts.len() - 1] + line.len());
    }
    let (Some(ours), Some(theirs)) = (hunks(base, &starts, &lines, ours), hunks(base, &starts, &lines, theirs)) else {
        return false;
    };
    let mut all: Vec<Hunk<'_>> = ours.into_iter().chain(theirs).collect();
    all.sort_unstable_by_key(|hunk| (hunk.from, hunk.to));
    if all.windows(2).any(|pair| pair[0].to >= pair[1].from) {
        return false;
    }
    // The base with all hunks in place of what they replace.
    let (mut rest, mut at) = (result, 0);
    for hunk in &all {
        for part in [&base[starts[at]..starts[hunk.from]], hunk.by] {
            match rest.strip_prefix(part) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        at = hunk.to;
    }
    rest == &base[starts[at]..]
}

/// What a side changed; `None`: it moved lines, so there are several ways to see it.
fn hunks<'a>(base: &[u8], starts: &[usize], lines: &Places<'_>, side: &'a [u8]) -> Option<Vec<Hunk<'a>>> {
    let mut found: Vec<Hunk<'a>> = Vec::new();
    // Equal lines at the beginning and at the end are skipped in one go.
    let equal = base.iter().zip(side).take_while(|(a, b)| a == b).count();
    let mut next = starts.partition_point(|start| *start <= equal) - 1;
    let (mut open, mut at) = (starts[next], starts[next]);
    let room = base.len().min(side.len()) - at;
    let equal = base.iter().rev().zip(side.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    // A line at the end is equal if the line feed before it is.
    let last = starts.partition_point(|start| *start <= base.len() - equal).min(starts.len() - 1);
    let end = side.len() - (base.len() - starts[last]);
    for line in side[at..end].split_inclusive(|b| *b == b'\n') {
        if let Some(&kept) = lines.get(line) {
            if kept < next || kept >= last {
                return None;
            }
            if kept > next || at > open {
                found.push(Hunk { from: next, to: kept, by: &side[open..at] });
            }
            next = kept + 1;
            open = at + line.len();
        }
        at += line.len();
    }
    if next < last || at > open {
        found.push(Hunk { from: next, to: last, by: &side[open..at] });
    }
    Some(found)
}

/// Quick, eight bytes at a time; equal hashes are told apart by the lines themselves.
#[derive(Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, result: &str) -> bool {
        let text = |lines: &str| lines.split(' ').map(|l| format!("{l}\n")).collect::<String>().into_bytes();
        are_apart(&text(base), &text(ours), &text(theirs), &text(result))
    }

    #[test]
    fn changes_with_a_line_between_them_are_apart() {
        assert!(check("a b c d e", "A b c d e", "a b c d E", "A b c d E"));
        assert!(check("a b c", "A b c", "a b C", "A b C"));
        assert!(check("a b c d", "b c d", "a b c d e", "b c d e"));
        assert!(check("a b c d e f", "a x y b c d e f", "a b c f", "a x y b c f"));
        assert!(check("a b c d e", "A b C d e", "a b c d E", "A b C d E"));
        assert!(check("a1 b1 c1", "a2 b1 c1", "a1 b1 c2", "a2 b1 c2"), "lines that end or begin alike");
    }

    #[test]
    fn a_result_that_differs_in_anything_is_not_theirs() {
        assert!(!check("a b c", "A b c", "a b C", "A b c"));
        assert!(!check("a b c", "A b c", "a b C", "A b C d"));
        assert!(!check("a b c", "A b c", "a b C", "A x C"));
    }

    #[test]
    fn what_touches_moves_or_repeats_is_for_git() {
        assert!(!check("a b c", "A b c", "a B c", "A B c"), "neighbours conflict");
        assert!(!check("a b c", "a x b c", "a y b c", "a x y b c"), "both insert at a place");
        assert!(!check("a b c", "A b c", "A b c", "A b c"), "the same change");
        assert!(!check("a b c d", "b a c d", "a b c D", "b a c D"), "moved");
        assert!(!check("a b b c", "A b b c", "a b b C", "A b b C"), "repeated");
        assert!(!check("a b c d", "a b c a d", "a b c D", "a b c a D"), "a line of the base again");
    }

    #[test]
    fn lines_that_only_end_alike_are_not_the_same() {
        assert!(!are_apart(b"a\nb\nc\n", b"ab\nc\n", b"a\nb\nC\n", b"ab\nC\n"));
        assert!(are_apart(b"a\nb\nc\nd\n", b"ab\nc\nd\n", b"a\nb\nc\nD\n", b"ab\nc\nD\n"));
        assert!(!are_apart(b"b\nc\n", b"ab\nc\n", b"b\nC\n", b"ab\nC\n"));
        assert!(!are_apart(b"a\nb\n", b"a\nb\n", b"a\nB\n", b"a\nb\n"));
    }

    #[test]
    fn files_without_last_line_feed_or_with_nul_are_for_git() {
        assert!(!are_apart(b"a\nb\nc", b"A\nb\nc", b"a\nb\nC", b"A\nb\nC"));
        assert!(!are_apart(b"a\nb\0\nc\n", b"A\nb\0\nc\n", b"a\nb\0\nC\n", b"A\nb\0\nC\n"));
    }

    /// The same without a short cut.
    fn plainly<'a>(base: &[u8], lines: &Places<'_>, side: &'a [u8]) -> Option<Vec<Hunk<'a>>> {
        let last = base.split_inclusive(|b| *b == b'\n').count();
        let (mut found, mut next, mut open, mut at) = (Vec::new(), 0, 0, 0);
        for line in side.split_inclusive(|b| *b == b'\n') {
            if let Some(&kept) = lines.get(line) {
                if kept < next {
                    return None;
                }
                found.push(Hunk { from: next, to: kept, by: &side[open..at] });
                (next, open) = (kept + 1, at + line.len());
            }
            at += line.len();
        }
        found.push(Hunk { from: next, to: last, by: &side[open..at] });
        found.retain(|hunk| hunk.from < hunk.to || !hunk.by.is_empty());
        Some(found)
    }

    #[test]
    fn short_cuts_change_nothing() {
        let mut state = 7_u32;
        let mut below = |end: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % end
        };
        for _ in 0..20_000 {
            let mut text = |most| {
                let mut text = Vec::new();
                for _ in 0..below(most) + 1 {
                    let line: &[u8] =
                        [&b"a\n"[..], b"b\n", b"ab\n", b"ba\n", b"\n", b"bb\n", b"aa\n"][below(7) as usize];
                    text.extend_from_slice(line);
                }
                text
            };
            let (base, side) = (text(5), text(6));
            let (mut starts, mut lines) = (vec![0], Places::default());
            for line in base.split_inclusive(|b| *b == b'\n') {
                lines.insert(line, starts.len() - 1);
                starts.push(starts[starts.len() - 1] + line.len());
            }
            if lines.len() + 1 == starts.len() {
                assert_eq!(hunks(&base, &starts, &lines, &side), plainly(&base, &lines, &side), "{base:?} {side:?}");
            }
        }
    }
}
