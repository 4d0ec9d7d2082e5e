//! How remedies are written: what stands there can be typed as it is.

use std::path::{Path, PathBuf};

/// A path as a shell takes it.
pub(super) fn shell(path: &Path) -> String {
    quoted(path.as_os_str().as_encoded_bytes())
}

/// A word as a shell takes it; what cannot be shown is written as bash, zsh and ksh read it.
pub(super) fn quoted(word: impl AsRef<[u8]>) -> String {
    let word = word.as_ref();
    match std::str::from_utf8(word) {
        Ok(text) if !text.chars().any(char::is_control) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:@%,=".contains(c);
            let is_plain = !text.is_empty() && text.chars().all(plain);
            if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
        }
        Ok(_) | Err(_) => {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/ ".contains(byte);
            let one = |byte: &u8| if plain(byte) { char::from(*byte).to_string() } else { format!("\\{byte:03o}") };
            format!("$'{}'", word.iter().map(one).collect::<String>())
        }
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
        assert_eq!(quoted("/w/über"), "'/w/über'");
        assert_eq!(quoted(b"/w/a\xff'\n"), r"$'/w/a\377\047\012'");
    }
}
