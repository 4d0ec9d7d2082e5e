//! Which shadow a word on the command line means: branch, full ref, short session id, registration id or path. A word
//! that means several is an error; the full ref or the path tells them apart.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, ByteSlice as _};

use crate::error::{Error, Result};
use crate::lease::Leases;
use crate::model::{Shadow, last_part, short_name};
use crate::ui::safe;

/// The shadow that `word` means; a relative path counts from `dir`.
///
/// # Errors
/// When it means none (with the nearest name) or several (with all of them).
pub fn select<'a>(word: &OsStr, shadows: &'a [Shadow], leases: &Leases, dir: &Path) -> Result<&'a Shadow> {
    let name = word.as_encoded_bytes().as_bstr();
    let path = resolved(&dir.join(word));
    let found: Vec<&Shadow> = shadows
        .iter()
        .filter(|shadow| is_named(shadow, name) || is_at(shadow, &path) || is_leased(shadow, name, leases))
        .collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(unknown(name, shadows)),
        several => Err(ambiguous(name, several)),
    }
}

/// The shadow whose worktree `dir` is in, the innermost one.
pub fn current<'a>(shadows: &'a [Shadow], dir: &Path) -> Option<&'a Shadow> {
    let dir = resolved(dir);
    let inside = shadows.iter().filter_map(|shadow| {
        let path = resolved(shadow.worktree.as_ref()?.path.as_ref()?);
        dir.starts_with(&path).then(|| (path.components().count(), shadow))
    });
    inside.max_by_key(|(depth, _)| *depth).map(|(_, shadow)| shadow)
}

/// With links resolved, where it exists.
fn resolved(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_named(shadow: &Shadow, name: &BStr) -> bool {
    let branch = shadow.branch.as_ref().map(|branch| branch.name.as_bstr());
    let worktree = shadow.worktree.as_ref();
    let is_branch = |full: &BStr| {
        let short = short_name(full);
        full == name || short == name || last_part(short) == name
    };
    branch.is_some_and(is_branch)
        || worktree.is_some_and(|worktree| {
            worktree.id.as_bstr() == name || worktree.names.iter().any(|(full, _)| is_branch(full.as_bstr()))
        })
}

fn is_at(shadow: &Shadow, path: &Path) -> bool {
    let place = shadow.worktree.as_ref().and_then(|worktree| worktree.path.as_deref());
    place.is_some_and(|place| place == path || resolved(place) == path)
}

fn is_leased(shadow: &Shadow, id: &BStr, leases: &Leases) -> bool {
    let branch = shadow.branch.as_ref().map(|branch| short_name(branch.name.as_bstr()));
    leases.all().filter(|lease| lease.id.as_bytes() == id.as_bytes()).any(|lease| {
        lease.branches.iter().any(|named| Some(short_name(named.as_bstr())) == branch)
            || lease.worktrees.iter().any(|path| is_at(shadow, &resolved(path)))
    })
}

fn unknown(name: &BStr, shadows: &[Shadow]) -> Error {
    let error = Error::fatal("no-such-shadow", format!("no shadow is named '{}'", safe(name)));
    let wanted = name.to_str_lossy();
    let likeness = |shadow: &Shadow| {
        let parts = [shadow.name.as_bstr(), last_part(shadow.name.as_bstr())];
        parts.map(|part| strsim::jaro_winkler(&wanted, &part.to_str_lossy())).into_iter().fold(0.0, f64::max)
    };
    let nearest = shadows.iter().map(|shadow| (likeness(shadow), shadow)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, shadow)) if likeness > 0.85 => error.hint(format!("did you mean '{}'?", safe(&shadow.name))),
        _ => error.hint("'git shadow list --all' shows every name, 'git shadow log' what was released"),
    }
}

fn ambiguous(name: &BStr, several: &[&Shadow]) -> Error {
    let all: Vec<String> = several.iter().map(|shadow| format!("  {}", full_name(shadow))).collect();
    Error::fatal("ambiguous", format!("'{}' is ambiguous, it means {} shadows", safe(name), several.len()))
        .hint(format!("one of\n{}", all.join("\n")))
}

/// What tells it apart from every other.
fn full_name(shadow: &Shadow) -> String {
    let branch = shadow.branch.as_ref().map(|branch| safe(&branch.name));
    let path = shadow.worktree.as_ref().and_then(|worktree| worktree.path.as_deref()).map(crate::ui::safe_path);
    branch.or(path).unwrap_or_else(|| safe(&shadow.name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{current, select};
    use crate::lease::Leases;
    use crate::model::{Branch, Head, Registration, Shadow};
    use gix::ObjectId;
    use std::path::Path;

    fn shadow(branch: &str, worktree: Option<(&str, &str)>) -> Shadow {
        Shadow {
            name: branch.into(),
            foreign: false,
            branch: Some(Branch {
                name: format!("refs/heads/{branch}").into(),
                tip: Some(ObjectId::null(gix::hash::Kind::Sha1)),
            }),
            worktree: worktree.map(|(id, path)| Registration {
                id: id.into(),
                git_dir: format!("/r/.git/worktrees/{id}").into(),
                path: Some(path.into()),
                head: Head::Branch(format!("refs/heads/{branch}").into(), None),
                names: vec![(format!("refs/heads/{branch}").into(), "checked out")],
                unread: None,
            }),
        }
    }

    fn all() -> Vec<Shadow> {
        vec![
            shadow("aos/claude/ab45", Some(("repo1", "/nowhere/s/ab45"))),
            shadow("aos/codex/ab45", None),
            shadow("aos/codex/cd56", Some(("repo2", "/nowhere/s/ab45/inner"))),
        ]
    }

    fn named(word: &str) -> Result<String, crate::error::Error> {
        let shadows = all();
        let found = select(word.as_ref(), &shadows, &Leases::default(), Path::new("/nowhere/s"));
        found.map(|shadow| shadow.name.to_string())
    }

    #[test]
    fn every_kind_of_name_finds_its_shadow() {
        assert_eq!(named("aos/claude/ab45").unwrap(), "aos/claude/ab45");
        assert_eq!(named("refs/heads/aos/codex/ab45").unwrap(), "aos/codex/ab45");
        assert_eq!(named("cd56").unwrap(), "aos/codex/cd56");
        assert_eq!(named("repo1").unwrap(), "aos/claude/ab45");
        assert_eq!(named("/nowhere/s/ab45/inner").unwrap(), "aos/codex/cd56");
        assert_eq!(named("ab45/inner").unwrap(), "aos/codex/cd56");
    }

    #[test]
    fn several_are_an_error_that_lists_them() {
        let shadows = all();
        let error = select("ab45".as_ref(), &shadows, &Leases::default(), Path::new("/")).unwrap_err();
        assert_eq!(error.code, "ambiguous");
        assert_eq!(error.hint.unwrap(), "one of\n  refs/heads/aos/claude/ab45\n  refs/heads/aos/codex/ab45");
    }

    #[test]
    fn none_is_an_error_with_the_nearest() {
        assert_eq!(named("cd57").unwrap_err().hint.unwrap(), "did you mean 'aos/codex/cd56'?");
        assert!(named("zzz").unwrap_err().hint.unwrap().contains("list --all"));
    }

    #[test]
    fn a_lease_gives_its_session_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"format":"agentic-os.native-lease.v1","id":"xy99","artifacts":[{"branch":"aos/codex/cd56"}]}"#;
        fs_err::write(folder.path().join("xy99.json"), text).unwrap();
        let leases = Leases::read_from(folder.path());
        let shadows = all();
        assert_eq!(select("xy99".as_ref(), &shadows, &leases, Path::new("/")).unwrap().name, "aos/codex/cd56");
    }

    #[test]
    fn the_innermost_worktree_is_the_current_one() {
        let shadows = all();
        let here = |dir: &str| current(&shadows, Path::new(dir)).map(|shadow| shadow.name.to_string());
        assert_eq!(here("/nowhere/s/ab45/src").as_deref(), Some("aos/claude/ab45"));
        assert_eq!(here("/nowhere/s/ab45/inner").as_deref(), Some("aos/codex/cd56"));
        assert_eq!(here("/nowhere/s/ab456"), None);
    }
}
