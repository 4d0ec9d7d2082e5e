//! The scripts in `hooks/`, as they are written into a repository: with the path of the program, and a checksum by which
//! any later version knows whether somebody has changed them.

use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};

use crate::error::{Error, Result, chain};
use crate::model::Event;
use crate::seal;

/// The line of a template that names the program.
const PROGRAM: &str = "_gs_program=git-shadow\n";

/// Every script begins so; the checksum and a line end follow.
const HEAD: &str = "#!/bin/sh\n# git-shadow ";

/// The name of the program, as it is looked for in `PATH`.
const NAME: &str = "git-shadow";

fn template(event: Event) -> &'static str {
    match event {
        Event::PostMerge => include_str!("../../hooks/post-merge"),
        Event::PrePush => include_str!("../../hooks/pre-push"),
    }
}

/// The script for an event, calling this program.
///
/// # Errors
/// When the checksum cannot be made.
pub fn render(event: Event, program: &Path) -> Result<Vec<u8>> {
    let line = [b"_gs_program=".to_vec(), quote(program.as_os_str().as_encoded_bytes()), b"\n".to_vec()].concat();
    let text = template(event).as_bytes().replace(PROGRAM, line);
    let rest = text.strip_prefix(b"#!/bin/sh\n").unwrap_or(&text);
    seal::seal(HEAD, rest, "\n")
}

/// The program that a script of ours calls.
pub fn called(script: &[u8]) -> Option<PathBuf> {
    let line = script.lines().find_map(|line| line.strip_prefix(b"_gs_program='"))?;
    let word = line.strip_suffix(b"'")?.replace(r"'\''", "'");
    gix::path::from_byte_slice(&word).ok().map(Path::to_owned)
}

/// Whether a file is a script of ours, of any version: `Some(true)` as it was written, `Some(false)` changed since.
///
/// # Errors
/// When the checksum cannot be made.
pub fn is_ours(file: &[u8]) -> Result<Option<bool>> {
    seal::check(HEAD, file, "\n")
}

/// One word of the shell, whatever it holds.
pub fn quote(word: &[u8]) -> Vec<u8> {
    [b"'".to_vec(), word.replace("'", "'\\''"), b"'".to_vec()].concat()
}

/// The path by which this program is best called again: the name in `PATH` that leads to it (a package manager moves what
/// is behind it with every version), else its own.
///
/// # Errors
/// When the system does not tell where the program is.
pub fn program() -> Result<PathBuf> {
    let own =
        std::env::current_exe().map_err(|e| Error::failed("hooks", format!("cannot tell where {NAME} is: {e}")))?;
    let real = fs_err::canonicalize(&own)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut named = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(NAME));
    Ok(named.find(|name| fs_err::canonicalize(name).is_ok_and(|found| found == real)).unwrap_or(real))
}

/// The line that something else has to run, where it manages the hooks: it never fails and never waits for input.
pub fn line(event: Event, arguments: &str) -> String {
    let output = match event {
        Event::PostMerge => "",
        Event::PrePush => " >/dev/null 2>&1",
    };
    format!("command -v {NAME} >/dev/null && {NAME} hook {} {arguments} </dev/null{output} || true", event.as_str())
}

/// A path as bytes, for a configuration value.
///
/// # Errors
/// When the system's paths are no bytes and this one is no Unicode.
pub fn bytes(path: &Path) -> Result<BString> {
    gix::path::into_bstr(path).map(std::borrow::Cow::into_owned).map_err(|e| Error::failed("hooks", chain(&e)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::{PROGRAM, called, is_ours, quote, render, template};
    use crate::model::Event;

    #[test]
    fn a_script_is_known_again_until_somebody_changes_it() {
        for event in Event::ALL {
            assert_eq!(template(event).matches(PROGRAM).count(), 1);
            let script = render(event, Path::new("/opt/it's/git-shadow")).unwrap();
            assert_eq!(is_ours(&script).unwrap(), Some(true));
            let text = String::from_utf8(script).unwrap();
            assert!(text.contains("\n_gs_program='/opt/it'\\''s/git-shadow'\n"), "{text}");
            assert_eq!(called(text.as_bytes()).unwrap(), Path::new("/opt/it's/git-shadow"));
            assert_eq!(is_ours(format!("{text}# mine\n").as_bytes()).unwrap(), Some(false));
            assert_eq!(is_ours(template(event).as_bytes()).unwrap(), None);
        }
        assert_eq!(is_ours(b"#!/bin/sh\nexit 0\n").unwrap(), None);
    }

    #[test]
    fn a_word_is_quoted_for_the_shell() {
        assert_eq!(quote(b"a b'c$"), b"'a b'\\''c$'");
    }
}
