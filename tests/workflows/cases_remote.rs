//! What a remote-tracking ref says, and what it does not say.

use crate::checker::Inventory;
use crate::harness::{Sandbox, codes};

/// A repository with an origin and a shadow `a` with a commit that was pushed under its own name.
fn pushed() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["push", "-qu", "origin", "HEAD"]);
    sandbox
}

#[test]
fn c09_an_upstream_that_is_gone_is_no_merge() {
    let sandbox = pushed();
    sandbox.git("o.git", ["update-ref", "-d", "refs/heads/aos/a"]);
    sandbox.git("r", ["fetch", "-qp"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn c30_pushed_is_no_landing() {
    let sandbox = pushed();
    sandbox.age("a", 71);
    assert!(sandbox.holds("aos/a").contains(&"unlanded".to_owned()));
    assert!(sandbox.holds("aos/a").contains(&"grace".to_owned()));
    sandbox.assert_kept("a");
    sandbox.git("r", ["worktree", "remove", "../a"]);
    sandbox.age("a", 1000);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!((&shadow["verdict"], codes(&shadow)), (&"held".into(), vec!["unlanded".to_owned()]), "{shadow:#}");
    sandbox.prune();
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn a_pushed_one_that_rests_gives_up_its_worktree_and_keeps_its_branch() {
    let sandbox = pushed();
    sandbox.age("a", 73);
    let shadow = sandbox.shadow_json("aos/a");
    assert_eq!((&shadow["verdict"], &shadow["because"]), (&"partial".into(), &"kept-elsewhere".into()), "{shadow:#}");
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    assert!(!sandbox.path("a").exists() && !sandbox.path("r/.git/worktrees/a").exists());
    assert!(sandbox.has_branch("aos/a"));
    assert_eq!(sandbox.git("r", ["config", "branch.aos/a.merge"]), "refs/heads/aos/a");
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c35_a_server_that_dropped_the_branch_loses_nothing() {
    let sandbox = pushed();
    let tip = sandbox.git("r", ["rev-parse", "aos/a"]);
    sandbox.git("o.git", ["update-ref", "-d", "refs/heads/aos/a"]);
    sandbox.git("o.git", ["gc", "-q", "--prune=now"]);
    sandbox.age("a", 1000);
    let before = Inventory::of(&sandbox, &["r"]);
    sandbox.prune();
    assert_eq!(sandbox.git("r", ["rev-parse", "refs/heads/aos/a"]), tip);
    assert_eq!(before.lost(&sandbox), [""; 0]);
}

#[test]
fn c60_pushed_under_another_name_is_said_so() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/b", "--track", "../b", "origin/main"]);
    sandbox.ci("b");
    sandbox.git("b", ["push", "-q", "origin", "HEAD:refs/heads/renamed"]);
    sandbox.age("b", 1);
    let shadow = sandbox.shadow_json("aos/b");
    let unlanded = shadow["holds"].as_array().unwrap().iter().find(|h| h["code"] == "unlanded");
    let unlanded = unlanded.unwrap_or_else(|| panic!("{shadow:#}"));
    assert!(unlanded["message"].as_str().unwrap().contains("origin/renamed"), "{unlanded}");
    assert!(!codes(&shadow).contains(&"unpushed".to_owned()), "{shadow:#}");
}

#[test]
fn c63_a_merge_on_the_server_is_not_known_before_a_fetch() {
    let sandbox = pushed();
    sandbox.age("a", 24);
    sandbox.sh("", "git clone -q o.git server; cd server; git merge -q --squash origin/aos/a; git commit -qm 'a (#1)'");
    sandbox.git("server", ["push", "-q", "origin", "main"]);
    sandbox.assert_held("a", "unlanded");
    sandbox.git("r", ["fetch", "-q"]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_local_branch_lifts_nothing_and_a_tag_neither() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("r", ["branch", "copy", "aos/a"]);
    sandbox.git("r", ["tag", "copied", "aos/a"]);
    sandbox.age("a", 1000);
    sandbox.assert_held("a", "unpushed");
}

#[test]
fn bases_that_cannot_be_told_hold() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["update-ref", "refs/remotes/origin/master", "main"]);
    sandbox.git("r", ["symbolic-ref", "-d", "refs/remotes/origin/HEAD"]);
    sandbox.assert_held("a", "base-unresolved");
    sandbox.git("r", ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone"]);
    sandbox.assert_held("a", "base-unresolved");
    sandbox.git("r", ["remote", "set-head", "origin", "main"]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_mirror_would_drop_the_pins() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    let _ = sandbox.landed("a");
    sandbox.git("r", ["config", "--add", "remote.origin.fetch", "+refs/*:refs/*"]);
    sandbox.assert_held("a", "mirror");
    let shadow = sandbox.shadow_json("aos/a");
    let hold = shadow["holds"].as_array().unwrap().iter().find(|h| h["code"] == "mirror").unwrap().clone();
    assert!(hold["remedy"].as_str().unwrap().contains("remote.origin.fetch"), "{hold}");
    sandbox.git("r", ["config", "--add", "remote.origin.fetch", "^refs/shadow/*"]);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c91_a_shallow_clone_cannot_prove() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["push", "-q", "origin", "HEAD"]);
    let _ = sandbox.squash("a");
    sandbox.write("r/g", "more\n");
    sandbox.commit("r", "more");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    let url = format!("file://{}", sandbox.path("o.git").display());
    sandbox.git("", ["clone", "-q", "--depth", "1", "--no-single-branch", &url, "shallow"]);
    sandbox
        .sh("shallow", "git switch -q aos/a; echo more>>a.txt; git commit -qam more; git push -q; git switch -q main");
    let log = sandbox.path("shallow/.git/logs/refs/heads/aos/a");
    sandbox.age_log(&log, 1000);
    let shadow = sandbox.shadow("shallow", ["list", "--json"]).shadow("aos/a");
    assert_eq!(shadow["verdict"], "held", "{shadow:#}");
    assert!(codes(&shadow).contains(&"shallow".to_owned()), "{shadow:#}");
    sandbox.shadow("shallow", ["prune-sessions", "--yes"]).exits(0);
    assert!(sandbox.git_ok("shallow", ["rev-parse", "-q", "--verify", "refs/heads/aos/a"]));
}

#[test]
fn c65_a_clean_submodule_is_no_obstacle_and_one_with_work_is() {
    let sandbox = Sandbox::mk();
    sandbox.git("", ["init", "-q", "-b", "main", "lib"]);
    sandbox.write("lib/l", "lib\n");
    sandbox.commit("lib", "lib");
    sandbox.git("", ["clone", "-q", "--bare", "lib", "lib.git"]);
    sandbox.sh("r", "git -c protocol.file.allow=always submodule --quiet add ../lib.git lib; git commit -qm lib");
    let url = sandbox.path("lib.git");
    sandbox.git("r", ["config", "submodule.lib.url", url.to_str().unwrap()]);
    for x in ["a", "b"] {
        sandbox.wt(x);
        sandbox.sh(x, "git -c protocol.file.allow=always submodule --quiet update --init");
        sandbox.ci(x);
        sandbox.squash(x);
    }
    sandbox
        .sh("b/lib", "git switch -q -c side; echo w>w; git add w; git commit -qm w; git checkout -q --detach HEAD~1");
    sandbox.assert_held("b", "submodule");
    sandbox.assert_released("a");
}
