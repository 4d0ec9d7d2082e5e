//! Which landing fires which hook: README's table, against git itself.

use fs_err as fs;

use crate::harness::Sandbox;
use crate::hooks_chain::{calls, hooked, stand_in};

struct Row {
    /// The row of README's table.
    what: &'static str,
    script: &'static str,
    fires: &'static [&'static str],
}

/// In a repository whose branch `side` has one commit more than `main`, and `other` another one; `upstream` is a clone by
/// which somebody else has pushed to `o.git`.
const ROWS: &[Row] = &[
    Row { what: "a merge, also a fast-forward", script: "git merge -q side", fires: &["post-merge 0"] },
    Row { what: "a merge, also a fast-forward", script: "git merge -q --no-ff side", fires: &["post-merge 0"] },
    Row { what: "a merge, also a fast-forward", script: "git merge -q side other", fires: &["post-merge 0"] },
    Row { what: "a merge, also a fast-forward", script: "git pull -q", fires: &["post-merge 0"] },
    Row { what: "a merge, also a fast-forward", script: "git pull -q --rebase", fires: &["post-merge 0"] },
    Row {
        what: "a merge, also a fast-forward",
        script: "git commit -q --allow-empty -m mine; git pull -q --no-rebase --no-edit",
        fires: &["post-merge 0"],
    },
    Row {
        what: "`git merge --squash`",
        script: "git merge -q --squash side; git commit -qm side",
        fires: &["post-merge 1"],
    },
    Row {
        what: "`git pull --rebase` with commits of your own",
        script: "git commit -q --allow-empty -m mine; git pull -q --rebase",
        fires: &["post-rewrite rebase"],
    },
    Row {
        what: "a merge that stopped at a conflict",
        script: "echo mine >f; git commit -qam mine; ! git merge -q conflict; echo both >f; git commit -qam both",
        fires: &[],
    },
    Row { what: "`git rebase`, `git cherry-pick`, `git am`", script: "git cherry-pick other >/dev/null", fires: &[] },
    Row {
        what: "`git rebase`, `git cherry-pick`, `git am`",
        script: "git checkout -q other; git rebase -q side",
        fires: &["post-rewrite rebase"],
    },
    Row { what: "`git fetch`", script: "git fetch -q", fires: &[] },
    Row { what: "a push to a remote", script: "git push -q origin side", fires: &["pre-push origin ../o.git"] },
    Row { what: "a push by URL", script: "git push -q ../o.git side", fires: &["pre-push ../o.git ../o.git"] },
];

fn repository() -> Sandbox {
    let sandbox = hooked();
    stand_in(&sandbox, "");
    sandbox.sh(
        "r",
        "for branch in side other conflict; do
             git checkout -q -b $branch main; echo $branch >$branch
             if [ $branch = conflict ]; then echo theirs >f; fi
             git add -A; git commit -qm $branch
         done
         git checkout -q main
         git clone -q ../o.git ../upstream; cd ../upstream; echo new >new; git add -A; git commit -qm new; git push -q",
    );
    // Not ours, so that the table tells what git calls at all.
    let note = format!("#!/bin/sh\necho \"hook post-rewrite $1\" >>'{}'\n", sandbox.path("calls").display());
    crate::harness::executable(&sandbox, "r/.git/hooks/post-rewrite", &note);
    sandbox
}

#[test]
fn git_calls_the_hooks_as_the_manual_says() {
    for row in ROWS {
        let sandbox = repository();
        sandbox.sh("r", row.script);
        let fired: Vec<String> =
            calls(&sandbox).iter().map(|call| call.trim_start_matches("hook ").to_owned()).collect();
        assert_eq!(fired, row.fires, "{}", row.script);
    }
}

#[test]
fn a_push_by_url_moves_no_remote_tracking_ref() {
    let sandbox = repository();
    let refs = |sandbox: &Sandbox| sandbox.git("r", ["for-each-ref", "refs/remotes"]);
    let before = refs(&sandbox);
    sandbox.sh("r", "git push -q \"$PWD/../o.git\" side");
    assert_eq!(refs(&sandbox), before);
    sandbox.sh("r", "git push -q origin other");
    assert_ne!(refs(&sandbox), before);
}

#[test]
fn every_row_is_in_the_manual() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let section = readme.split("\n## ").find(|section| section.starts_with("Hooks")).unwrap();
    for row in ROWS {
        let line = section.lines().find(|line| line.starts_with(&format!("| {} |", row.what)));
        let line = line.unwrap_or_else(|| panic!("no row '{}'", row.what));
        let hook = row.fires.first().map_or("none", |fires| fires.split(' ').next().unwrap());
        assert!(line.contains(hook), "{line}: {hook}");
    }
}
