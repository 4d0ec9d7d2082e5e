//! The promise, checked on plain git: what existed before a run exists after it, whatever gc does.
//!
//! An [`Inventory`] lists, for each repository, every object that refs, HEADs, indexes, private refs, state files or
//! reflogs reach, and every file of every worktree and registration that cannot be rebuilt. [`Inventory::lost`] looks
//! for each of them again, in a copy of the repository that has been through `git gc --prune=now`: objects that a ref,
//! a HEAD or an index kept must even survive the end of all reflogs. Files are found in place, set aside next to it, as a
//! blob, in the canonical checkout at the same path, or with an operation.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fs_err as fs;

use crate::harness::Sandbox;

const DISPOSABLE: &[&str] = &[
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

/// What exists in some repositories.
pub struct Inventory {
    repositories: Vec<Holdings>,
}

struct Holdings {
    common: PathBuf,
    main: Option<PathBuf>,
    /// Reached from refs, HEADs, indexes and state files.
    strong: BTreeSet<String>,
    /// Reached from reflogs too.
    all: BTreeSet<String>,
    /// Files by path: the root of their worktree or registration, and their content as a blob id.
    files: BTreeMap<PathBuf, (PathBuf, String)>,
}

impl Inventory {
    /// Of the repositories with these checkouts (or bare directories).
    pub fn of<P: AsRef<Path>>(sandbox: &Sandbox, repositories: &[P]) -> Inventory {
        let repositories = repositories.iter().map(|r| Holdings::of(sandbox, r.as_ref())).collect();
        Inventory { repositories }
    }

    /// How many objects and files it lists.
    pub fn len(&self) -> usize {
        self.repositories.iter().map(|r| r.all.len() + r.files.len()).sum()
    }

    /// What cannot be found any more.
    pub fn lost(&self, sandbox: &Sandbox) -> Vec<String> {
        self.repositories.iter().flat_map(|r| r.lost(sandbox)).collect()
    }
}

impl Holdings {
    fn of(sandbox: &Sandbox, repository: &Path) -> Holdings {
        let common =
            PathBuf::from(sandbox.git(repository, ["rev-parse", "--path-format=absolute", "--git-common-dir"]));
        let bare = sandbox.git(repository, ["rev-parse", "--is-bare-repository"]) == "true";
        let mut worktrees: Vec<PathBuf> = if bare { vec![] } else { vec![common.parent().unwrap().to_owned()] };
        let main = worktrees.first().cloned();
        let mut admins = Vec::new();
        for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten() {
            let admin = entry.unwrap().path();
            if let Ok(link) = fs::read(admin.join("gitdir")) {
                let link = Path::new(std::ffi::OsStr::from_bytes(link.trim_ascii_end()));
                worktrees.push(link.parent().unwrap().to_owned());
            }
            admins.push(admin);
        }
        let mut files = BTreeMap::new();
        for root in worktrees.iter().filter(|w| w.is_dir()) {
            let mut found = Vec::new();
            walk(root, &|p| p == root.join(".git"), &mut found);
            let rebuildable = rebuildable(sandbox, root, &found);
            found.retain(|p| !rebuildable.contains(p));
            files.extend(blob_ids(sandbox, &common, found).into_iter().map(|(p, id)| (p, (root.clone(), id))));
        }
        for admin in &admins {
            let mut found = Vec::new();
            walk(admin, &|p| p.ends_with("locked"), &mut found);
            files.extend(blob_ids(sandbox, &common, found).into_iter().map(|(p, id)| (p, (admin.clone(), id))));
        }
        admins.push(common.clone());
        let mut seeds = BTreeSet::new();
        seeds.extend(sandbox.git(&common, ["for-each-ref", "--format=%(objectname)"]).lines().map(str::to_owned));
        for git_dir in &admins {
            seeds.extend(state_ids(git_dir, git_dir == &common));
            seeds.extend(index_ids(sandbox, git_dir));
        }
        let strong = reach(sandbox, &common, &seeds);
        for git_dir in &admins {
            let mut logs = Vec::new();
            walk(&git_dir.join("logs"), &|_| false, &mut logs);
            for log in logs {
                let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
                seeds.extend(text.lines().flat_map(|l| l.split(' ').take(2)).map(str::to_owned));
            }
        }
        let all = reach(sandbox, &common, &seeds);
        Holdings { common, main, strong, all, files }
    }

    fn lost(&self, sandbox: &Sandbox) -> Vec<String> {
        let copy = tempfile::Builder::new().prefix("checker-").tempdir_in(sandbox.path("tmp")).unwrap();
        let git_dir = copy.path().join("copy.git");
        let mut cp = sandbox.command("cp", sandbox.root());
        assert!(cp.arg("-a").arg(&self.common).arg(&git_dir).status().unwrap().success());
        sandbox.git(&git_dir, ["config", "core.bare", "true"]);
        let gc = || {
            let keep = ["gc.reflogExpire=never", "gc.reflogExpireUnreachable=never", "gc.worktreePruneExpire=never"];
            let keep = keep.iter().flat_map(|setting| ["-c", setting]);
            sandbox.git(&git_dir, keep.chain(["gc", "-q", "--prune=now"]));
        };
        gc();
        let missing = absent(sandbox, &git_dir, &self.all);
        let mut lost: Vec<String> = missing.iter().map(|id| format!("object {id}")).collect();
        lost.extend(self.lost_files(sandbox, &git_dir));
        sandbox.git(&git_dir, ["reflog", "expire", "--all", "--expire=now", "--expire-unreachable=now"]);
        gc();
        let only_logged = absent(sandbox, &git_dir, &self.strong);
        lost.extend(only_logged.difference(&missing).map(|id| format!("object {id}: only a reflog still has it")));
        lost
    }

    fn lost_files(&self, sandbox: &Sandbox, git_dir: &Path) -> Vec<String> {
        let wanted = self.files.values().map(|(_, id)| id.clone()).collect();
        let no_blob = absent(sandbox, git_dir, &wanted);
        let mut kept = Vec::new();
        walk(&self.common.join("shadow"), &|_| false, &mut kept);
        let kept: HashSet<String> = blob_ids(sandbox, &self.common, kept).into_values().collect();
        let homes = |path: &Path, root: &Path| -> Vec<PathBuf> {
            let below = path.strip_prefix(root).unwrap();
            let mut homes = vec![path.to_owned()];
            homes.extend(self.main.as_ref().map(|main| main.join(below)));
            let prefix = format!(".{}.shadow-", root.file_name().unwrap().to_string_lossy());
            let beside = fs::read_dir(root.parent().unwrap()).into_iter().flatten().map(|e| e.unwrap());
            let aside = beside.filter(|e| e.file_name().to_string_lossy().starts_with(&prefix));
            homes.extend(aside.map(|e| e.path().join(below)));
            homes
        };
        let away = self.files.iter().filter(|(_, (_, id))| no_blob.contains(id) && !kept.contains(id));
        let away = away.filter(|(path, (root, id))| {
            let homes = homes(path, root).into_iter().filter(|p| fs::symlink_metadata(p).is_ok()).collect();
            !blob_ids(sandbox, &self.common, homes).values().any(|found| found == id)
        });
        away.map(|(path, (_, id))| format!("file {}: {id}", path.display())).collect()
    }
}

/// Every file and link below a directory.
fn walk(dir: &Path, skip: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if skip(&path) {
        } else if kind.is_dir() {
            walk(&path, skip, found);
        } else if kind.is_file() || kind.is_symlink() {
            found.push(path);
        }
    }
}

/// Those of the files that git ignores and that a build makes again.
fn rebuildable(sandbox: &Sandbox, root: &Path, files: &[PathBuf]) -> HashSet<PathBuf> {
    let candidates = files.iter().filter(|path| {
        let below = path.strip_prefix(root).unwrap();
        let names: Vec<_> = below.iter().map(|c| c.to_string_lossy()).collect();
        let (name, parents) = names.split_last().unwrap();
        let secret = [".pem", ".key", ".p12", ".db"].iter().any(|end| name.ends_with(end)) || name.contains(".sqlite");
        let vendored = parents.iter().any(|p| p == "node_modules" || p == ".venv");
        let cache = parents.iter().any(|p| DISPOSABLE.contains(&p.as_ref()));
        let scrap = name.ends_with(".pyc") || name == ".DS_Store";
        (cache || scrap) && !name.starts_with(".env") && (!secret || vendored)
    });
    let candidates: Vec<_> = candidates.map(|p| p.as_os_str().as_bytes()).collect();
    let ignored = feed(sandbox, root, &["check-ignore", "-z", "--stdin"], &candidates.join(&0));
    let ignored = ignored.split(|&b| b == 0).filter(|p| !p.is_empty());
    ignored.map(|p| PathBuf::from(std::ffi::OsStr::from_bytes(p))).collect()
}

/// The blob id of each file's bytes or link's target.
fn blob_ids(sandbox: &Sandbox, common: &Path, paths: Vec<PathBuf>) -> BTreeMap<PathBuf, String> {
    let (links, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|p| p.is_symlink());
    let mut ids = BTreeMap::new();
    for some in files.chunks(500) {
        let args = ["hash-object", "--no-filters", "--"].map(std::ffi::OsStr::new);
        let out = sandbox.git(common, args.into_iter().chain(some.iter().map(|p| p.as_os_str())));
        assert_eq!(out.lines().count(), some.len());
        ids.extend(some.iter().cloned().zip(out.lines().map(str::to_owned)));
    }
    for link in links {
        let target = fs::read_link(&link).unwrap();
        let out = feed(sandbox, common, &["hash-object", "--stdin"], target.as_os_str().as_bytes());
        ids.insert(link, String::from_utf8(out).unwrap().trim().to_owned());
    }
    ids
}

/// Object ids in HEAD, pseudorefs, private refs and the state files of rebases and the like.
fn state_ids(git_dir: &Path, common: bool) -> BTreeSet<String> {
    let inside = ["logs", "objects", "shadow", "modules", "hooks", "info"];
    let skip = |p: &Path| {
        let below = p.strip_prefix(git_dir).unwrap();
        let name = below.to_string_lossy();
        inside.contains(&name.as_ref()) || name == "index" || common && (name == "worktrees" || name == "refs")
    };
    let mut found = Vec::new();
    walk(git_dir, &skip, &mut found);
    let text = found.iter().map(|p| String::from_utf8_lossy(&fs::read(p).unwrap()).into_owned());
    let ids = |t: String| t.split(|c: char| !c.is_ascii_hexdigit()).map(str::to_owned).collect::<Vec<_>>();
    text.flat_map(ids).filter(|id| id.len() == 40).collect()
}

/// Blobs in the index, with those of conflicts that were resolved.
fn index_ids(sandbox: &Sandbox, git_dir: &Path) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for what in ["--stage", "--resolve-undo"] {
        let mut git = sandbox.command("git", git_dir);
        git.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", git_dir).args(["ls-files", what]);
        let out = git.output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let entries = text.lines().filter(|l| !l.starts_with("160000"));
        ids.extend(entries.filter_map(|l| l.split(' ').nth(1)).map(str::to_owned));
    }
    ids
}

/// Every object that these reach, themselves included.
fn reach(sandbox: &Sandbox, common: &Path, seeds: &BTreeSet<String>) -> BTreeSet<String> {
    let absent = absent(sandbox, common, seeds);
    let there: Vec<_> = seeds.difference(&absent).map(String::as_str).collect();
    let args = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin"];
    let out = feed(sandbox, common, &args, format!("{}\n", there.join("\n")).as_bytes());
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Those of the objects that are not there.
fn absent(sandbox: &Sandbox, common: &Path, ids: &BTreeSet<String>) -> BTreeSet<String> {
    let list = ids.iter().map(|id| format!("{id}\n")).collect::<String>();
    let out = feed(sandbox, common, &["cat-file", "--batch-check"], list.as_bytes());
    let text = String::from_utf8(out).unwrap();
    text.lines().filter_map(|l| l.strip_suffix(" missing")).map(str::to_owned).collect()
}

fn feed(sandbox: &Sandbox, dir: &Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut git = sandbox.command("git", dir);
    let mut child = git.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        let output = child.wait_with_output().unwrap();
        // 1: check-ignore found nothing.
        assert!(output.status.code().is_some_and(|code| code <= 1), "git {args:?}: {}", output.status);
        output.stdout
    })
}
