//! The README's table: what git itself does to what git-shadow holds. Git's half is what one version of it was seen to do.

use crate::harness::{Sandbox, codes, skip};

const SEEN: &str = "2.47.";

/// Run git, which does (or refuses) what the README says; another version of it may do otherwise.
#[track_caller]
fn git_does(sandbox: &Sandbox, args: &[&str], done: bool) -> bool {
    let did = sandbox.git_ok("r", args) == done;
    let version = sandbox.git("", ["version"]);
    assert!(did || !version.contains(SEEN), "{args:?} with {version}");
    if !did {
        skip(&format!("what the README says of git {args:?}"), &format!("{version} does otherwise"));
    }
    did
}

/// A shadow whose work has landed, with something in it that makes it a held one, and git's `worktree remove` of it.
#[track_caller]
fn removed_by_git(code: &str, path: &str, script: &str) {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", ".env\nscratch/\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    sandbox.sh("a", script);
    let listed = sandbox.json(&["list"]).shadows();
    assert_eq!(listed.len(), 1, "{listed:#?}");
    assert!(codes(&listed[0]).iter().any(|held| held == code), "no hold '{code}': {listed:#?}");
    assert!(sandbox.path(path).exists(), "{path}");
    if git_does(&sandbox, &["worktree", "remove", "../a"], true) {
        assert!(!sandbox.path(path).exists(), "git leaves '{path}'");
    }
}

#[test]
fn what_git_s_worktree_remove_deletes_is_held() {
    removed_by_git("ignored", "a/.env", "echo TOKEN=1 >.env");
    removed_by_git(
        "nested-repo",
        "a/scratch/.git",
        "git init -q scratch; git -C scratch commit -q --allow-empty -m only",
    );
    let rebase = "echo 2 >>a.txt; git commit -qam 2; GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1";
    removed_by_git("operation", "r/.git/worktrees/a/rebase-merge", rebase);
}

#[test]
fn commits_that_git_leaves_to_nothing_are_held() {
    let mut sandbox = Sandbox::mk();
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("sessions").to_str().unwrap());
    sandbox.git("r", ["worktree", "add", "-q", "--detach", "../sessions/a"]);
    sandbox.write("sessions/a/work", "only here\n");
    let tip = sandbox.commit("sessions/a", "work");
    let listed = sandbox.json(&["list"]).shadows();
    assert!(listed.iter().flat_map(codes).any(|code| code == "unpushed"), "{listed:#?}");
    if git_does(&sandbox, &["worktree", "remove", "../sessions/a"], true) {
        assert_eq!(sandbox.git("r", ["for-each-ref", "--contains", &tip]), "");
        assert!(!sandbox.git("r", ["reflog", "--all", "--format=%H"]).contains(&tip));
    }
}

#[test]
fn a_process_that_git_does_not_see_holds() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let mut inside = sandbox.command("sleep", &sandbox.path("a")).arg("60").spawn().unwrap();
    let held = sandbox.holds("aos/a");
    let _ = git_does(&sandbox, &["worktree", "remove", "../a"], true);
    inside.kill().unwrap();
    inside.wait().unwrap();
    assert_eq!(held, ["in-use"]);
}

#[test]
fn a_moved_worktree_that_git_s_prune_breaks_is_held() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    sandbox.sh("", "mv a elsewhere");
    assert!(sandbox.holds("aos/a").contains(&"missing".to_owned()));
    if git_does(&sandbox, &["worktree", "prune"], true) {
        assert!(!sandbox.git_ok("elsewhere", ["status"]), "git's own repair would do");
    }
}

#[test]
fn branches_that_git_refuses_go_and_one_that_it_deletes_stays() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("rebased");
    sandbox.ci("rebased");
    let _ = sandbox.landed("squashed");
    sandbox.git("r", ["cherry-pick", "aos/rebased"]);
    sandbox.wt("pushed");
    sandbox.ci("pushed");
    sandbox.git("pushed", ["push", "-qu", "origin", "HEAD"]);
    sandbox.age("pushed", 24 * 4);
    sandbox.sh("r", "for x in squashed rebased pushed; do git worktree remove ../$x; done");
    for x in ["squashed", "rebased"] {
        let _ = git_does(&sandbox, &["branch", "-d", &format!("aos/{x}")], false);
    }
    assert_eq!(sandbox.holds("aos/pushed"), ["unlanded"]);
    sandbox.prune();
    assert_eq!(sandbox.git("r", ["branch", "--list", "aos/*", "--format=%(refname:short)"]), "aos/pushed");
    let _ = git_does(&sandbox, &["branch", "-d", "aos/pushed"], true);
}
