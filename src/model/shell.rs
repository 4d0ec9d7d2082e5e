//! How a remedy is written: what stands there can be typed as it is.

use std::path::Path;

/// A path as a shell takes it.
pub fn path(path: &Path) -> String {
    word(path.as_os_str().as_encoded_bytes())
}

/// A word as a shell takes it; what cannot be shown is written as bash, zsh and ksh read it.
pub fn word(word: impl AsRef<[u8]>) -> String {
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

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_shell_takes_it_as_one_word() {
        assert_eq!(word("/w/a-b_1.x"), "/w/a-b_1.x");
        assert_eq!(word("/w/a b"), "'/w/a b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("^refs/shadow/*"), "'^refs/shadow/*'");
        assert_eq!(word(""), "''");
        assert_eq!(word("/w/über"), "'/w/über'");
        assert_eq!(word(b"/w/a\xff'\n"), r"$'/w/a\377\047\012'");
    }
}
