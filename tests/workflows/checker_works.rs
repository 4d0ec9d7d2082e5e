//! The checker finds a loss, and finds what was kept. It is what every other safety test rests on.

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::Sandbox;

#[test]
fn nothing_is_lost_where_nothing_happened() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.write("a/note", "only here\n");
    let before = Inventory::of(&sandbox, &["r"]);
    let image = sandbox.image();
    assert!(before.len() > 10);
    assert_eq!(before.lost(&sandbox), [""; 0]);
    assert_eq!(image.changes(&sandbox.image()), [""; 0], "checking changes nothing");
}

#[test]
fn an_ignored_file_that_git_removes_is_a_loss_and_a_cache_is_not() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", ".env\ntarget/\n");
    sandbox.commit("r", "ignore");
    sandbox.wt("a");
    sandbox.write("a/.env", "TOKEN=1\n");
    sandbox.write("a/target/x.o", "object\n");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.git("r", ["worktree", "remove", "../a"]);
    let lost = before.lost(&sandbox);
    assert!(lost.iter().any(|l| l.contains("a/.env")), "{lost:?}");
    assert!(!lost.iter().any(|l| l.contains("target")), "{lost:?}");
    let tracked = lost.iter().any(|l| l.starts_with("file ") && (l.contains("/a/f:") || l.contains("/a/.gitignore:")));
    assert!(!tracked, "tracked files are blobs: {lost:?}");
}

#[test]
fn a_copy_with_an_operation_a_tree_set_aside_and_the_canonical_checkout_are_no_loss() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.git/info/exclude", "*.env\n");
    sandbox.wt("a");
    for name in ["saved", "aside", "same"] {
        sandbox.write(format!("a/{name}.env"), format!("{name}\n"));
    }
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.write("r/.git/shadow/operations/x/saved", "saved\n");
    sandbox.write("r/same.env", "same\n");
    sandbox.write(".a.shadow-x/aside.env", "aside\n");
    for name in ["saved", "aside", "same"] {
        fs::remove_file(sandbox.path(&format!("a/{name}.env"))).unwrap();
    }
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn a_dropped_detached_commit_is_a_loss_and_a_pinned_one_is_not() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["worktree", "add", "-q", "--detach", "../d"]);
    let commit = sandbox.ci("d");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.git("r", ["worktree", "remove", "../d"]);
    let lost = before.lost(&sandbox);
    assert!(lost.contains(&format!("object {commit}")), "{lost:?}");
    sandbox.git("r", ["update-ref", "refs/shadow/kept/x/head", &commit]);
    let lost = before.lost(&sandbox);
    assert!(!lost.iter().any(|l| l.contains("object")), "{lost:?}");
}

#[test]
fn staged_content_bisect_refs_and_a_rewritten_commit_are_losses() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let rewritten = sandbox.ci("a");
    sandbox.git("a", ["commit", "-q", "--amend", "-m", "again"]);
    sandbox.write("a/s", "staged\n");
    sandbox.git("a", ["add", "s"]);
    let staged = sandbox.git("a", ["rev-parse", ":s"]);
    let private = sandbox.git("a", ["commit-tree", "-m", "private", "HEAD^{tree}"]);
    sandbox.git("a", ["update-ref", "refs/worktree/x", &private]);
    let before = Inventory::of(&sandbox, &["r"]);
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    fs::remove_dir_all(sandbox.path("r/.git/worktrees/a")).unwrap();
    let lost = before.lost(&sandbox);
    for id in [&staged, &private] {
        assert!(lost.contains(&format!("object {id}")), "{id}: {lost:?}");
    }
    assert!(!lost.contains(&format!("object {rewritten}")), "the branch's reflog keeps it: {lost:?}");
    sandbox.git("r", ["update-ref", "-d", "refs/heads/aos/a"]);
    let lost = before.lost(&sandbox);
    assert!(lost.contains(&format!("object {rewritten}")), "{lost:?}");
}
