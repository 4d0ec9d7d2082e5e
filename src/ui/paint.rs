//! What answers for people are drawn with: colours that repeat what the words say, and widths.

use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthChar as _;

/// With less room than this, words stand better where the terminal breaks them.
const NARROW: usize = 20;

/// What an answer is drawn on.
#[derive(Debug, Clone, Default)]
pub struct Canvas {
    /// Escape sequences are understood.
    pub colour: bool,
    /// Columns; `None`: as many as it takes.
    pub width: Option<usize>,
    /// Where the user stands: paths are shown from there.
    pub here: PathBuf,
}

impl Canvas {
    /// Coloured, where that is understood.
    pub fn ink(&self, ink: Ink, text: &str) -> String {
        ink.on(self.colour, text)
    }

    /// A text that begins in the column `indent`, broken at spaces where the line is full; what follows stands below it.
    pub fn hang(&self, text: &str, indent: usize) -> String {
        let Some(room) = self.width.and_then(|width| width.checked_sub(indent)).filter(|room| *room >= NARROW) else {
            return text.into();
        };
        let (mut shown, mut used) = (String::with_capacity(text.len()), 0);
        for (n, word) in text.split(' ').enumerate() {
            let width = unicode_width::UnicodeWidthStr::width(word);
            if n > 0 && used + 1 + width > room {
                shown.push('\n');
                shown.push_str(&" ".repeat(indent));
                used = 0;
            } else if n > 0 {
                shown.push(' ');
                used += 1;
            }
            shown.push_str(word);
            used += width;
        }
        shown
    }

    /// A path as one would type it from here, safe to show: beside or below here it is relative.
    pub fn path(&self, path: &Path) -> String {
        if path == self.here {
            return ".".into();
        }
        if self.here.parent().is_none() {
            return super::safe_path(path);
        }
        if let Ok(below) = path.strip_prefix(&self.here) {
            return super::safe_path(below);
        }
        match self.here.parent().filter(|parent| parent.parent().is_some()).map(|parent| path.strip_prefix(parent)) {
            Some(Ok(beside)) => super::safe_path(&Path::new("..").join(beside)),
            Some(Err(_)) | None => super::safe_path(path),
        }
    }
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As it is.
    Plain,
    /// Goes, or went.
    Green,
    /// Needs a look.
    Yellow,
    /// Wrong.
    Red,
    /// Names.
    Cyan,
    /// Of little interest.
    Dim,
    /// Headings.
    Bold,
}

impl Ink {
    /// The text in this colour, if `colour`.
    pub fn on(self, colour: bool, text: &str) -> String {
        let code = match self {
            Ink::Plain => return text.into(),
            Ink::Green => "32",
            Ink::Yellow => "33",
            Ink::Red => "31",
            Ink::Cyan => "36",
            Ink::Dim => "2",
            Ink::Bold => "1",
        };
        if colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[m") } else { text.into() }
    }
}

/// At most `width` columns of a safe text, with `…` where something is left out; an escape such as `\033` stays whole.
pub fn cut(text: &str, width: usize) -> String {
    if unicode_width::UnicodeWidthStr::width(text) <= width {
        return text.into();
    }
    let (mut shown, mut used, mut rest) = (String::new(), 0, text);
    while let Some(first) = rest.chars().next() {
        let length = match rest.as_bytes() {
            [b'\\', b'0'..=b'3', _, _, ..] => 4,
            [b'\\', _, ..] if rest.is_char_boundary(2) => 2,
            _ => first.len_utf8(),
        };
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let columns: usize = piece.chars().map(|c| c.width().unwrap_or(0)).sum();
        if used + columns >= width {
            break;
        }
        shown.push_str(piece);
        used += columns;
        rest = after;
    }
    if width > 0 {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Canvas, cut};
    use std::path::Path;

    #[test]
    fn a_cut_keeps_escapes_and_wide_characters_whole() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut(r"a\033[31m", 5), "a…");
        assert_eq!(cut(r"a\033[31m", 6), r"a\033…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn a_hanging_text_breaks_at_spaces() {
        let on = |width, text: &str| Canvas { width, ..Canvas::default() }.hang(text, 4);
        assert_eq!(on(Some(26), "twenty-two columns are not many"), "twenty-two columns are\n    not many");
        assert_eq!(on(Some(26), "日本語 日本語 日本語 日本語"), "日本語 日本語 日本語\n    日本語");
        assert_eq!(
            on(Some(26), "/a/path/that/is/longer/than/that is whole"),
            "/a/path/that/is/longer/than/that\n    is whole"
        );
        assert_eq!(on(Some(20), "too narrow to be broken"), "too narrow to be broken");
        assert_eq!(on(None, "as long as it takes"), "as long as it takes");
    }

    #[test]
    fn paths_are_shown_from_here() {
        let canvas = Canvas { here: "/w/repo".into(), ..Canvas::default() };
        assert_eq!(canvas.path(Path::new("/w/repo")), ".");
        assert_eq!(canvas.path(Path::new("/w/repo/a")), "a");
        assert_eq!(canvas.path(Path::new("/w/repo-a/b")), "../repo-a/b");
        assert_eq!(canvas.path(Path::new("/tmp/x")), "/tmp/x");
        let top = Canvas { here: "/repo".into(), ..Canvas::default() };
        assert_eq!(top.path(Path::new("/tmp/x")), "/tmp/x");
        let root = Canvas { here: "/".into(), ..Canvas::default() };
        assert_eq!(root.path(Path::new("/tmp/x")), "/tmp/x");
    }
}
