//! How remedies are written: what stands there can be typed as it is.

use std::path::Path;

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
