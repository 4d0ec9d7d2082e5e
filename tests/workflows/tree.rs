//! Trees by descriptor: what is read, renamed and deleted, and what stays.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use fs_err::os::unix::fs::symlink;
use git_shadow::sys::tree::{
    Class, Entry, Leftovers, Snapshot, Tree, delete_proved, differences, rename_no_replace, walk,
};

use crate::harness::Sandbox;
use crate::other_user::{NOBODY, root_or_skip, run_through, subject};

/// A tree `t` with files, directories and links out of it.
fn planted() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::empty();
    for name in ["t/a", "t/a-b", "t/d/deep/er/x", "t/d/y", "t/target/lib", "outside/keep"] {
        sandbox.write(name, name);
    }
    symlink(sandbox.path("outside"), sandbox.path("t/link")).unwrap();
    symlink("nowhere", sandbox.path("t/d/broken")).unwrap();
    let root = sandbox.path("t");
    (sandbox, root)
}

/// The tree as it is, everything tracked but `target`.
fn snapshot(root: &Path) -> Snapshot {
    let tree = walk(root, |_, _| true).unwrap();
    assert_eq!(tree.undeletable, []);
    let class = |path: &[u8], dir: bool| match dir {
        true => Class::Directory,
        false if path.starts_with(b"target/") => Class::Disposable,
        false => Class::Tracked,
    };
    let entries = tree.entries.into_iter();
    let entries = entries.map(|(path, stat)| Entry { class: class(&path, stat.is_dir()), path, stat }).collect();
    Snapshot { root: tree.root, entries }
}

fn names(paths: &[gix::bstr::BString]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn told(tree: &Tree) -> Vec<String> {
    let mut told: Vec<_> = tree.undeletable.iter().map(|u| format!("{} {}", u.path, u.why)).collect();
    told.sort();
    told
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_walk_is_sorted_and_follows_no_link() {
    let (_sandbox, root) = planted();
    let paths: Vec<String> = walk(&root, |_, _| true).unwrap().entries.iter().map(|e| e.0.to_string()).collect();
    let all =
        ["a", "a-b", "d", "d/broken", "d/deep", "d/deep/er", "d/deep/er/x", "d/y", "link", "target", "target/lib"];
    assert_eq!(paths, all);
    let thrifty = walk(&root, |path, _| path != "target" && path != "d/deep").unwrap().entries;
    assert_eq!(thrifty.len(), all.len() - 3);
}

#[test]
fn a_root_that_is_a_link_is_not_walked_and_not_deleted() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    let link = sandbox.path("l");
    symlink(&root, &link).unwrap();
    assert!(walk(&link, |_, _| true).is_err());
    assert!(delete_proved(&link, &then).is_err());
    assert_eq!(snapshot(&root), then);
}

#[test]
fn every_change_is_a_difference() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    assert_eq!(names(&differences(&root, &then).unwrap()), [""; 0]);
    rename_no_replace(&root, &sandbox.path("moved")).unwrap();
    let root = sandbox.path("moved");
    assert_eq!(names(&differences(&root, &then).unwrap()), [""; 0], "a rename changes nothing but the root's ctime");
    sandbox.write("moved/a", "T/A");
    crate::harness::set_mtime(&root.join("a"), 1_000_000_000);
    assert_eq!(names(&differences(&root, &then).unwrap()), ["a"]);
    fs::remove_file(root.join("d/y")).unwrap();
    sandbox.write("moved/d/new", "");
    assert_eq!(names(&differences(&root, &then).unwrap()), ["a", "d", "d/new", "d/y"]);
    fs::remove_file(root.join("link")).unwrap();
    assert!(names(&differences(&root, &then).unwrap()).contains(&".".to_owned()));
}

#[test]
fn a_same_size_edit_with_its_time_put_back_is_a_difference() {
    let (_sandbox, root) = planted();
    let file = root.join("d/y");
    let then = snapshot(&root);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    let open = fs::OpenOptions::new().write(true).open(&file).unwrap();
    std::io::Write::write_all(&mut &open, b"T").unwrap();
    open.file().set_modified(time).unwrap();
    assert_eq!(names(&differences(&root, &then).unwrap()), ["d/y"]);
    assert_eq!(names(&delete_proved(&root, &then).unwrap().unproved), ["d/y"]);
    assert_eq!(fs::read(&file).unwrap(), b"T/d/y");
}

#[test]
fn a_rename_replaces_nothing() {
    let (sandbox, root) = planted();
    fs::create_dir(sandbox.path("taken")).unwrap();
    let error = rename_no_replace(&root, &sandbox.path("taken")).unwrap_err();
    assert_eq!(error.code, "exists");
    assert!(root.join("a").exists() && sandbox.path("taken").exists());
    assert_eq!(rename_no_replace(&root, Path::new("/proc/taken")).unwrap_err().code, "rename");
}

#[test]
fn what_was_proved_goes_and_links_are_not_followed() {
    let (sandbox, root) = planted();
    assert_eq!(delete_proved(&root, &snapshot(&root)).unwrap(), Leftovers::default());
    assert!(!root.exists());
    assert!(sandbox.path("outside/keep").exists());
}

#[test]
fn what_turns_up_or_changed_stays_with_its_directories() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    sandbox.write("t/d/deep/new", "only copy");
    sandbox.write("t/target/lib", "changed");
    sandbox.write("t/fresh/inside", "only copy");
    let left = delete_proved(&root, &then).unwrap();
    let mut unproved = names(&left.unproved);
    unproved.sort();
    assert_eq!(unproved, ["d/deep/new", "fresh", "target/lib"]);
    assert_eq!(left.failed, []);
    let stays = ["d/deep/new", "fresh/inside", "target/lib"];
    assert!(stays.iter().all(|name| root.join(name).exists()));
    assert!(!root.join("a").exists() && !root.join("d/deep/er").exists() && !root.join("d/y").exists());
}

#[test]
fn a_directory_in_place_of_another_stays() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    fs::rename(root.join("d"), sandbox.path("elsewhere")).unwrap();
    sandbox.write("t/d/y", "t/d/y");
    assert_eq!(names(&delete_proved(&root, &then).unwrap().unproved), ["d"]);
    assert!(root.join("d/y").exists());
}

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    fs::rename(root.join("d"), sandbox.path("elsewhere")).unwrap();
    symlink(sandbox.path("elsewhere"), root.join("d")).unwrap();
    assert_eq!(names(&delete_proved(&root, &then).unwrap().unproved), ["d"]);
    assert!(sandbox.path("elsewhere/deep/er/x").exists());
}

#[test]
fn a_half_deleted_tree_goes_on() {
    let (_sandbox, root) = planted();
    let then = snapshot(&root);
    fs::remove_dir_all(root.join("d")).unwrap();
    fs::remove_file(root.join("target/lib")).unwrap();
    assert_eq!(delete_proved(&root, &then).unwrap(), Leftovers::default());
    assert!(!root.exists());
    assert_eq!(delete_proved(&root, &then).unwrap(), Leftovers::default(), "a root that is gone is done");
}

#[test]
fn rebuildable_hard_links_go_together_tracked_ones_do_not() {
    let (_sandbox, root) = planted();
    fs::hard_link(root.join("target/lib"), root.join("target/twin")).unwrap();
    assert_eq!(delete_proved(&root, &snapshot(&root)).unwrap(), Leftovers::default());
    let (_sandbox, root) = planted();
    fs::hard_link(root.join("a"), root.join("b")).unwrap();
    assert_eq!(delete_proved(&root, &snapshot(&root)).unwrap().unproved.len(), 1, "its ctime is no proof any more");
}

#[test]
fn another_root_at_the_path_is_refused() {
    let (sandbox, root) = planted();
    let then = snapshot(&root);
    fs::rename(&root, sandbox.path("off")).unwrap();
    sandbox.write("t/a", "another");
    assert_eq!(delete_proved(&root, &then).unwrap_err().code, "raced");
    assert!(root.join("a").exists());
}

#[test]
fn an_immutable_file_is_told_before_and_stays() {
    if !root_or_skip("immutable") {
        return;
    }
    let (_sandbox, root) = planted();
    let then = snapshot(&root);
    let chattr = |flag: &str| Command::new("chattr").arg(flag).arg(root.join("d/y")).status();
    if !chattr("+i").is_ok_and(|status| status.success()) {
        eprintln!("skipped: this file system has no immutable files");
        return;
    }
    let tree = walk(&root, |_, _| true).unwrap();
    let changed = names(&differences(&root, &then).unwrap());
    let left = delete_proved(&root, &Snapshot { entries: re_proved(&root), root: tree.root });
    chattr("-i").unwrap();
    assert_eq!(told(&tree), ["d/y is immutable"]);
    assert_eq!(changed, ["d/y"]);
    assert_eq!(left.unwrap().failed[0].0, "d/y");
    assert!(root.join("d/y").exists() && !root.join("d/deep").exists());
}

/// Everything as it is now, whatever can be deleted.
fn re_proved(root: &Path) -> Vec<Entry> {
    let entries = walk(root, |_, _| true).unwrap().entries.into_iter();
    entries.map(|(path, stat)| Entry { path, stat, class: Class::Tracked }).collect()
}

#[test]
fn a_mount_below_is_told_and_not_crossed() {
    if !root_or_skip("mount") {
        return;
    }
    let (sandbox, root) = planted();
    fs::create_dir(root.join("m")).unwrap();
    let script =
        format!("mount --bind {} {} && exec \"$@\"", sandbox.path("outside").display(), root.join("m").display());
    let wrapper = ["unshare", "-m", "sh", "-c", &script, "sh"];
    run_through(&sandbox, &wrapper, "tree::inside_a_mount_namespace", &root);
    assert!(sandbox.path("outside/keep").exists());
}

#[test]
#[ignore = "part of another test"]
fn inside_a_mount_namespace() {
    let root = subject();
    let tree = walk(&root, |_, _| true).unwrap();
    assert_eq!(told(&tree), ["m is a mount point"]);
    assert!(!tree.entries.iter().any(|e| e.0 == "m/keep"), "a bind mount of the same device is not entered");
    let left = delete_proved(&root, &Snapshot { entries: re_proved(&root), root: tree.root }).unwrap();
    assert_eq!(names(&left.unproved), ["m"]);
    assert!(root.join("m/keep").exists());
}

#[test]
fn another_user_is_told_what_it_cannot_delete() {
    if !root_or_skip("another user") {
        return;
    }
    let (sandbox, root) = planted();
    mode(sandbox.root(), 0o755);
    sandbox.sh(
        "",
        &format!("chown -R {NOBODY}:{NOBODY} t; mkdir t/out t/sticky t/secret t/empty; touch t/out/x t/sticky/x"),
    );
    mode(&root.join("sticky"), 0o1777);
    mode(&root.join("secret"), 0o700);
    mode(&root.join("d"), 0o500);
    let wrapper = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    run_through(&sandbox, &wrapper, "tree::as_nobody", &root);
    assert!(!root.join("d").exists(), "a read-only directory of one's own is made writable");
    assert!(root.join("out/x").exists() && root.join("sticky/x").exists());
    assert!(!root.join("empty").exists(), "an empty directory goes whoever owns it");
}

#[test]
#[ignore = "part of another test"]
fn as_nobody() {
    let root = subject();
    let tree = walk(&root, |_, _| true).unwrap();
    assert_eq!(
        told(&tree),
        [
            ". is in a directory that is not writable (owned by uid 0)",
            "out is not writable (owned by uid 0)",
            "secret cannot be read (owned by uid 0)",
            "sticky/x belongs to uid 0 in a sticky directory",
        ]
    );
    let left = delete_proved(&root, &Snapshot { entries: re_proved(&root), root: tree.root }).unwrap();
    let mut failed: Vec<_> = left.failed.iter().map(|f| f.0.to_string()).collect();
    failed.sort();
    assert_eq!(failed, ["out/x", "secret", "sticky/x"]);
    assert_eq!(left.unproved.len(), 0);
}
