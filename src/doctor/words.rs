//! How remedies are written: what stands there can be typed as it is.

use std::path::{Path, PathBuf};

/// A path as a shell takes it.
pub(super) fn shell(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Where something is out of the way, beside where it is.
pub(super) fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}.aside", name.trim_start_matches('.')))
}

/// `1 path`, `2 paths`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_takes_it_as_one_word() {
        assert_eq!(quoted("/w/a-b_1.x"), "/w/a-b_1.x");
        assert_eq!(quoted("/w/a b"), "'/w/a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("^refs/shadow/*"), "'^refs/shadow/*'");
        assert_eq!(quoted(""), "''");
    }
}
