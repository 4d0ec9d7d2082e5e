//! One repository in several places: branches that others use through links, and what a mount shows twice.

use serde_json::Value;

use crate::harness::{Sandbox, skip};

/// Checkouts with a HEAD of their own and the branches of another repository, as `git-new-workdir` makes them.
#[test]
fn branches_that_another_checkout_uses_through_links_stay() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b"] {
        sandbox.landed(x);
        sandbox.git("r", ["worktree", "remove", &format!("../{x}")]);
    }
    for (name, links) in
        [("whole", "config objects refs packed-refs logs/refs"), ("heads", "config objects refs/heads")]
    {
        let link =
            "for each in $links; do mkdir -p $(dirname w/.git/$each); ln -s $PWD/r/.git/$each w/.git/$each; done";
        sandbox.sh(
            "",
            &format!(
                "rm -rf w; mkdir -p w/.git/refs; [ -e r/.git/packed-refs ] || git -C r pack-refs; links='{links}'"
            ),
        );
        let bare = if name == "whole" { "rmdir w/.git/refs;" } else { "" };
        sandbox.sh(
            "",
            &format!(
                "links='{links}'; {bare} {link}; echo 'ref: refs/heads/aos/a' > w/.git/HEAD; git -C w reset -q --hard"
            ),
        );
        let run = sandbox.shadow("w", ["prune-sessions", "--yes"]).exits(128);
        assert!(run.stderr.contains("its branches are those of"), "{run:#?}");
        let run = sandbox.shadow("", ["prune-sessions", "--yes", "--json", "--under", "."]).exits(2);
        for repository in run.json()["repositories"].as_array().unwrap() {
            assert_eq!(repository["errors"][0]["code"], "shared-refs", "{repository:#}");
        }
        assert_eq!(run.json()["repositories"].as_array().unwrap().len(), 2, "{name}");
        assert!(sandbox.has_branch("aos/a") && sandbox.has_branch("aos/b"), "{name}");
    }
}

#[test]
fn a_repository_that_a_mount_shows_twice_is_one() {
    if !crate::other_user::root_or_skip("mounts") {
        return skip("a_repository_that_a_mount_shows_twice_is_one", "not root: unshare");
    }
    let sandbox = Sandbox::mk();
    sandbox.landed("x");
    let script = format!("mkdir z; mount --bind r z; exec {} list --json --under .", env!("CARGO_BIN_EXE_git-shadow"));
    let output = sandbox.command("unshare", sandbox.root()).args(["-m", "sh", "-euc", &script]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    let repositories = json["repositories"].as_array().unwrap();
    assert_eq!((repositories.len(), &json["summary"]["shadows"]), (1, &Value::from(1)), "{json:#}");
}
