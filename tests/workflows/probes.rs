//! What a worktree holds that is easily overlooked: bytes that status does not compare, submodules, odd repositories.
//! Every case starts from a shadow that landed and would go.

use std::ffi::OsStr;
use std::path::PathBuf;

use fs_err as fs;
use git_shadow::git::Repository;
use git_shadow::inspect::{Depth, Host, worktree};
use git_shadow::lease::Leases;
use git_shadow::model::Fact;
use git_shadow::policy::Policy;
use git_shadow::sys::tree::{Class, Snapshot};

use crate::harness::{Sandbox, codes, skip};

/// Run `before` in the repository, land a shadow `a`, run `after` in its worktree.
fn landed(before: &str, after: &str) -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", before);
    sandbox.landed("a");
    sandbox.sh("a", after);
    sandbox.age("a", 100);
    sandbox
}

fn holds(sandbox: &Sandbox) -> Vec<String> {
    codes(&sandbox.json(&["list"]).shadow("aos/a"))
}

/// Name, what is done before in the repository and after in the worktree, and the one code that holds (or none).
#[rustfmt::skip]
const CASES: &[(&str, &str, &str, Option<&str>)] = &[
    ("nothing at all", "", "", None),
    ("line endings that a rule makes look unchanged",
     "printf 'x\\ny\\n' > t.txt; echo '*.txt text' > .gitattributes; git add .; git commit -qm t",
     "printf 'x\\r\\ny\\r\\n' > t.txt; git add t.txt; test -z \"$(git status --porcelain)\"", Some("hidden-edits")),
    ("line endings as checkout writes them",
     "printf 'x\\ny\\n' > t.txt; echo '*.txt eol=crlf' > .gitattributes; git add .; git commit -qm t",
     "rm t.txt; git checkout -q t.txt; grep -q $'\\r' t.txt", None),
    ("mixed line endings under core.autocrlf",
     "printf 'x\\ny\\n' > t.txt; git add .; git commit -qm t; git config core.autocrlf input",
     "printf 'x\\r\\ny\\n' > t.txt; git add t.txt 2>/dev/null; test -z \"$(git status --porcelain)\"", Some("hidden-edits")),
    ("an expanded keyword",
     "echo '$Id$' > i.c; echo '*.c ident' > .gitattributes; git add .; git commit -qm i",
     "rm i.c; git checkout -q i.c; grep -q 'Id: ' i.c", None),
    ("another encoding",
     "echo '*.u working-tree-encoding=UTF-16LE' > .gitattributes; printf 'h\\0i\\0\\n\\0' > x.u; git add .; git commit -qm u",
     "touch x.u", None),
    ("a path of a flagged file with a line feed in its name",
     "echo 1 > $'n\\nl'; git add .; git commit -qm n",
     "git update-index --assume-unchanged $'n\\nl'; echo 2 > $'n\\nl'", Some("hidden-edits")),
    ("a filtered file with a line feed in its name, as checked out",
     "git config filter.up.clean 'tr A-Z a-z'; git config filter.up.smudge 'tr a-z A-Z'; echo '*.up filter=up' > .gitattributes; \
      echo abc > $'n\\nl.up'; git add .; git commit -qm n",
     "rm $'n\\nl.up'; git checkout -q .; grep -q ABC $'n\\nl.up'", None),
    ("a flagged file that is away",
     "", "git update-index --assume-unchanged f; rm f", Some("hidden-edits")),
    ("a flagged file that is executable now",
     "", "git update-index --assume-unchanged f; chmod +x f", Some("hidden-edits")),
    ("a skipped file that is away",
     "", "git update-index --skip-worktree f; rm f", None),
    ("a flagged file that is unchanged",
     "", "git update-index --assume-unchanged f; touch f", None),
    ("a file below a directory that the sparse index does not list",
     "mkdir d e; echo 1 > d/x; echo 1 > e/y; git add .; git commit -qm d",
     "git sparse-checkout set --sparse-index e; mkdir -p d; echo 1 > d/x; git status >/dev/null; \
      git ls-files --sparse | grep -q '^d/$' || git update-index --skip-worktree d/x; echo 2 > d/x", Some("hidden-edits")),
    ("a file in the place of a submodule that is not checked out",
     "git init -q ../s; (cd ../s; echo 1 > f; git add f; git commit -qm s); \
      git -c protocol.file.allow=always submodule --quiet add ../s s; git commit -qm s",
     "echo only > s/copy; test -z \"$(git status --porcelain --ignored)\"", Some("untracked")),
    ("tracked files that look like a bare repository",
     "mkdir -p fix/refs fix/objects; touch fix/HEAD fix/refs/k fix/objects/k; git add .; git commit -qm f", "", None),
    ("a bare repository that is not tracked", "echo '*.git/' > .gitignore; git add .; git commit -qm i",
     "git init -q --bare x.git", Some("nested-repo")),
    ("a tracked directory that became a repository", "mkdir d; echo 1 > d/x; git add .; git commit -qm d",
     "git init -q d", Some("nested-repo")),
    ("a socket", "", "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"", None),
    ("an empty directory", "", "mkdir -p e/f", None),
    ("ignored directories with nothing in them", "echo log/ > .gitignore; git add .; git commit -qm i",
     "mkdir -p log/today", None),
    ("attributes that only this worktree has", "printf '.gitattributes\\n' > .gitignore; git add .; git commit -qm i",
     "echo '* text=auto' > .gitattributes; printf 'base\\r\\n' > f; git add f; test -z \"$(git status --porcelain)\"",
     Some("ignored")),
];

#[test]
fn what_is_easily_overlooked_holds_and_the_rest_does_not() {
    let mut wrong = Vec::new();
    for (name, before, after, expected) in CASES {
        let sandbox = landed(before, after);
        let found = holds(&sandbox);
        let fits = match expected {
            None => found.is_empty(),
            Some(code) => found.iter().any(|c| c == code),
        };
        if !fits {
            wrong.push(format!("{name}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A repository whose commit `f` is a submodule at `s`, landed with the submodule checked out.
fn with_submodule(after: &str) -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.sh(
        "",
        "git init -q -b main s; cd s; printf 'target/\\n' > .gitignore; echo 1 > f; git add .; git commit -qm s",
    );
    sandbox.sh("r", "git -c protocol.file.allow=always submodule --quiet add ../s s; git commit -qm s");
    sandbox.landed("a");
    sandbox.sh("a", "git -c protocol.file.allow=always submodule --quiet update --init");
    sandbox.sh("a", after);
    sandbox.age("a", 100);
    sandbox
}

#[test]
fn c65_a_clean_submodule_does_not_hold() {
    assert_eq!(holds(&with_submodule("mkdir s/target; touch s/target/x")), [""; 0]);
}

#[test]
fn c19_whatever_a_submodule_has_of_its_own_holds() {
    for after in [
        "cd s; git switch -qc w; echo w > w; git add .; git commit -qm w; git switch -q --detach main",
        "cd s; echo w >> f; git stash -q",
        "cd s; echo w > w; git add .; git commit -qm w; git reset -q --hard HEAD~1",
        "cd s; git update-index --assume-unchanged f; echo w > f",
        "cd s; mkdir target; git init -q target/x",
        "cd s; mkdir target; touch target/.env",
        "cd s; git switch -qc w; echo w > w; git add .; git commit -qm w; git switch -q --detach main; cd ..; git submodule --quiet deinit -f s",
    ] {
        let sandbox = with_submodule(after);
        assert!(holds(&sandbox).contains(&"submodule".to_owned()), "{after}: {:?}", holds(&sandbox));
        sandbox.assert_kept("a");
    }
}

#[test]
fn c19_files_in_a_submodule_hold_by_git_s_status_too() {
    for after in ["echo w >> s/f", "echo w > s/w"] {
        let sandbox = with_submodule(after);
        assert!(!holds(&sandbox).is_empty(), "{after}");
        sandbox.assert_kept("a");
    }
}

#[test]
fn c19_a_purged_worktree_still_has_its_submodule_s_clone() {
    let sandbox = with_submodule("cd s; git switch -qc w; echo w > w; git add .; git commit -qm w");
    fs::rename(sandbox.path("a"), sandbox.path("tmp/gone")).unwrap();
    let rm = sandbox.command("rm", sandbox.root()).args(["-r", "tmp/gone"]).status().unwrap();
    assert!(rm.success());
    assert!(holds(&sandbox).contains(&"submodule".to_owned()), "{:?}", holds(&sandbox));
}

/// The snapshot of the worktree `a`, by the library: it is told nothing about the sandbox's environment.
fn snapshot(sandbox: &Sandbox) -> git_shadow::error::Result<Snapshot> {
    let repo = Repository::discover(&sandbox.repo()).unwrap();
    let gix = repo.local();
    let policy = Policy::built_in();
    let host = Host {
        processes: Fact::NotAsked,
        mounts: Fact::NotAsked,
        leases: Leases::default(),
        here: Fact::NotAsked,
        confined: None,
        booted_at: None,
        now: git_shadow::sys::clock::now(),
        jobs: 1,
    };
    let discovery = git_shadow::discover::discover(&repo, &gix, &policy, &host.leases).unwrap();
    let scene = worktree::Scene {
        repo: &repo,
        gix: &gix,
        policy: &policy,
        host: &host,
        registrations: &discovery.registrations,
    };
    let registration = discovery.registrations.iter().find(|r| r.id == "a").unwrap();
    let facts = worktree::probe(scene, registration, &worktree::places(scene)[0], Depth::Everything);
    assert!(facts.root.is_some());
    worktree::snapshot(scene, registration)
}

#[test]
fn a_snapshot_says_of_every_entry_why_it_may_go() {
    let sandbox = with_submodule(
        "mkdir -p target/debug e s/target; touch target/debug/x s/target/y; ln -s f l; git add l; git commit -qm l",
    );
    sandbox.write("r/.git/info/exclude", "target/\nsame\n");
    sandbox.write("r/same", "1");
    sandbox.write("a/same", "1");
    let snapshot = snapshot(&sandbox).unwrap();
    let class = |path: &str| snapshot.entries.iter().find(|e| e.path == path).map(|e| e.class);
    for (path, expected) in [
        (".git", Class::Link),
        ("f", Class::Tracked),
        ("l", Class::Tracked),
        ("e", Class::Directory),
        ("target", Class::Directory),
        ("target/debug/x", Class::Disposable),
        ("same", Class::Disposable),
        ("s", Class::Directory),
        ("s/.git", Class::Link),
        ("s/f", Class::Tracked),
        ("s/target/y", Class::Disposable),
    ] {
        assert_eq!(class(path), Some(expected), "{path}");
    }
    let on_disk: PathBuf = sandbox.path("a");
    let listed = sandbox.sh(&on_disk, "find . -mindepth 1 | wc -l");
    assert_eq!(snapshot.entries.len().to_string(), listed.trim());
}

#[test]
fn a_snapshot_refuses_what_nothing_proves() {
    for (exclude, path) in [("", "new"), ("*.log\n", "x.log"), ("target/\n", "target/.env"), ("same\n", "same")] {
        let sandbox = landed("", "");
        sandbox.write("r/.git/info/exclude", exclude);
        sandbox.write("r/same", "one");
        sandbox.write(format!("a/{path}"), "two");
        let error = snapshot(&sandbox).unwrap_err().to_string();
        assert!(error.contains(path), "{path}: {error}");
    }
}

/// Gives the first entry of the index the times of its file, and the index the file's.
const FORGE: &str = r#"
import os, struct, sys
index, file = sys.argv[1:]
stat = os.stat(file)
data = bytearray(open(index, "rb").read())
seconds = lambda ns: (ns // 10**9, ns % 10**9)
data[12:28] = struct.pack(">IIII", *seconds(stat.st_ctime_ns), *seconds(stat.st_mtime_ns))
data[-20:] = bytes(20)
open(index, "wb").write(data)
os.utime(index, ns=(stat.st_mtime_ns, stat.st_mtime_ns + int(os.environ["AFTER"])))
"#;

#[test]
fn a_stat_that_is_not_older_than_the_index_proves_nothing() {
    for (after, expected) in [("0", vec!["dirty"]), ("1", vec![])] {
        let sandbox = Sandbox::mk();
        sandbox.landed("a");
        sandbox.age("a", 100);
        sandbox.write("forge.py", FORGE);
        // The same size in the same instant: the index cannot tell.
        sandbox.sh(
            "a",
            &format!(
                "rm a.txt; git rm -q --cached a.txt; git commit -qm 'only f'; printf 'BASE\\n' > f; \
            AFTER={after} python3 ../forge.py $(git rev-parse --git-dir)/index f"
            ),
        );
        let found: Vec<String> = holds(&sandbox).into_iter().filter(|code| code == "dirty").collect();
        assert_eq!(found, expected, "index written {after} ns after the file");
    }
}

/// Where no temporary folder explains it, an empty directory at the worktree's own path may be a volume that is away.
#[test]
fn an_empty_directory_outside_temporary_folders_may_be_a_mount_point() {
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    if ["/tmp", "/var/tmp"].iter().any(|temporary| place.starts_with(temporary)) {
        return skip("an empty worktree outside temporary folders", "this checkout is in one");
    }
    let sandbox = Sandbox::mk();
    let outside = tempfile::tempdir_in(place).unwrap();
    let worktree = outside.path().join("a");
    sandbox.git(
        sandbox.repo(),
        [OsStr::new("worktree"), "add".as_ref(), "-qb".as_ref(), "aos/a".as_ref(), worktree.as_ref()],
    );
    sandbox.age("a", 48);
    for entry in fs::read_dir(&worktree).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    assert_eq!(sandbox.holds("aos/a"), ["missing"]);
    fs::create_dir(worktree.join("left-by-a-cleaner")).unwrap();
    assert_eq!(sandbox.holds("aos/a"), Vec::<String>::new());
}
