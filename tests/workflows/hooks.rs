//! Hooks: what just landed goes by itself, with real merges, pulls and pushes.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use git_shadow::sys::process::wait_for_end;
use git_shadow::sys::vantage;

use crate::harness::{Sandbox, codes};
use crate::process::sleeping;

/// A repository with an origin, and the hooks in it.
pub fn hooked() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    install(&sandbox);
    sandbox
}

pub fn install(sandbox: &Sandbox) {
    sandbox.shadow("r", ["hooks", "install"]).exits(0);
}

/// The processes of ours that work in the sandbox, with their starts.
pub fn at_work(sandbox: &Sandbox) -> Vec<(i64, u64)> {
    let here = |pid: i64| {
        let proc = Path::new("/proc").join(pid.to_string());
        // What has ended and waits for its parent has no directory any more.
        let inside = fs::read_link(proc.join("cwd")).is_ok_and(|dir| dir.starts_with(sandbox.root()));
        (inside && fs::read_to_string(proc.join("comm")).is_ok_and(|name| name.trim() == "git-shadow")).then_some(pid)
    };
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(here).filter_map(|pid| Some((pid, vantage::start_ticks(pid)?))).collect()
}

/// Wait until all that hooks have started has ended; nothing may have gone wrong.
#[track_caller]
pub fn settle(sandbox: &Sandbox) {
    loop {
        let working = at_work(sandbox);
        if working.is_empty() {
            break;
        }
        for (pid, ticks) in working {
            assert!(wait_for_end(pid, ticks, Duration::from_secs(60)), "process {pid} does not end");
        }
    }
    let failed = sandbox.path("r/.git/shadow/hook-failed");
    assert!(!failed.exists(), "{}", fs::read_to_string(failed).unwrap());
}

/// Shadows that went, by the log, newest operation first: `hook post-merge aos/a`.
pub fn went(sandbox: &Sandbox) -> Vec<String> {
    settle(sandbox);
    let log = sandbox.shadow("r", ["log", "--json"]).exits(0).json();
    let operations = log["operations"].as_array().unwrap();
    let line = |operation: &serde_json::Value| {
        let command = operation["command"].as_str().unwrap().to_owned();
        let shadows = operation["shadows"].as_array().unwrap().clone();
        shadows.into_iter().map(move |shadow| format!("{command} {}", shadow["name"].as_str().unwrap()))
    };
    operations.iter().flat_map(line).collect()
}

/// A shadow with a commit of its own.
pub fn work(sandbox: &Sandbox, x: &str) {
    sandbox.wt(x);
    sandbox.ci(x);
}

#[test]
fn a_fast_forward_a_true_merge_and_an_octopus() {
    let sandbox = hooked();
    for x in ["a", "b", "c", "d", "stays"] {
        work(&sandbox, x);
    }
    sandbox.git("r", ["merge", "-q", "--ff-only", "aos/a"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/b"]);
    assert_eq!(went(&sandbox)[..1], ["hook post-merge aos/b"]);
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/c", "aos/d"]);
    let mut last = went(&sandbox)[..2].to_vec();
    last.sort();
    assert_eq!(last, ["hook post-merge aos/c", "hook post-merge aos/d"]);
    for x in ["a", "b", "c", "d"] {
        sandbox.assert_released(x);
    }
    assert!(sandbox.has_branch("aos/stays") && sandbox.path("stays/stays.txt").exists());
}

#[test]
fn one_line_says_what_went_and_undo_takes_it_back() {
    let sandbox = hooked();
    work(&sandbox, "a");
    let merge = sandbox.command("git", &sandbox.repo()).args(["merge", "-q", "aos/a"]).output().unwrap();
    settle(&sandbox);
    let said = String::from_utf8(merge.stderr).unwrap();
    // A machine that is busy does not get it done in the time that a merge waits.
    assert!(said.is_empty() || said == "git shadow: released 'aos/a', 'git shadow undo' takes it back\n", "{said}");
    sandbox.assert_released("a");
    sandbox.shadow("r", ["undo"]).exits(0);
    assert!(sandbox.has_branch("aos/a") && sandbox.path("a/a.txt").exists());
    sandbox.sh("r", "git commit -q --allow-empty -m more; git switch -qc side; git commit -q --allow-empty -m side; git switch -q main");
    sandbox.git("r", ["merge", "-q", "--no-edit", "side"]);
    assert_eq!(went(&sandbox).len(), 1, "what was taken back stays");
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn pulls_of_what_landed_on_the_server() {
    let sandbox = hooked();
    for x in ["a", "b"] {
        work(&sandbox, x);
        sandbox.git(x, ["push", "-q", "origin", "HEAD"]);
    }
    settle(&sandbox);
    sandbox.git("", ["clone", "-q", "o.git", "forge"]);
    let land = |x: &str| {
        sandbox.git("forge", ["fetch", "-q"]);
        sandbox.git("forge", ["merge", "-q", "--squash", &format!("origin/aos/{x}")]);
        sandbox.git("forge", ["commit", "-qm", x]);
        sandbox.git("forge", ["push", "-q", "origin", "main"]);
    };
    land("a");
    sandbox.git("r", ["pull", "-q", "--ff-only"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
    land("b");
    sandbox.git("r", ["pull", "-q", "--rebase"]);
    assert_eq!(went(&sandbox)[..1], ["hook post-merge aos/b"]);
}

#[test]
fn a_squash_is_not_committed_yet() {
    let sandbox = hooked();
    for x in ["a", "b", "c"] {
        work(&sandbox, x);
    }
    // Committed by hand, which fires no hook.
    sandbox.squash("a");
    sandbox.git("r", ["merge", "-q", "--squash", "aos/b"]);
    assert_eq!(went(&sandbox), [""; 0]);
    sandbox.git("r", ["commit", "-qm", "b"]);
    // The next merge looks at all that is new since the last sweep.
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/c"]);
    let mut all = went(&sandbox);
    all.sort();
    assert_eq!(all, ["hook post-merge aos/a", "hook post-merge aos/b", "hook post-merge aos/c"]);
}

#[test]
fn a_merge_in_a_sessions_own_worktree_is_its_own_affair() {
    let sandbox = hooked();
    work(&sandbox, "b");
    work(&sandbox, "c");
    // It lands without a hook, and then a session brings its own branch up to date.
    sandbox.squash("b");
    sandbox.git("c", ["merge", "-q", "--no-edit", "main"]);
    assert_eq!(went(&sandbox), [""; 0]);
    assert!(sandbox.has_branch("aos/b"));
}

#[test]
fn from_a_foreign_worktree_with_all_that_git_sets() {
    let sandbox = hooked();
    sandbox.git("r", ["switch", "-q", "--detach"]);
    sandbox.git("r", ["worktree", "add", "-q", "../main", "main"]);
    work(&sandbox, "a");
    work(&sandbox, "b");
    sandbox.write("b/untracked", "only here");
    sandbox.git("main", ["merge", "-q", "--no-edit", "aos/a"]);
    sandbox.git("main", ["merge", "-q", "--no-edit", "aos/b"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
    sandbox.assert_released("a");
    assert_eq!(sandbox.holds("aos/b"), ["untracked"], "git's variables of another worktree do not count");
    assert_eq!(fs::read_to_string(sandbox.path("b/untracked")).unwrap(), "only here");
}

#[test]
fn not_while_an_operation_is_in_progress() {
    let sandbox = hooked();
    work(&sandbox, "b");
    sandbox.sh(
        "r",
        "git branch side; git commit -q --allow-empty -m top; git switch -q side; git commit -q --allow-empty -m side",
    );
    sandbox.git("r", ["switch", "-q", "main"]);
    sandbox.squash("b");
    // A merge in the middle of a rebase, as its todo may ask for.
    sandbox.sh("r", "GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1 2>/dev/null");
    sandbox.git("r", ["merge", "-q", "--no-edit", "side"]);
    assert!(sandbox.path("r/.git/rebase-merge").exists());
    assert_eq!(went(&sandbox), [""; 0]);
    assert!(sandbox.has_branch("aos/b"));
}

#[test]
fn a_push_is_swept_when_it_has_ended() {
    let sandbox = hooked();
    work(&sandbox, "a");
    work(&sandbox, "b");
    sandbox.squash("a");
    settle(&sandbox);
    assert!(sandbox.has_branch("aos/a"), "nothing has fired yet");
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    assert_eq!(went(&sandbox), ["hook pre-push aos/a"]);
    sandbox.assert_released("a");
    // From the session's own worktree, which it has left by then.
    sandbox.git("b", ["push", "-q", "origin", "HEAD"]);
    sandbox.git("b", ["pull", "-q", "--no-edit", "--no-rebase", "origin", "main"]);
    sandbox.git("b", ["push", "-q", "origin", "HEAD:main"]);
    assert_eq!(went(&sandbox)[..1], ["hook pre-push aos/b"]);
    sandbox.assert_released("b");
}

#[test]
fn pushes_that_move_no_base_release_nothing() {
    let sandbox = hooked();
    work(&sandbox, "a");
    work(&sandbox, "b");
    sandbox.git("b", ["push", "-q", "origin", "HEAD"]);
    let nothing = |what: &str| {
        assert_eq!(went(&sandbox), [""; 0], "{what}");
        assert!(sandbox.has_branch("aos/a"), "{what}");
    };
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    nothing("up to date");
    sandbox.git("r", ["push", "-q", "--dry-run", "origin", "aos/a:main"]);
    nothing("dry run");
    sandbox.git("r", ["push", "-q", "origin", ":aos/b"]);
    nothing("delete");
    sandbox.write("o.git/hooks/pre-receive", "#!/bin/sh\nexit 1\n");
    sandbox.sh("o.git", "chmod +x hooks/pre-receive");
    assert!(!sandbox.git_ok("r", ["push", "-q", "origin", "aos/a:main"]));
    nothing("rejected");
    fs::remove_file(sandbox.path("o.git/hooks/pre-receive")).unwrap();
    sandbox.sh("r", "git push -q ../o.git aos/a:main");
    nothing("by URL");
    sandbox.git("r", ["config", "--unset", "remote.origin.fetch"]);
    sandbox.sh(
        "r",
        "git commit -q --allow-empty -m x; git merge -q --no-edit aos/b -m b; git push -q --force origin main",
    );
    settle(&sandbox);
}

#[test]
fn an_interrupted_push_releases_nothing() {
    let sandbox = hooked();
    work(&sandbox, "a");
    // The hook of the server says when it is reached, and waits to be killed with the push.
    sandbox.sh("", "mkfifo reached");
    sandbox.write("o.git/hooks/pre-receive", "#!/bin/sh\necho here > ../reached\nexec sleep 600\n");
    sandbox.sh("o.git", "chmod +x hooks/pre-receive");
    let mut push = sandbox.command("setsid", &sandbox.repo());
    let mut push = push.args(["git", "push", "-q", "origin", "aos/a:main"]).spawn().unwrap();
    assert_eq!(fs::read_to_string(sandbox.path("reached")).unwrap(), "here\n");
    assert_eq!(at_work(&sandbox).len(), 1, "it waits for the push to end");
    sandbox.sh("", &format!("kill -INT -- -{}", push.id()));
    push.wait().unwrap();
    assert_eq!(went(&sandbox), [""; 0]);
    assert!(sandbox.has_branch("aos/a"));
}

#[test]
fn who_reads_what_a_push_says_waits_no_longer_than_for_git() {
    let sandbox = hooked();
    work(&sandbox, "a");
    sandbox.git("r", ["merge", "-q", "--ff-only", "aos/a", "--no-verify"]);
    settle(&sandbox);
    // Another run has the lock, so that what the hook starts is still there when git has ended.
    let mut flock = sandbox.command("flock", &sandbox.repo());
    let holder = flock.args([".git/shadow/lock", "sh", "-c", "echo locked > ../locked; cat ../free"]);
    sandbox.sh("", "mkfifo locked free");
    let mut holder = holder.spawn().unwrap();
    assert_eq!(fs::read_to_string(sandbox.path("locked")).unwrap(), "locked\n");
    let script = "out=$(git push origin main 2>&1 9>&1); echo \"$out\"";
    let said = sandbox.sh("r", script);
    assert!(said.contains("main -> main"), "{said}");
    let working = at_work(&sandbox);
    assert_eq!(working.len(), 1, "the capture has ended and the work has not");
    let open = fs::read_dir(format!("/proc/{}/fd", working[0].0)).unwrap();
    let open = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    // Beside its own: what it said goes into a pipe that nobody reads any more.
    let own = ["/dev/null", "pipe:", "anon_inode:[pidfd]", sandbox.root().to_str().unwrap()];
    let foreign: Vec<_> = open.filter(|path| !own.iter().any(|own| path.to_string_lossy().starts_with(own))).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    sandbox.write("free", "go");
    holder.wait().unwrap();
    settle(&sandbox);
}

#[test]
fn switched_off() {
    let mut sandbox = hooked();
    let off = |sandbox: &Sandbox, x: &str| {
        work(sandbox, x);
        sandbox.git("r", ["merge", "-q", "--no-edit", &format!("aos/{x}")]);
        sandbox.git("r", ["push", "-q", "origin", "main"]);
        assert_eq!(went(sandbox), [""; 0]);
        assert!(sandbox.has_branch(&format!("aos/{x}")));
    };
    sandbox.set("GIT_SHADOW_HOOKS", "0");
    off(&sandbox, "a");
    sandbox.unset("GIT_SHADOW_HOOKS");
    sandbox.git("r", ["config", "shadow.hooks", "false"]);
    off(&sandbox, "b");
    sandbox.git("r", ["config", "--unset", "shadow.hooks"]);
    sandbox.write("r/.shadowrc", "[hooks]\npost-merge = false\npre-push = false\n");
    off(&sandbox, "c");
    sandbox.write("r/.shadowrc", "[hooks]\npost-merge = false\n");
    sandbox.git("r", ["push", "-q", "origin", "main~0:refs/heads/other"]);
    let mut all = went(&sandbox);
    all.sort();
    assert_eq!(all, ["hook pre-push aos/a", "hook pre-push aos/b", "hook pre-push aos/c"], "one of them is on");
}

#[test]
fn nothing_goes_because_a_hook_fired() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    // Before there were hooks: landed, unused, purged, on a remote.
    sandbox.landed("old");
    for x in ["unused", "purged", "pushed"] {
        sandbox.wt(x);
    }
    sandbox.ci("purged");
    sandbox.squash("purged");
    sandbox.ci("pushed");
    sandbox.git("pushed", ["push", "-q", "origin", "HEAD"]);
    for x in ["old", "unused", "purged", "pushed"] {
        sandbox.age(x, 500);
    }
    fs::remove_dir_all(sandbox.path("purged")).unwrap();
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    install(&sandbox);
    work(&sandbox, "new");
    work(&sandbox, "gone");
    sandbox.age("gone", 500);
    fs::remove_dir_all(sandbox.path("gone")).unwrap();
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/new"]);
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/gone"]);
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/new"]);
    let all = sandbox.prune();
    let goes = |x: &str| all.shadow(&format!("aos/{x}"))["verdict"] != "held";
    assert!(["old", "unused", "purged", "pushed", "gone"].into_iter().all(goes), "{all:#?}");
}

#[test]
fn what_was_held_when_it_landed_goes_with_a_later_hook() {
    let sandbox = hooked();
    work(&sandbox, "a");
    work(&sandbox, "b");
    let inside = sleeping(&sandbox.path("a"));
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/a"]);
    assert_eq!(went(&sandbox), [""; 0]);
    assert_eq!(codes(&sandbox.shadow_json("aos/a")), ["in-use"]);
    drop(inside);
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/b"]);
    let mut all = went(&sandbox);
    all.sort();
    assert_eq!(all, ["hook post-merge aos/a", "hook post-merge aos/b"]);
}

#[test]
fn a_base_without_a_cursor_begins_before_the_merge() {
    let sandbox = hooked();
    sandbox.landed("old");
    work(&sandbox, "a");
    fs::remove_file(sandbox.path("r/.git/shadow/cursor")).unwrap();
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/a"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
    assert!(sandbox.has_branch("aos/old"), "it landed before");
}

#[test]
fn a_cursor_at_a_commit_that_is_gone_begins_anew() {
    let sandbox = hooked();
    let cursor = sandbox.path("r/.git/shadow/cursor");
    let text = fs::read_to_string(&cursor).unwrap();
    let main = sandbox.git("r", ["rev-parse", "main"]);
    fs::write(&cursor, text.replace(&main, &"1".repeat(40))).unwrap();
    sandbox.landed("old");
    work(&sandbox, "a");
    sandbox.git("r", ["merge", "-q", "--no-edit", "aos/a"]);
    assert_eq!(went(&sandbox), ["hook post-merge aos/a"]);
    assert!(sandbox.has_branch("aos/old"), "it landed before");
}

#[test]
fn what_goes_wrong_is_written_down_and_breaks_nothing() {
    let sandbox = hooked();
    work(&sandbox, "a");
    sandbox.write("r/.shadowrc", "nonsense = 1\n");
    let merge = sandbox.command("git", &sandbox.repo()).args(["merge", "-q", "aos/a"]).output().unwrap();
    assert!(merge.status.success() && merge.stderr.is_empty(), "{merge:?}");
    let failed = fs::read_to_string(sandbox.path("r/.git/shadow/hook-failed")).unwrap();
    assert!(failed.contains("nonsense") && failed.contains("post-merge"), "{failed}");
    let status = sandbox.shadow("r", ["hooks", "status"]);
    assert!(status.stdout.contains("nonsense") || status.stderr.contains("nonsense"), "{status:#?}");
    fs::remove_file(sandbox.path("r/.shadowrc")).unwrap();
    sandbox.git("r", ["push", "-q", "origin", "main"]);
    assert_eq!(went(&sandbox), ["hook pre-push aos/a"]);
}

#[test]
fn forty_at_two_at_a_time_and_each_shadow_goes_once() {
    const EACH: usize = 20;
    let sandbox = hooked();
    sandbox.sh("r", "git init -q --bare -b main ../fork.git; git remote add fork ../fork.git; git push -q fork main");
    sandbox.sh("r", "git remote set-head fork main");
    for n in 0..EACH {
        work(&sandbox, &format!("m{n}"));
        let from = if n == 0 { "main".to_owned() } else { format!("aos/p{}", n - 1) };
        sandbox.git("r", ["worktree", "add", "-q", "-b", &format!("aos/p{n}"), &format!("../p{n}"), &from]);
        sandbox.ci(&format!("p{n}"));
    }
    settle(&sandbox);
    std::thread::scope(|scope| {
        let (merges, pushes) = (&sandbox, &sandbox);
        scope.spawn(move || {
            for n in 0..EACH {
                merges.git("r", ["merge", "-q", "--no-edit", "-m", "m", &format!("aos/m{n}")]);
            }
        });
        scope.spawn(move || {
            for n in 0..EACH {
                pushes.git(format!("p{n}"), ["push", "-q", "fork", "HEAD:main"]);
            }
        });
    });
    settle(&sandbox);
    let gone = went(&sandbox);
    let names: Vec<&str> = gone.iter().filter_map(|line| line.rsplit(' ').next()).collect();
    let once: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(once.len(), names.len(), "{gone:#?}");
    assert!(once.len() >= EACH, "{gone:#?}");
    let log = sandbox.shadow("r", ["log", "--json"]).exits(0).json().to_string();
    for state in ["pending", "reversed", "stuck", "undone"] {
        assert!(!log.contains(&format!("\"state\":\"{state}\"")), "{log}");
    }
    for n in 0..EACH {
        for x in [format!("m{n}"), format!("p{n}")] {
            let there = sandbox.has_branch(&format!("aos/{x}"));
            assert_eq!(there, !once.contains(format!("aos/{x}").as_str()), "{x}");
            assert_eq!(there, sandbox.path(&x).exists(), "{x}");
        }
    }
    sandbox.git("r", ["fsck", "--strict", "--no-dangling"]);
    sandbox.prune().exits(0);
    assert_eq!(
        sandbox.git("r", ["for-each-ref", "refs/heads/aos"]),
        "",
        "what was held for a moment goes with a sweep"
    );
    assert_eq!(at_work(&sandbox), []);
}
