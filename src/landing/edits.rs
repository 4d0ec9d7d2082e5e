//! Edits of both sides of a file that are so plainly apart that every merge gives the same, so git need not be asked.
//!
//! Where no line of the base is there twice and the lines that a side kept are in their old order, there is one way to
//! set the side against the base: each kept line beside itself. All diff algorithms find it, and no change can slide.
//! Changes with an unchanged line between them do not conflict, and the merge is the base with both applied. Whatever
//! is less plain than that is for git.

use std::collections::HashMap;

/// As far as git looks for a NUL byte before it takes a file for text.
const TEXT: usize = 8000;

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
    let mut lines: HashMap<&[u8], usize> = HashMap::new();
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
fn hunks<'a>(base: &[u8], starts: &[usize], lines: &HashMap<&[u8], usize>, side: &'a [u8]) -> Option<Vec<Hunk<'a>>> {
    let mut found: Vec<Hunk<'a>> = Vec::new();
    // Equal beginnings are skipped in one go.
    let equal = base.iter().zip(side).take_while(|(a, b)| a == b).count();
    let mut next = starts.partition_point(|start| *start <= equal) - 1;
    let (mut open, mut at) = (starts[next], starts[next]);
    let last = starts.len() - 1;
    for line in side[at..].split_inclusive(|b| *b == b'\n') {
        if let Some(&kept) = lines.get(line) {
            if kept < next {
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
    fn files_without_last_line_feed_or_with_nul_are_for_git() {
        assert!(!are_apart(b"a\nb\nc", b"A\nb\nc", b"a\nb\nC", b"A\nb\nC"));
        assert!(!are_apart(b"a\nb\0\nc\n", b"A\nb\0\nc\n", b"a\nb\0\nC\n", b"A\nb\0\nC\n"));
    }
}
