//! What a reading of git's own files takes for granted, and what may not be: sizes and stats in the index, links for files,
//! reflogs that begin late, names that stand for others.

use fs_err as fs;

use crate::harness::{Sandbox, set_mtime};

/// A shadow whose `cfg` went through a clean filter that was taken away later: the stat in the index vouches for a file
/// that is not what was committed.
fn once_filtered(clean: &str) -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["config", "filter.strip.clean", clean]);
    sandbox.write("r/.git/info/attributes", "cfg filter=strip\n");
    sandbox.wt("a");
    sandbox.write("a/cfg", "key SECRET\n");
    // Older than any index, as after a while.
    set_mtime(&sandbox.path("a/cfg"), 1);
    let _ = sandbox.commit("a", "cfg");
    let _ = sandbox.ci("a");
    fs::remove_file(sandbox.path("r/.git/info/attributes")).unwrap();
    let _ = sandbox.squash("a");
    assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "", "git itself sees nothing");
    sandbox
}

#[test]
fn a_file_whose_filter_is_gone_is_not_its_blob() {
    once_filtered("sed s/SECRET/x/").assert_held("a", "hidden-edits");
}

/// The sizes are the same: only the bytes tell, before anything moves.
#[test]
fn a_file_whose_filter_kept_the_size_is_not_moved() {
    let sandbox = once_filtered("sed s/SECRET/XXXXXX/");
    let run = sandbox.json(&["prune-sessions", "--yes"]).exits(2);
    let steps = &run.shadow("aos/a")["steps"];
    assert_eq!(steps[0]["outcome"], "raced", "{steps:#}");
    assert_eq!(fs::read_to_string(sandbox.path("a/cfg")).unwrap(), "key SECRET\n");
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn attributes_may_come_from_a_tree() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["config", "filter.strip.clean", "sed s/SECRET/x/"]);
    sandbox
        .sh("r", "git checkout -qb rules; echo 'cfg filter=strip' >.gitattributes; git add -A; git commit -qm rules");
    sandbox.sh("r", "git checkout -q main; git config attr.tree rules");
    sandbox.wt("a");
    sandbox.write("a/cfg", "key SECRET\n");
    let _ = sandbox.commit("a", "cfg");
    let _ = sandbox.squash("a");
    sandbox.assert_held("a", "hidden-edits");
}

#[test]
fn a_file_whose_blob_is_missing_is_the_only_copy() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let blob = sandbox.git("a", ["rev-parse", "HEAD:a.txt"]);
    let (folder, name) = blob.split_at(2);
    fs::remove_file(sandbox.path("r/.git/objects").join(folder).join(name)).unwrap();
    sandbox.assert_held("a", "unverified");
}

#[test]
fn a_reflog_that_begins_late_says_nothing_of_what_was_before() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    let _ = sandbox.ci("a");
    sandbox.git("a", ["push", "-q", "origin", "aos/a"]);
    sandbox.sh("r", "git worktree remove ../a");
    let log = sandbox.path("r/.git/logs/refs/heads/aos/a");
    let last = fs::read_to_string(&log).unwrap().lines().last().unwrap().replace("commit: a", "reset: moving to HEAD");
    let tip = last[41..81].to_owned();
    fs::write(&log, format!("{tip}{}\n", &last[40..])).unwrap();
    sandbox.age("a", 1000);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!(shadow["verdict"], "held", "it has work of its own: {shadow:#}");
    assert_eq!(crate::harness::codes(&shadow), ["unlanded"]);
}

#[test]
fn head_may_be_a_link_to_its_ref() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "git config core.preferSymlinkRefs true; git checkout -qb aos/a; git checkout -q aos/a");
    sandbox.sh("r", "echo a >a; git add a; git commit -qm a; git branch -f main");
    assert!(fs::symlink_metadata(sandbox.path("r/.git/HEAD")).unwrap().is_symlink());
    assert_eq!(sandbox.holds("aos/a"), ["checked-out"]);
    sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn a_linked_worktree_with_such_a_head_comes_back() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.sh("r", "ln -sfn refs/heads/aos/a .git/worktrees/a/HEAD");
    sandbox.prune();
    sandbox.assert_released("a");
    sandbox.json(&["undo"]).exits(0);
    assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a");
}

#[test]
fn a_symbolic_branch_stands_for_another() {
    let sandbox = Sandbox::mk();
    sandbox.sh("r", "git checkout -qb aos/a; echo a >a; git add a; git commit -qm a; git branch -f main");
    sandbox.sh("r", "git symbolic-ref refs/heads/work refs/heads/aos/a; git checkout -q work");
    assert_eq!(sandbox.holds("aos/a"), ["checked-out"]);
    sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn a_registration_may_be_a_link() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.sh(
        "r",
        "mv .git/worktrees/a ../elsewhere; ln -s ../../../elsewhere .git/worktrees/a
         echo $PWD/.git >../elsewhere/commondir; git -C ../a status",
    );
    sandbox.assert_held("a", "identity");
}

/// A shadow `a` with the submodule `sub` checked out, landed.
fn with_submodule() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.sh("", "git init -qb main s; cd s; echo 1 >1; git add 1; git commit -qm 1");
    sandbox.sh("r", "git -c protocol.file.allow=always submodule -q add ../s sub; git commit -qm sub");
    sandbox.wt("a");
    let _ = sandbox.ci("a");
    sandbox.sh("a", "git -c protocol.file.allow=always submodule -q update --init");
    let _ = sandbox.squash("a");
    sandbox
}

#[test]
fn what_is_staged_in_the_submodule_of_a_purged_worktree() {
    let sandbox = with_submodule();
    sandbox.sh("a/sub", "echo precious >p; git add p");
    fs::remove_dir_all(sandbox.path("a")).unwrap();
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "submodule");
}

#[test]
fn a_submodule_has_linked_worktrees_too() {
    let sandbox = with_submodule();
    sandbox.prune();
    sandbox.assert_released("a");
    let sandbox = with_submodule();
    sandbox.sh(
        "a/sub",
        "git worktree add -q --detach ../../beside; echo precious >../../beside/p; git -C ../../beside add p",
    );
    sandbox.assert_held("a", "submodule");
}

/// `core.bare` on a checkout takes git's main worktree away, not the person who works in it.
#[test]
fn a_checkout_that_is_called_bare_still_has_its_branch() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.sh(
        "r",
        "git worktree remove ../a; git config core.bare true
         mkdir .git/rebase-merge; echo refs/heads/aos/a >.git/rebase-merge/head-name",
    );
    assert_eq!(sandbox.holds("aos/a"), ["checked-out"]);
    let _ = sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
}
