//! What a hook's work must not forget or overlook, whatever happened before or meanwhile.

use fs_err as fs;
use git_shadow::execute::failpoint::NAMES;

use crate::harness::{Sandbox, executable};
use crate::hooks::{hooked, install, settle, went, work};

/// What is on no shadow's branch, so that hooks have something to look at.
fn merge_a_side_branch(sandbox: &Sandbox) {
    sandbox.sh("r", "git switch -qC side; git commit -q --allow-empty -m side; git switch -q main; git merge -q side");
    settle(sandbox);
}

#[test]
fn what_a_killed_hook_left_goes_with_the_next() {
    for name in NAMES {
        let mut sandbox = hooked();
        work(&sandbox, "a");
        work(&sandbox, "b");
        sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=kill"));
        sandbox.git("r", ["merge", "-q", "--no-edit", "aos/a"]);
        settle(&sandbox);
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        sandbox.git("r", ["merge", "-q", "--no-edit", "aos/b"]);
        settle(&sandbox);
        for x in ["a", "b"] {
            assert!(!sandbox.has_branch(&format!("aos/{x}")) && !sandbox.path(x).exists(), "killed at '{name}': {x}");
        }
    }
}

#[test]
fn a_proof_that_failed_is_tried_again() {
    let sandbox = hooked();
    work(&sandbox, "a");
    sandbox.sh("r", "echo more >more; git add more; git commit -qm more");
    sandbox.squash("a");
    let tree = sandbox.git("r", ["rev-parse", "aos/a^{tree}"]);
    let object = sandbox.path(&format!("r/.git/objects/{}/{}", &tree[..2], &tree[2..]));
    fs::rename(&object, sandbox.path("away")).unwrap();
    merge_a_side_branch(&sandbox);
    fs::rename(sandbox.path("away"), &object).unwrap();
    assert!(sandbox.has_branch("aos/a"));
    merge_a_side_branch(&sandbox);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
}

#[test]
fn a_git_directory_apart_from_its_checkout_does_not_hide_the_policy() {
    for apart in ["git init -q --separate-git-dir=../apart", "mv .git ../apart; ln -s ../apart .git"] {
        let sandbox = Sandbox::mk();
        sandbox.sh("r", apart);
        sandbox.write("r/.shadowrc", "protect = [\"aos/keep\"]\n");
        install(&sandbox);
        work(&sandbox, "keep");
        work(&sandbox, "a");
        sandbox.git("r", ["merge", "-q", "--no-edit", "aos/keep", "aos/a"]);
        assert_eq!(went(&sandbox), ["hook post-merge aos/a"], "{apart}");
    }
}

#[test]
fn switched_off_while_the_push_goes_on() {
    for switch in ["git config shadow.hooks false", "printf 'hooks.pre-push = false\\n' >.shadowrc"] {
        let sandbox = hooked();
        work(&sandbox, "a");
        sandbox.sh("r", "GIT_SHADOW_HOOKS=0 git merge -q aos/a");
        let receive = format!("#!/bin/sh\ncd ../r && unset GIT_DIR GIT_QUARANTINE_PATH && {switch}\n");
        executable(&sandbox, "o.git/hooks/pre-receive", &receive);
        sandbox.git("r", ["push", "-q", "origin", "main"]);
        assert_eq!(went(&sandbox), [""; 0], "{switch}");
        assert!(sandbox.has_branch("aos/a"));
    }
}
