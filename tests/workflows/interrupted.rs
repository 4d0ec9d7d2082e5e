//! Ctrl-C and `kill` at any moment (SIGKILL at every step is in `crashes`): no child goes on, every repository is whole, and the next run finishes.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fs_err as fs;
use git_shadow::execute::failpoint::NAMES;

use crate::checker::Inventory;
use crate::harness::Sandbox;

const REPOSITORIES: [&str; 2] = ["p/one", "p/two"];

/// Two repositories, each with a worktree, a purged one and a branch that have landed.
fn fleet() -> Sandbox {
    let sandbox = Sandbox::empty();
    for name in REPOSITORIES {
        sandbox.sh(
            "",
            &format!(
                "git init -q -b main {name}; cd {name}; echo base > f; echo target > .gitignore; git add .; git commit -qm base
                for x in w u b; do
                    git worktree add -q -b aos/$x ../wt/{0}-$x; cd ../wt/{0}-$x
                    echo $x > $x; git add $x; git commit -qm $x; mkdir target; echo o > target/o; cd ../../{0}
                    git merge -q --squash aos/$x; git commit -qm \"$x (#1)\"
                done
                git worktree remove ../wt/{0}-b; rm -r ../wt/{0}-u
                sed -i -E 's/> [0-9]+ /> 1600000000 /' .git/logs/refs/heads/aos/* .git/worktrees/*/logs/HEAD
                touch -d @1600000000 .git/worktrees/*/commondir",
                &name[2..]
            ),
        );
    }
    sandbox
}

/// Wait until something is so.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(50), "{what}: never");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The process of this id must end, if it has not yet; one that nobody waits for any more counts.
#[track_caller]
pub fn ends(pid: &str) {
    until(&format!("process {pid} ends"), || {
        let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        state.is_empty() || state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
    });
}

/// git-shadow over the fleet, not waited for.
fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-shadow"), sandbox.root());
    command.args(args).args(["--under", "p"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// What must be true after an interrupted run, and after the one that follows.
#[track_caller]
fn whole_then_finished(sandbox: &Sandbox, before: &Inventory, context: &str) {
    assert_eq!(before.lost(sandbox), [""; 0], "{context}");
    for repo in REPOSITORIES {
        sandbox.git(repo, ["fsck", "--strict"]);
    }
    let run = sandbox.shadow("", ["prune-sessions", "--yes", "--json", "--under", "p"]).exits(0);
    assert_eq!(before.lost(sandbox), [""; 0], "{context}, run again: {run:#?}");
    for repo in REPOSITORIES {
        let refs = sandbox.git(repo, ["for-each-ref", "--format=%(refname)", "refs/heads"]);
        assert_eq!(refs, "refs/heads/main", "{context}: {repo}: {run:#?}");
        assert_eq!(sandbox.git(repo, ["worktree", "list"]).lines().count(), 1, "{context}: {repo}");
    }
    assert_eq!(
        sandbox.sh("p", "find . -name '*.lock' -o -name '.*.shadow-*' -not -path '*/.git/shadow/*'"),
        "",
        "{context}"
    );
    let left = fs::read_dir(sandbox.path("p/wt")).unwrap().count();
    assert_eq!(left, 0, "{context}");
}

fn interrupted_by(signal: &str, number: i32, names: [&str; 4]) {
    for (n, name) in names.into_iter().enumerate() {
        assert!(NAMES.contains(&name));
        let mut sandbox = fleet();
        let before = Inventory::of(&sandbox, &REPOSITORIES);
        // In the first repository or in the second, and not before the signal has done its work.
        let passes = n % 2;
        let mark = sandbox.path("passed");
        sandbox.set(
            "GIT_SHADOW_FAILPOINT",
            format!(
                "{name}=run:echo >> {0}; [ $(wc -l < {0}) -gt {passes} ] || exit 0; kill -{signal} $PPID; \
                 while kill -0 $PPID; do sleep 0.01; done 2>/dev/null",
                mark.display()
            ),
        );
        let ended = start(&sandbox, &["prune-sessions", "--yes"]).wait().unwrap();
        sandbox.unset("GIT_SHADOW_FAILPOINT");
        assert_eq!(ended.signal(), Some(number), "{name}: {ended}; the failpoint was not reached?");
        whole_then_finished(&sandbox, &before, &format!("{signal} at {name}, pass {passes}"));
    }
}

#[test]
fn by_ctrl_c() {
    interrupted_by("INT", 2, ["gate", "marker", "unlinked", "released"]);
}

#[test]
fn by_kill() {
    interrupted_by("TERM", 15, ["saved", "renamed", "registration", "deleted"]);
}

/// A git that hangs when it is asked this, and tells where it is.
fn hanging_git(sandbox: &mut Sandbox, word: &str) {
    let real = sandbox.sh("", "command -v git");
    let mark = sandbox.path("hangs");
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' {word} '*)\n echo \"$$ $GIT_DIR\" > {0}.new; mv {0}.new {0}; exec sleep 600;;\nesac\nexec {real} \"$@\"\n",
        mark.display()
    );
    sandbox.write("bin/git", script);
    sandbox.sh("", "chmod +x bin/git");
    let path = std::env::var("PATH").unwrap();
    sandbox.set("PATH", format!("{}:{path}", sandbox.path("bin").display()));
}

/// What runs under this process.
fn kill(child: &Child, signal: &str) {
    let done = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_list_leaves_no_child_and_no_folder() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let mut sandbox = fleet();
        // A merge that only git can tell: what was renamed on both sides.
        sandbox.sh(
            "p/one",
            "seq 40 > s; git add s; git commit -qm s; git switch -qc aos/m; git mv s t; sed -i 30s/30/x/ t; git commit -qam m
            git switch -q main; sed -i 1s/1/y/ s; git commit -qam y; git mv s t; sed -i 30s/30/x/ t; git commit -qam 'm (#2)'",
        );
        let image = sandbox.image();
        hanging_git(&mut sandbox, "merge-tree");
        let mut child = start(&sandbox, &["list"]);
        let mark = sandbox.path("hangs");
        until("git merge-tree is asked", || mark.exists());
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        let told = fs::read_to_string(&mark).unwrap();
        let (pid, place) = told.trim().split_once(' ').unwrap();
        ends(pid);
        assert!(place.contains("git-shadow-merge-") && !Path::new(place).exists(), "{place}");
        let made = ["\"bin", "\"hangs"];
        let changes = image.changes(&sandbox.image());
        assert!(changes.iter().all(|c| made.iter().any(|name| c.contains(name))), "{changes:?}");
    }
}

#[test]
fn a_fetch_leaves_no_child_and_the_next_run_finishes() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut sandbox = fleet();
        let mark = sandbox.path("hangs");
        sandbox.write(
            "hang.sh",
            format!("#!/bin/sh\necho $$ > {0}.new; mv {0}.new {0}; exec sleep 600\n", mark.display()),
        );
        sandbox.sh("", "chmod +x hang.sh; git clone -q --bare p/two o.git");
        sandbox.sh(
            "p/two",
            "git remote add origin ../../o.git; git push -qu origin main; git remote set-head origin main",
        );
        let url = format!("ext::{}", sandbox.path("hang.sh").display());
        sandbox.git("p/two", ["remote", "set-url", "origin", &url]);
        sandbox.set("GIT_ALLOW_PROTOCOL", "ext:file");
        let before = Inventory::of(&sandbox, &REPOSITORIES);
        let image = sandbox.image();
        let mut child = start(&sandbox, &["prune-sessions", "--yes", "--fetch"]);
        until("the remote is asked", || mark.exists());
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        ends(&fs::read_to_string(&mark).unwrap());
        let changes = image.changes(&sandbox.image());
        assert!(
            changes.iter().all(|c| c.contains("\"hangs")),
            "nothing is released before all are fetched: {changes:?}"
        );
        whole_then_finished(&sandbox, &before, signal);
    }
}

/// Who started it may want a signal to be ignored, and its children ignore it then as well.
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let mut sandbox = fleet();
    sandbox.set("GIT_SHADOW_FAILPOINT", "renamed=run:kill -HUP $PPID");
    let binary = env!("CARGO_BIN_EXE_git-shadow");
    sandbox.sh("", &format!("nohup {binary} prune-sessions --yes --under p > said 2>&1"));
    assert!(fs::read_to_string(sandbox.path("said")).unwrap().contains("released 6"));
}
