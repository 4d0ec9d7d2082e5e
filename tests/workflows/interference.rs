//! Others at work between any two steps of a release: nothing is lost, and a second run finds a whole repository.

use fs_err as fs;
use git_shadow::execute::failpoint::NAMES;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox};

fn landed() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    sandbox.wt("a");
    sandbox.ci("a");
    sandbox.git("a", ["commit", "-q", "--amend", "-m", "rewritten"]);
    sandbox.write("a/target/x.o", "object\n");
    let _ = sandbox.squash("a");
    sandbox
}

/// A run in which `script` (in the sandbox's folder) runs once at this step.
fn run_with(sandbox: &mut Sandbox, name: &str, script: &str) -> Run {
    let root = sandbox.root().display().to_string();
    sandbox.write("script", format!("cd '{root}' || exit\n{script}\n"));
    sandbox.set("GIT_SHADOW_FAILPOINT", format!("{name}=run:bash '{root}/script' >'{root}/said' 2>&1"));
    let run = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
    sandbox.unset("GIT_SHADOW_FAILPOINT");
    assert!(run.status == 0 || run.status == 2, "{name}: {run:#?}");
    run
}

/// What is lost, but for the registration's own files: the scripts are git at work in it, which writes these.
fn lost(before: &Inventory, sandbox: &Sandbox) -> Vec<String> {
    before.lost(sandbox).into_iter().filter(|lost| !lost.contains("/.git/worktrees/a/")).collect()
}

/// At every step: `script`, then the checks, then a second run and the checks again.
fn at_every_step(script: &str, check: impl Fn(&Sandbox, &str)) {
    for name in NAMES {
        let mut sandbox = landed();
        let before = Inventory::of(&sandbox, &["r"]);
        let run = run_with(&mut sandbox, name, script);
        check(&sandbox, name);
        let again = sandbox.shadow("r", ["prune-sessions", "--yes", "--json"]);
        assert!(again.status == 0 || again.status == 2, "at {name}, run again: {again:#?}");
        assert_eq!(lost(&before, &sandbox), [""; 0], "at {name}: {run:#?}, run again: {again:#?}");
        check(&sandbox, name);
        sandbox.git("r", ["fsck", "--strict"]);
    }
}

#[test]
fn git_gc() {
    at_every_step("git -C r -c gc.worktreePruneExpire=now gc -q --prune=now", |_, _| {});
}

#[test]
fn git_worktree_prune() {
    at_every_step("git -C r worktree prune --expire now", |_, _| {});
}

#[test]
fn git_worktree_repair() {
    at_every_step("git -C r worktree repair; git -C r worktree repair ../.a.shadow-*", |_, _| {});
}

#[test]
fn git_worktree_add_at_the_path() {
    at_every_step("git -C r worktree add -f ../a aos/a && touch added", |sandbox, name| {
        if sandbox.path("added").exists() {
            assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a", "at {name}");
            assert_eq!(sandbox.git("a", ["log", "-1", "--format=%s"]), "rewritten", "at {name}");
        }
    });
}

#[test]
fn git_worktree_add_of_another_branch_at_the_path() {
    at_every_step(
        "git -C r worktree add -f -f -b other ../a main && echo mine >a/mine && touch added",
        |sandbox, name| {
            if sandbox.path("added").exists() {
                assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## other\n?? mine", "at {name}");
            }
        },
    );
}

#[test]
fn a_commit_in_the_worktree_under_either_name() {
    let script = "cd .a.shadow-* 2>/dev/null || cd a || exit; echo late >late && git add late && git commit -qm late \
                  && git rev-parse HEAD >../late";
    at_every_step(script, |sandbox, name| {
        let Ok(late) = fs::read_to_string(sandbox.path("late")) else { return };
        let found = sandbox.git("r", ["rev-list", "--all", "--reflog"]);
        let heads = sandbox.sh("r", "cat .git/worktrees/*/HEAD .git/worktrees/*/logs/HEAD 2>/dev/null || true");
        assert!(found.contains(late.trim()) || heads.contains(late.trim()), "commit at {name} is unreachable");
        sandbox.git("r", ["cat-file", "-e", late.trim()]);
    });
}

#[test]
fn a_file_written_into_the_worktree_under_either_name() {
    let script = "cd .a.shadow-* 2>/dev/null || cd a || exit; echo late >late-file; echo edit >>f; touch ../wrote";
    at_every_step(script, |sandbox, name| {
        if sandbox.path("wrote").exists() {
            let found = sandbox.sh("", "find . -name late-file | wc -l; grep -rlx edit --include=f . | wc -l");
            assert_eq!(found.split_whitespace().collect::<Vec<_>>(), ["1", "1"], "written at {name}");
        }
    });
}

#[test]
fn something_staged_in_the_worktree_under_either_name() {
    let script = "cd .a.shadow-* 2>/dev/null || cd a || exit; echo late | git hash-object -w --stdin >../blob \
                  && git update-index --add --cacheinfo 100644,$(cat ../blob),late && touch ../staged";
    at_every_step(script, |sandbox, name| {
        if sandbox.path("staged").exists() {
            let blob = fs::read_to_string(sandbox.path("blob")).unwrap();
            sandbox.git("r", ["gc", "-q", "--prune=now"]);
            assert!(sandbox.git_ok("r", ["cat-file", "-e", blob.trim()]), "staged at {name}");
        }
    });
}

#[test]
fn the_branch_moves() {
    let script = "git -C r update-ref refs/heads/aos/a $(git -C r commit-tree -p aos/a -m late aos/a^{tree}) \
                  && git -C r rev-parse aos/a >late";
    at_every_step(script, |sandbox, name| {
        let late = fs::read_to_string(sandbox.path("late")).unwrap_or_default();
        if !late.is_empty() {
            assert!(sandbox.git("r", ["rev-list", "--all", "--reflog"]).contains(late.trim()), "moved at {name}");
        }
    });
}

#[test]
fn a_process_enters() {
    for name in ["gate", "pins", "marker"] {
        let mut sandbox = landed();
        let run =
            run_with(&mut sandbox, name, "cd a && { exec sleep 5 >/dev/null 2>&1 </dev/null & echo $! >../pid; }");
        assert!(sandbox.path("a/f").exists() && sandbox.has_branch("aos/a"), "at {name}: {run:#?}");
        assert_eq!(sandbox.git("a", ["status", "--porcelain", "--branch"]), "## aos/a", "at {name}");
        sandbox.sh("", "kill $(cat pid)");
    }
}
