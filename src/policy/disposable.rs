//! Which ignored files can be rebuilt. The caller has established that git ignores the path.

use gix::bstr::{BStr, ByteSlice as _};

/// Directories that a build, a test run or an install makes again.
pub(super) const DIRECTORIES: &[&str] = &[
    "target",
    "node_modules",
    ".venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".next",
    ".nuxt",
    ".turbo",
    ".gradle",
    ".parcel-cache",
];

/// Files likewise. Not `dist`, `build`, `out`, `vendor` or `*.log`: people keep things there.
pub(super) const FILES: &[&str] = &["*.pyc", ".DS_Store"];

/// Where packages bring certificates, keys and databases of their own.
const PACKAGES: &[&[u8]] = &[b"node_modules", b".venv"];

/// What an ignored path is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposable {
    /// It can be rebuilt.
    Rebuildable,
    /// It is of a kind that holds whatever the list says: secrets and databases.
    Precious,
    /// Nothing says that it can be rebuilt.
    No,
}

/// What the ignored `path` (relative to the worktree) is worth, by the built-in names and those that `names` adds.
///
/// Secrets and databases hold wherever they are, except that packages bring their own: `*.pem`, `*.key` and databases
/// inside `node_modules` and `.venv` do not.
pub(super) fn classify(path: &BStr, is_dir: bool, names: &[String]) -> Disposable {
    let last = path.iter().filter(|b| **b == b'/').count();
    let (mut rebuildable, mut packages, mut precious) = (false, false, false);
    for (at, name) in path.split_str(b"/").enumerate() {
        let directory = at < last || is_dir;
        precious |= is_secret(name) || (is_packaged(name) && !packages);
        let built_in = is_one_of(DIRECTORIES, name);
        rebuildable |= if built_in { directory } else { (!directory && is_file(name)) || is_one_of(names, name) };
        packages |= directory && PACKAGES.contains(&name);
    }
    match (precious, rebuildable) {
        (true, _) => Disposable::Precious,
        (false, true) => Disposable::Rebuildable,
        (false, false) => Disposable::No,
    }
}

fn is_one_of<S: AsRef<str>>(names: &[S], name: &[u8]) -> bool {
    names.iter().any(|known| known.as_ref().as_bytes() == name)
}

fn is_file(name: &[u8]) -> bool {
    FILES.iter().any(|known| match known.strip_prefix('*') {
        Some(end) => name.ends_with(end.as_bytes()),
        None => name == known.as_bytes(),
    })
}

/// `.env*` and `*.p12`, in any case.
fn is_secret(name: &[u8]) -> bool {
    name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b".env")) || ends_with(name, b".p12")
}

/// `*.pem`, `*.key`, `*.db` and `*.sqlite*`, in any case.
fn is_packaged(name: &[u8]) -> bool {
    let sqlite = b".sqlite";
    [&b".pem"[..], b".key", b".db"].iter().any(|end| ends_with(name, end))
        || name.windows(sqlite.len()).any(|part| part.eq_ignore_ascii_case(sqlite))
}

fn ends_with(name: &[u8], end: &[u8]) -> bool {
    name.len().checked_sub(end.len()).is_some_and(|at| name[at..].eq_ignore_ascii_case(end))
}

/// A name that a file may declare disposable: one directory or file, no pattern but a built-in one.
pub(super) fn check(name: &str) -> Result<String, String> {
    if FILES.contains(&name) {
        return Ok(name.to_owned());
    }
    let why = if name.is_empty() || name == "." || name == ".." {
        "it names nothing"
    } else if name.contains('/') {
        "name a directory or file without its path"
    } else if name.contains(['*', '?', '[', '\\']) || name.starts_with('!') {
        "only literal names are allowed"
    } else if name.eq_ignore_ascii_case(".git") {
        "repositories always hold"
    } else if name.chars().any(char::is_control) {
        "no name has such a character"
    } else {
        return Ok(name.to_owned());
    };
    Err(format!("bad name '{name}': {why}"))
}

#[cfg(test)]
mod tests {
    use super::Disposable::{No, Precious, Rebuildable};
    use super::{check, classify};

    #[test]
    fn what_can_be_rebuilt() {
        let added = ["target".to_owned(), "coverage".to_owned(), "junk.txt".to_owned()];
        for (path, is_dir, worth) in [
            ("target", true, Rebuildable),
            ("target", false, No),
            ("a/target/debug/app", false, Rebuildable),
            ("Target/debug/app", false, No),
            ("targets/x", false, No),
            ("a/b.pyc", false, Rebuildable),
            ("b.pyc", true, No),
            (".DS_Store", false, Rebuildable),
            ("dist/app.js", false, No),
            ("build/x", false, No),
            ("out.log", false, No),
            ("coverage/index.html", false, Rebuildable),
            ("a/junk.txt", false, Rebuildable),
            ("a/junk.txt2", false, No),
        ] {
            assert_eq!(classify(path.into(), is_dir, &added), worth, "{path}");
        }
    }

    #[test]
    fn secrets_and_databases_hold_whatever_the_list_says() {
        let added = [".env".to_owned(), "dev.db".to_owned()];
        for path in [
            ".env",
            ".env.local",
            "target/.ENV",
            ".envs/production",
            "node_modules/dotenv/.env",
            "node_modules/x/cert.p12",
            "target/tls.pem",
            "target/id.KEY",
            "dev.db",
            ".mypy_cache/3.12/cache.db",
            "target/a.sqlite3-wal",
            "target/store.db/000001.ldb",
            "target/.env.d/node_modules/x",
            "a.db/node_modules/x",
        ] {
            assert_eq!(classify(path.into(), false, &added), Precious, "{path}");
        }
    }

    #[test]
    fn packages_bring_certificates_keys_and_databases() {
        for path in [
            "node_modules/x/cert.pem",
            ".venv/lib/certifi/cacert.pem",
            "a/node_modules/x/test.key",
            "node_modules/x/caniuse.db",
            ".venv/x.sqlite",
        ] {
            assert_eq!(classify(path.into(), false, &[]), Rebuildable, "{path}");
        }
    }

    #[test]
    fn a_file_may_only_name_names() {
        for name in ["", ".", "..", "a/b", "a/", "*.log", "x?", "[x]", "!x", "\\x", ".git", ".GIT"] {
            assert!(check(name).is_err(), "{name}");
        }
        for name in ["coverage", "*.pyc"] {
            assert_eq!(check(name).as_deref(), Ok(name));
        }
    }
}
