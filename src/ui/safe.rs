//! Names from a repository, safe for the terminal: what git escapes when it quotes a name is escaped the same way
//! (`\033`, `\377`, `\t`), and so are the characters that change the direction or the look of the text around them.

use std::path::Path;

/// A name as text that cannot act on the terminal; bytes that are no UTF-8 are shown as `\377`.
pub fn safe(name: &[u8]) -> String {
    escaped(name, false)
}

/// The same for text that may hold names, a message for instance.
pub fn safe_lossy(text: &str) -> String {
    safe(text.as_bytes())
}

/// The same for a path.
pub fn safe_path(path: &Path) -> String {
    safe(path.as_os_str().as_encoded_bytes())
}

/// A name in a line for programs, as git quotes it: in double quotes when anything had to be escaped.
pub fn quoted(name: &[u8]) -> String {
    let text = escaped(name, true);
    if text.as_bytes() == name { text } else { format!("\"{text}\"") }
}

fn escaped(name: &[u8], quotes: bool) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if quotes && matches!(c, '"' | '\\') {
                text.push('\\');
                text.push(c);
            } else {
                push(&mut text, c);
            }
        }
        for byte in chunk.invalid() {
            octal(&mut text, *byte);
        }
    }
    text
}

fn push(text: &mut String, c: char) {
    match c {
        '\u{7}' => text.push_str("\\a"),
        '\u{8}' => text.push_str("\\b"),
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\u{b}' => text.push_str("\\v"),
        '\u{c}' => text.push_str("\\f"),
        '\r' => text.push_str("\\r"),
        c if c.is_control() || deceives(c) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| octal(text, byte)),
        c => text.push(c),
    }
}

/// Marks that reorder, join or hide text, and line ends that are no control characters.
fn deceives(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn octal(text: &mut String, byte: u8) {
    text.push_str(&format!("\\{byte:03o}"));
}

#[cfg(test)]
mod tests {
    use super::{quoted, safe};

    #[test]
    fn what_acts_on_a_terminal_is_escaped_as_git_does() {
        assert_eq!(safe(b"aos/claude/ab45"), "aos/claude/ab45");
        assert_eq!(safe("aos/über 日本".as_bytes()), "aos/über 日本");
        assert_eq!(safe(b"a\x1b[31mb"), r"a\033[31mb");
        assert_eq!(safe(b"w\xff"), r"w\377");
        assert_eq!(safe(b"a\tb\nc\x7f"), r"a\tb\nc\177");
        assert_eq!(safe("a\u{202e}b".as_bytes()), r"a\342\200\256b");
        assert_eq!(safe("a\u{9b}b".as_bytes()), r"a\302\233b");
    }

    #[test]
    fn quotes_are_added_only_where_needed() {
        assert_eq!(quoted(b"aos/a b"), "aos/a b");
        assert_eq!(quoted(b"a\"b"), r#""a\"b""#);
        assert_eq!(quoted(b"a\\b"), r#""a\\b""#);
        assert_eq!(quoted(b"a\x1bb\xff"), r#""a\033b\377""#);
    }
}
