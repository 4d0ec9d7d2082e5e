//! Taking back what is not plain: killed in between, taken in part, submodules, sparse checkouts, detached HEADs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fs_err as fs;
use git_shadow::execute::failpoint::UNDO_NAMES;

use crate::harness::Sandbox;
use crate::image::Tree;

/// What a worktree and its registration are, but for times, the index's stat data and the lock of undo.
fn state(sandbox: &Sandbox) -> (BTreeMap<PathBuf, (u32, u64)>, Vec<String>) {
    let mut files = BTreeMap::new();
    for root in ["a", "r/.git/worktrees/a", "r/.git/logs"] {
        for (path, entry) in Tree::of(&sandbox.path(root)).0 {
            let ours = ["locked", "index", "gitdir"].iter().any(|name| path.ends_with(name));
            if !ours {
                files.insert(PathBuf::from(root).join(path), (entry.mode, entry.content));
            }
        }
    }
    let said = |args: &[&str]| sandbox.git("a", args.iter().copied());
    let told = vec![
        said(&["status", "--porcelain=v2", "--branch", "--ignored"]),
        said(&["ls-files", "-t", "--stage"]),
        said(&["for-each-ref", "refs/heads"]),
        sandbox.sh("r", "git config --local --list | sort"),
    ];
    (files, told)
}

fn landed() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.write("a/dir/sub/x", "x\n");
    sandbox.write("a/run.sh", "#!/bin/sh\n");
    sandbox.sh("a", "chmod +x run.sh; ln -s f link; git config branch.aos/a.description 'of a'");
    sandbox.ci("a");
    let _ = sandbox.squash("a");
    sandbox
}

#[test]
fn all_of_it_comes_back_as_it_was() {
    let sandbox = landed();
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.sh("r", "git gc -q --prune=now; git worktree prune --expire now");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before, state(&sandbox));
}

#[test]
fn an_undo_that_is_killed_goes_on_where_it_was() {
    for name in UNDO_NAMES {
        let mut sandbox = landed();
        let before = state(&sandbox);
        sandbox.prune();
        sandbox.assert_released("a");
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["undo"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        // A full gc would rewrite the reflogs that are compared here.
        sandbox.sh("r", "git prune --expire=now; git worktree prune --expire now");
        sandbox.shadow("r", ["undo"]).exits(0);
        assert_eq!(before, state(&sandbox), "{name}");
        sandbox.shadow("r", ["undo"]).exits(1);
        assert_eq!(before, state(&sandbox), "{name}, undone twice");
    }
}

#[test]
fn an_undo_that_is_killed_leaves_nothing_that_a_sweep_would_take() {
    for name in UNDO_NAMES {
        let mut sandbox = landed();
        let before = state(&sandbox);
        sandbox.prune();
        sandbox.assert_released("a");
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        assert_eq!(sandbox.shadow("r", ["undo"]).status, -1, "{name}");
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.prune();
        let mut undone = sandbox.shadow("r", ["undo"]).status;
        while undone == 0 {
            undone = sandbox.shadow("r", ["undo"]).status;
        }
        assert_eq!(undone, 1, "{name}");
        assert_eq!(before, state(&sandbox), "{name}");
    }
}

#[test]
fn what_was_in_the_way_may_go_and_the_rest_comes() {
    let sandbox = landed();
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.write("a/mine", "mine\n");
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("something else is at"), "{run:#?}");
    assert!(sandbox.has_branch("aos/a"), "the branch is restored all the same");
    assert_eq!(fs::read_to_string(sandbox.path("a/mine")).unwrap(), "mine\n");
    assert!(!sandbox.path("r/.git/worktrees").exists());
    assert_eq!(sandbox.holds("aos/a"), ["locked"], "and the next sweep leaves it alone");
    sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
    fs::rename(sandbox.path("a"), sandbox.path("elsewhere")).unwrap();
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before, state(&sandbox));
}

#[test]
fn a_taken_branch_keeps_its_commit_and_the_worktree_is_detached() {
    let sandbox = landed();
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.prune();
    sandbox.git("r", ["branch", "aos/a", "main"]);
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("detached") && run.stdout.contains("there is another one"), "{run:#?}");
    assert_eq!(sandbox.git("r", ["rev-parse", "aos/a"]), sandbox.git("r", ["rev-parse", "main"]));
    assert_eq!(sandbox.git("a", ["rev-parse", "HEAD"]), tip);
    assert!(!sandbox.git_ok("a", ["symbolic-ref", "-q", "HEAD"]));
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let sandbox = landed();
    sandbox.git("a", ["sparse-checkout", "set", "--no-cone", "/*", "!/dir/"]);
    assert!(!sandbox.path("a/dir").exists());
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before, state(&sandbox));
}

#[test]
fn a_detached_worktree_comes_back_detached() {
    let sandbox = landed();
    sandbox.git("a", ["checkout", "-q", "--detach"]);
    let before = state(&sandbox);
    sandbox.age("a", 48);
    sandbox.shadow("r", ["release", "a"]);
    if sandbox.path("a").exists() {
        // A worktree on no branch of ours is nobody's shadow.
        return assert_eq!(before.1[0], state(&sandbox).1[0]);
    }
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before.1[..2], state(&sandbox).1[..2]);
}

#[test]
fn a_submodule_comes_back_from_its_saved_repository() {
    let sandbox = Sandbox::mk();
    sandbox.git("", ["init", "-q", "-b", "main", "lib"]);
    sandbox.write("lib/code/deep", "deep\n");
    sandbox.commit("lib", "lib");
    sandbox.git("", ["clone", "-q", "--bare", "lib", "lib.git"]);
    sandbox.wt("a");
    sandbox.sh("a", "git -c protocol.file.allow=always submodule --quiet add ../lib.git vendor/lib");
    sandbox.ci("a");
    let _ = sandbox.squash("a");
    let before = sandbox.git("a", ["submodule", "status"]);
    sandbox.prune();
    sandbox.assert_released("a");
    fs::rename(sandbox.path("lib.git"), sandbox.path("gone.git")).unwrap();
    sandbox.git("r", ["gc", "-q", "--prune=now"]);
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(fs::read_to_string(sandbox.path("a/vendor/lib/code/deep")).unwrap(), "deep\n");
    assert_eq!(sandbox.git("a", ["submodule", "status"]), before);
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--ignore-submodules=none"]), "");
}

#[test]
fn a_directory_of_branches_in_the_way_is_not_replaced() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["branch", "aos/a"]);
    sandbox.age("a", 100);
    sandbox.prune();
    sandbox.git("r", ["branch", "aos/a/b", "main"]);
    sandbox.shadow("r", ["undo"]).exits(1);
    assert!(sandbox.has_branch("aos/a/b"));
    sandbox.git("r", ["branch", "-q", "-D", "aos/a/b"]);
    sandbox.shadow("r", ["undo"]).exits(0);
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn what_was_taken_and_is_free_again_comes_back_with_the_next_undo() {
    let sandbox = landed();
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.git("r", ["branch", "aos/a", "main"]);
    sandbox.shadow("r", ["undo"]).exits(1);
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## HEAD (no branch)");
    sandbox.git("r", ["branch", "-q", "-D", "aos/a"]);
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before, state(&sandbox));
}

#[test]
fn a_file_at_the_path_is_something_else() {
    let sandbox = landed();
    sandbox.prune();
    sandbox.write("a", "precious\n");
    let run = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(run.stdout.contains("something else is at"), "{run:#?}");
    assert_eq!(fs::read_to_string(sandbox.path("a")).unwrap(), "precious\n");
}

#[test]
fn a_directory_with_another_link_is_not_ours() {
    let sandbox = landed();
    let run = sandbox.prune();
    assert_eq!(run.shadow("aos/a")["verdict"], "release", "{run:#?}");
    sandbox.write("a/.git", "gitdir: /elsewhere\n");
    sandbox.shadow("r", ["undo"]).exits(1);
    assert_eq!(fs::read_to_string(sandbox.path("a/.git")).unwrap(), "gitdir: /elsewhere\n");
    assert!(!sandbox.path("r/.git/worktrees").exists());
}

#[test]
fn directories_are_as_closed_as_they_were() {
    let sandbox = landed();
    sandbox.sh("a", "chmod 700 . dir; chmod 750 dir/sub");
    let before = state(&sandbox);
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(before, state(&sandbox));
    assert_eq!(sandbox.sh("", "stat -c %a a a/dir a/dir/sub | tr '\\n' ' '").trim(), "700 700 750");
}
