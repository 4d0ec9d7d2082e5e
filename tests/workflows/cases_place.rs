//! Directories that are gone, away, moved, emptied, or something else than what is registered.

use fs_err as fs;

use crate::checker::Inventory;
use crate::harness::{Sandbox, Tree, codes};

#[test]
fn c67_a_purged_one_that_landed_goes_whole() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.assert_held("a", "grace");
    sandbox.age("a", 25);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!((&shadow["worktree"]["state"], &shadow["verdict"]), (&"purged".into(), &"release".into()), "{shadow:#}");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c67_a_purged_one_that_did_not_land_keeps_its_branch() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let tip = sandbox.ci("a");
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.assert_held("a", "grace");
    sandbox.age("a", 25);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!((&shadow["because"], &shadow["verdict"]), (&"purged".into(), &"partial".into()), "{shadow:#}");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    assert!(!sandbox.path("r/.git/worktrees/a").exists());
    assert_eq!(sandbox.git("r", ["rev-parse", "refs/heads/aos/a"]), tip);
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn a_skeleton_of_empty_directories_is_purged() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.sh("a", "rm -r .git ./*; mkdir -p src/deep docs");
    sandbox.age("a", 25);
    assert_eq!(sandbox.shadow_json("aos/a")["worktree"]["state"], "purged");
    sandbox.prune();
    assert!(!sandbox.has_branch("aos/a") && !sandbox.path("r/.git/worktrees/a").exists());
}

#[test]
fn files_gone_and_git_link_kept_looks_like_the_user_s_own_deletions() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.sh("a", "rm ./*");
    sandbox.assert_held("a", "dirty");
}

#[test]
fn staged_work_of_a_purged_one_exists_in_its_index_only() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.write("a/s", "staged\n");
    sandbox.git("a", ["add", "s"]);
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "staged");
}

#[test]
fn c12_a_volume_that_is_away_holds_its_own_worktree_only() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/b", "../vol/b"]);
    fs::rename(sandbox.path("vol"), sandbox.path("vol.off")).unwrap();
    let shadow = sandbox.shadow_json("aos/b");
    assert!(codes(&shadow).contains(&"missing".to_owned()), "{shadow:#}");
    sandbox.prune();
    sandbox.assert_released("a");
    fs::rename(sandbox.path("vol.off"), sandbox.path("vol")).unwrap();
    assert_eq!(sandbox.git("vol/b", ["status", "--porcelain", "--branch"]), "## aos/b");
}

#[test]
fn c11_worktrees_that_were_moved_are_missing() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b"] {
        let _ = sandbox.landed(x);
        sandbox.age(x, 1000);
        fs::rename(sandbox.path(x), sandbox.path(&format!("{x}.off"))).unwrap();
    }
    sandbox.assert_held("a", "missing");
    sandbox.assert_held("b", "missing");
    sandbox.git("r", ["worktree", "repair", "../a.off", "../b.off"]);
    sandbox.prune();
    sandbox.assert_released("a");
    assert!(!sandbox.path("a.off").exists());
}

#[test]
fn many_without_a_parent_are_a_vantage_and_not_a_purge() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b", "c"] {
        sandbox.git("r", ["worktree", "add", "-q", "-b", &format!("aos/{x}"), &format!("../disk/{x}")]);
        sandbox.age(x, 1000);
    }
    fs::remove_dir_all(sandbox.path("disk")).unwrap();
    let list = sandbox.json(&["list"]);
    for x in ["aos/a", "aos/b", "aos/c"] {
        let shadow = list.shadow(x);
        assert!(codes(&shadow).contains(&"missing".to_owned()), "{shadow:#}");
    }
    sandbox.assert_kept("a");
}

#[test]
fn c70_the_git_link_is_lost_and_files_are_there() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.write("a/u", "u\n");
    fs::remove_file(sandbox.path("a/.git")).unwrap();
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "identity");
}

#[test]
fn c70_the_git_link_names_something_else_or_nothing() {
    for content in ["", "garbage\n", "gitdir: /nowhere/worktrees/a\n"] {
        let sandbox = Sandbox::mk();
        let _ = sandbox.landed("a");
        fs::write(sandbox.path("a/.git"), content).unwrap();
        sandbox.age("a", 1000);
        sandbox.assert_held("a", "identity");
    }
}

#[test]
fn a_link_at_the_path_or_a_foreign_repository_is_not_ours() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _ = sandbox.landed("b");
    fs::rename(sandbox.path("a"), sandbox.path("elsewhere")).unwrap();
    fs::os::unix::fs::symlink("elsewhere", sandbox.path("a")).unwrap();
    fs::remove_dir_all(sandbox.path("b")).unwrap();
    sandbox.git("", ["init", "-q", "b"]);
    sandbox.write("b/w", "w\n");
    sandbox.assert_held("a", "identity");
    sandbox.assert_held("b", "identity");
    assert!(sandbox.path("elsewhere/f").exists());
}

#[test]
fn c71_a_directory_without_a_registration_is_left_alone() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.age("a", 1000);
    fs::remove_dir_all(sandbox.path("r/.git/worktrees/a")).unwrap();
    let before = Tree::of(&sandbox.path("a"));
    sandbox.prune();
    assert_eq!(before.changes(&Tree::of(&sandbox.path("a"))), [""; 0]);
}

#[test]
fn c72_other_directories_below_a_root_are_left_alone() {
    let mut sandbox = Sandbox::mk();
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("sessions").to_str().unwrap());
    sandbox.write("sessions/notes/x", "precious\n");
    let _ = sandbox.landed("a");
    let before = Tree::of(&sandbox.path("sessions"));
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(before.changes(&Tree::of(&sandbox.path("sessions"))), [""; 0]);
}

#[test]
fn c81_a_path_of_another_system_is_missing() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    fs::write(sandbox.path("r/.git/worktrees/a/gitdir"), "C:/work/a/.git\n").unwrap();
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "missing");
}

#[test]
fn a_registration_without_gitdir_holds_itself_only() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _ = sandbox.landed("b");
    fs::remove_file(sandbox.path("r/.git/worktrees/a/gitdir")).unwrap();
    sandbox.assert_kept("a");
    sandbox.assert_released("b");
    assert!(sandbox.path("r/.git/worktrees/a/HEAD").exists());
}

#[test]
fn c97_the_worktree_of_a_branch_it_no_longer_has_checked_out() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.git("a", ["checkout", "-q", "--detach"]);
    let run = sandbox.shadow("r", ["release", "aos/a"]);
    assert!(sandbox.path("a/f").exists(), "a detached worktree outside the roots is foreign: {run:#?}");
    assert!(!sandbox.has_branch("aos/a") || run.status != 0, "success must be true: {run:#?}");
}
