//! The patterns of policy: branches (git's wildmatch, `*` stays within one level), roots, saved files (gitignore's).

use std::path::{Component, Path, PathBuf};

use gix::bstr::{BStr, ByteSlice as _};
use gix::glob::wildmatch::Mode;

/// Whether a branch pattern matches a ref, by its short or its full name.
pub(crate) fn matches_branch(pattern: &str, full: &BStr) -> bool {
    matches(pattern, full) || full.strip_prefix(b"refs/heads/").is_some_and(|short| matches(pattern, short.as_bstr()))
}

/// git's wildmatch with pathname semantics.
fn matches(pattern: &str, name: &BStr) -> bool {
    gix::glob::wildmatch(pattern.into(), name, Mode::NO_MATCH_SLASH_LITERAL)
}

/// Whether a remote's name matches one of the patterns; a slash in it is a character like others.
pub(crate) fn matches_remote(patterns: &[String], remote: &BStr) -> bool {
    patterns.iter().any(|pattern| gix::glob::wildmatch(pattern.as_str().into(), remote, Mode::empty()))
}

/// Whether a pattern has no fixed part, so that it covers whatever there is on its level.
pub(super) fn covers_everything(pattern: &str) -> bool {
    let mut chars = pattern.strip_prefix("refs/heads/").unwrap_or(pattern).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '/' => {}
            '[' => skip_class(&mut chars),
            _ => return false,
        }
    }
    true
}

fn skip_class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    chars.next_if(|c| matches!(c, '!' | '^'));
    // A bracket that comes first stands for itself.
    chars.next_if_eq(&']');
    while chars.next().is_some_and(|c| c != ']') {}
}

/// What is wrong with a wildcard pattern for names.
pub(super) fn check(pattern: &str) -> Result<String, String> {
    let why = if pattern.is_empty() {
        "it is empty"
    } else if pattern.starts_with('!') {
        "it cannot be negated"
    } else if pattern.starts_with('/') || pattern.ends_with('/') || pattern.contains("//") {
        "a slash stands between two names"
    } else if pattern.chars().any(|c| c.is_control() || c == ' ') {
        "no name has such a character"
    } else {
        return check_wildcards(pattern).map(|()| pattern.to_owned());
    };
    Err(format!("bad pattern '{pattern}': {why}"))
}

fn check_wildcards(pattern: &str) -> Result<(), String> {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next().is_none() {
            return Err(format!("bad pattern '{pattern}': nothing follows the backslash"));
        }
        if c == '[' {
            let mut rest = chars.clone();
            rest.next_if(|c| matches!(c, '!' | '^'));
            rest.next_if_eq(&']');
            if !rest.any(|c| c == ']') {
                return Err(format!("bad pattern '{pattern}': '[' is not closed"));
            }
            skip_class(&mut chars);
        }
    }
    Ok(())
}

/// The absolute path or glob of a root, `~/` expanded.
pub(super) fn check_root(root: &str) -> Result<String, String> {
    let path = match root.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = etcetera::home_dir().map_err(|e| format!("cannot expand '{root}': {e}"))?;
            format!("{}{rest}", escape(home.to_str().ok_or("the home directory is not UTF-8")?))
        }
        Some(_) => return Err(format!("cannot expand '{root}'; only '~/' is known")),
        None => root.to_owned(),
    };
    let trimmed = path.trim_end_matches('/');
    let is_plain = |c| matches!(c, Component::RootDir | Component::Prefix(_) | Component::Normal(_));
    if !Path::new(&path).is_absolute() || !Path::new(&path).components().all(is_plain) {
        return Err(format!("'{root}' is not an absolute path"));
    }
    if covers_everything(trimmed) {
        return Err(format!("'{root}' would cover everything"));
    }
    check_wildcards(trimmed)?;
    Ok(trimmed.to_owned())
}

/// The absolute path of a folder, without wildcards, `~/` expanded.
pub(super) fn check_folder(folder: &str) -> Result<PathBuf, String> {
    if folder.contains(['*', '?', '[', '\\']) {
        return Err(format!("'{folder}' is a pattern; name the folder itself"));
    }
    check_root(folder).map(|path| PathBuf::from(unescape(&path)))
}

/// A path that stands for itself in a glob.
pub(super) fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn unescape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// A root as it resolves, if that is another one: git registers worktrees by resolved paths. Only what stands before
/// the first wildcard can be resolved, and of that what exists.
pub(super) fn resolve_root(root: &str) -> Option<String> {
    let names: Vec<&str> = root.split('/').collect();
    let plain = names.iter().take_while(|name| !name.contains(['*', '?', '[', '\\'])).count();
    let existing = (1..=plain).rev().find_map(|end| {
        let resolved = fs_err::canonicalize(names[..end].join("/")).ok()?;
        Some((end, resolved))
    });
    let (end, resolved) = existing?;
    let rest = names[end..].iter().map(|name| format!("/{name}")).collect::<String>();
    let resolved = format!("{}{rest}", escape(resolved.to_str()?));
    (resolved != root).then_some(resolved)
}

/// Whether `path` or a directory above it matches a root. A path that is relative or climbs matches none.
pub(super) fn is_under(root: &str, path: &Path) -> bool {
    if !path.is_absolute() || path.components().any(|c| c == Component::ParentDir) {
        return false;
    }
    path.ancestors().any(|above| gix::path::into_bstr(above).is_ok_and(|above| matches(root, above.as_ref())))
}

/// What is wrong with a pattern in gitignore's syntax.
pub(super) fn check_ignore(pattern: &str) -> Result<String, String> {
    let why = match gix::glob::parse(pattern) {
        None => "it is empty",
        Some(_) if pattern.starts_with('#') => "it reads as a comment; write '\\#'",
        Some(_) if pattern.trim() != pattern => "it begins or ends with a space",
        Some(_) => return check_wildcards(pattern).map(|()| pattern.to_owned()),
    };
    Err(format!("bad pattern '{pattern}': {why}"))
}

/// Whether a file is selected by patterns in gitignore's syntax: the last that matches it decides, and what lies in a
/// selected directory is selected.
pub(super) fn selects(patterns: &[String], file: &BStr) -> bool {
    let directories = file.find_iter(b"/").map(|end| (file[..end].as_bstr(), true));
    directories.chain([(file, false)]).any(|(path, is_dir)| {
        let matching = patterns.iter().rev().filter_map(gix::glob::parse).find(|pattern| {
            pattern.matches_repo_relative_path(
                path,
                path.rfind_byte(b'/').map(|at| at + 1),
                Some(is_dir),
                gix::glob::pattern::Case::Sensitive,
                Mode::NO_MATCH_SLASH_LITERAL,
            )
        });
        matching.is_some_and(|pattern| !pattern.is_negative())
    })
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
