//! Sessions: their own leases, what they say when they are done, and the folder around their worktrees.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fs_err as fs;
use serde_json::json;

use crate::harness::{Sandbox, codes};
use crate::process::sleeping;

fn lease_file(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.repo().join(".git/shadow/leases").join(format!("{id}.json"))
}

#[test]
fn a_lease_holds_while_its_process_runs_and_a_finished_one_waits_for_no_grace() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.age("a", 1);
    assert_eq!(sandbox.holds("aos/a"), ["grace"], "no work of its own, an hour old");
    let running = sleeping(Path::new("/"));
    let pid = running.0.id().to_string();
    let said = sandbox.shadow("a", ["lease", "--pid", &pid, "--harness", "claude"]).exits(0);
    assert!(said.stdout.contains(&format!("leased 'a' to process {pid}")), "{}", said.stdout);
    assert_eq!(sandbox.holds("aos/a")[0], "live");
    let said = sandbox.shadow("a", ["finish"]).exits(0);
    assert!(said.stdout.contains(&format!("kept while process {pid} runs")), "{}", said.stdout);
    let held = codes(&sandbox.prune().shadow("aos/a"));
    assert_eq!(held, ["live"], "a process that runs is never torn down");
    drop(running);
    assert_eq!(sandbox.holds("aos/a"), Vec::<String>::new(), "finished, and over: no grace");
    sandbox.prune().exits(0);
    sandbox.assert_released("a");
}

#[test]
fn one_that_died_unfinished_waits_for_its_grace() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.age("a", 48);
    let running = sleeping(Path::new("/"));
    sandbox.shadow("a", ["lease", "--pid", &running.0.id().to_string()]).exits(0);
    drop(running);
    assert_eq!(sandbox.holds("aos/a"), ["grace"]);
    sandbox.shadow("r", ["finish", "aos/a"]).exits(0);
    assert_eq!(sandbox.holds("aos/a"), Vec::<String>::new());
}

#[test]
fn a_lease_is_taken_over_only_from_the_dead() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let (one, other) = (sleeping(Path::new("/")), sleeping(Path::new("/")));
    let lease = |pid: u32| sandbox.shadow("a", ["lease", "--pid", &pid.to_string()]);
    lease(one.0.id()).exits(0);
    lease(one.0.id()).exits(0);
    let refused = lease(other.0.id()).exits(1);
    assert!(refused.stderr.contains("'a' is under a lease: process"), "{}", refused.stderr);
    drop(one);
    lease(other.0.id()).exits(0);
}

#[test]
fn the_process_is_the_nearest_that_is_no_shell() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let script = format!("exec 3>&1; sh -c '{} lease'; true", env!("CARGO_BIN_EXE_git-shadow"));
    let said = sandbox.sh("a", &script);
    assert!(said.contains("leased 'a' to process "), "{said}");
    assert!(!said.contains("(sh)") && !said.contains("(bash)"), "{said}");
    sandbox.shadow("a", ["lease", "--pid", "0"]).exits(128);
    sandbox.shadow("a", ["lease", "--pid", "999999999"]).exits(128);
    let outside = sandbox.shadow("r", ["lease"]).exits(128);
    assert!(outside.stderr.contains("is in no linked worktree"), "{}", outside.stderr);
}

#[test]
fn a_lease_of_another_boot_is_over_and_one_of_another_machine_is_not() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.age("a", 100);
    sandbox.shadow("a", ["lease", "--pid", &std::process::id().to_string()]).exits(0);
    let file = lease_file(&sandbox, "a");
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let with = |field: &str, value: serde_json::Value| {
        let mut changed = written.clone();
        changed["acquired"] = json!("2020-01-01T00:00:00Z");
        changed[field] = value;
        // Where the worktree is younger than the lease it is not named; so is its registration then.
        fs::write(&file, changed.to_string()).unwrap();
        sandbox.holds("aos/a")
    };
    assert_eq!(with("user", json!(0)), ["live"]);
    assert_eq!(with("boot", json!("another")), Vec::<String>::new());
    assert_eq!(with("host", json!("another")), ["live"]);
    assert_eq!(with("pid_namespace", json!("pid:[1]")), ["live"]);
    let start = written["start"].as_u64().unwrap() + 1;
    assert_eq!(with("start", json!(start)), Vec::<String>::new(), "the same pid, another process");
    assert_eq!(with("format", json!("git-shadow.lease.v9")), ["live"], "what is not understood holds");
    fs::write(&file, "{").unwrap();
    assert_eq!(sandbox.holds("aos/a").len(), 1);
}

/// A session `ab45` with one landed worktree, ended days ago.
struct Session {
    sandbox: Sandbox,
    root: PathBuf,
}

impl Session {
    fn new() -> Session {
        let mut sandbox = Sandbox::mk();
        let root = sandbox.path("sessions/ab45");
        sandbox.set("AOS_NATIVE_STATE_DIR", sandbox.path("state").to_str().unwrap());
        sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("sessions").to_str().unwrap());
        let worktree = root.join("projects/o/r");
        fs::create_dir_all(worktree.parent().unwrap()).unwrap();
        sandbox.git("r", ["worktree", "add", "-qb", "aos/a", worktree.to_str().unwrap()]);
        sandbox.write("sessions/ab45/projects/o/r/w", "w");
        sandbox.commit(&worktree, "w");
        sandbox.git("r", ["merge", "-q", "--ff-only", "aos/a"]);
        sandbox.age_log(&sandbox.repo().join(".git/logs/refs/heads/aos/a"), 100);
        sandbox.age_log(&sandbox.repo().join(".git/worktrees/r/logs/HEAD"), 100);
        sandbox.sh("r", "touch -d '5 days ago' .git/worktrees/r/commondir");
        std::os::unix::fs::symlink("/etc/hostname", root.join("link")).unwrap();
        fs::create_dir_all(root.join("home/.cache")).unwrap();
        let session = Session { sandbox, root };
        session.lease(session.root.to_str().unwrap(), "2020-01-01T00:00:00Z");
        session
    }

    fn lease(&self, root: &str, dead_since: &str) {
        let artifact =
            json!({"repository": self.sandbox.repo(), "worktree": self.root.join("projects/o/r"), "branch": "aos/a"});
        let lease = json!({"format": "agentic-os.native-lease.v1", "id": "ab45", "pid": 0, "dead_since": dead_since,
                           "session_root": root, "artifacts": [artifact]});
        self.sandbox.write("state/leases/ab45.json", lease.to_string());
    }

    /// The codes that hold the session's folder; `None`: it is not mentioned.
    fn root_holds(&self, args: &[&str]) -> Option<Vec<String>> {
        let report = self.sandbox.json(args).json();
        let root = report["session_roots"].as_array().unwrap().first()?.clone();
        Some(codes(&root))
    }
}

#[test]
fn the_folder_goes_with_the_last_of_its_worktrees_and_comes_back() {
    let session = Session::new();
    let before =
        session.sandbox.sh(&session.root, "find . -not -path './projects/o/r*' -printf '%p %y %m %l\\n' | sort");
    assert_eq!(session.root_holds(&["prune-sessions", "-n"]), Some(Vec::new()));
    assert!(session.root.exists(), "a dry run deletes nothing");
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(Vec::new()));
    assert!(!session.root.exists());
    assert!(session.root.parent().unwrap().exists());
    assert!(session.sandbox.path("state/leases/ab45.json").exists(), "a foreign lease is never touched");
    assert!(Path::new("/etc/hostname").exists());
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), None, "a vanished folder is no error");
    session.sandbox.shadow("r", ["undo"]).exits(0);
    let after =
        session.sandbox.sh(&session.root, "find . -not -path './projects/o/r*' -printf '%p %y %m %l\\n' | sort");
    assert_eq!(after, before);
    assert!(session.root.join("projects/o/r/w").exists());
}

#[test]
fn anything_else_in_it_holds_and_is_named() {
    let session = Session::new();
    session.sandbox.write("sessions/ab45/home/.claude.json", "{}");
    let report = session.sandbox.json(&["prune-sessions", "--yes"]).json();
    let root = &report["session_roots"][0];
    assert_eq!(codes(root), ["untracked"]);
    assert!(root["holds"][0]["message"].as_str().unwrap().contains("home/.claude.json"), "{root}");
    assert!(session.root.join("link").exists());
    session.sandbox.assert_released("a");
}

#[test]
fn a_worktree_that_stays_keeps_it_and_so_does_a_process() {
    let session = Session::new();
    session.sandbox.write("sessions/ab45/projects/o/r/new", "x");
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["nested-worktree".into()]));
    fs::remove_file(session.root.join("projects/o/r/new")).unwrap();
    let _inside = sleeping(&session.root.join("home"));
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["in-use".into()]));
    assert!(session.root.join("home").exists());
}

#[test]
fn one_that_died_lately_waits() {
    let session = Session::new();
    let lately = git_shadow::model::Timestamp::now().to_string();
    session.lease(session.root.to_str().unwrap(), &lately);
    fs::remove_dir_all(session.root.join("projects/o/r")).unwrap();
    assert_eq!(session.root_holds(&["list"]), Some(vec!["grace".into(), "nested-worktree".into()]));
}

/// Whatever a lease says, nothing outside the folder of sessions is looked into, let alone deleted.
#[test]
fn a_root_that_is_not_where_sessions_are_is_left_alone() {
    let session = Session::new();
    let sandbox = &session.sandbox;
    sandbox.prune();
    fs::create_dir_all(sandbox.path("elsewhere/ab45/empty")).unwrap();
    fs::create_dir_all(sandbox.path("sessions/zz99/ab45/empty")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("elsewhere"), sandbox.path("linked")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("elsewhere/ab45"), sandbox.path("sessions/ab45")).unwrap();
    let at = |path: &str| sandbox.path(path).to_str().unwrap().to_owned();
    for root in [
        "/".to_owned(),
        at("sessions"),
        at("sessions/../elsewhere/ab45"),
        at("elsewhere/ab45"),
        at("linked/ab45"),
        at("sessions/zz99/ab45"),
        at("sessions/ab45"),
        "relative/ab45".to_owned(),
    ] {
        session.lease(&root, "2020-01-01T00:00:00Z");
        let held = session.root_holds(&["prune-sessions", "--yes"]).unwrap_or_else(|| vec!["not there".into()]);
        assert_ne!(held, Vec::<String>::new(), "{root}");
    }
    assert!(sandbox.path("elsewhere/ab45/empty").exists());
    assert!(sandbox.path("sessions/zz99/ab45/empty").exists());
    fs::remove_file(sandbox.path("sessions/ab45")).unwrap();
    fs::create_dir_all(sandbox.path("sessions/ab45/empty")).unwrap();
    session.lease(&at("sessions/ab45"), "2020-01-01T00:00:00Z");
    sandbox.sh("sessions", "chmod 777 .");
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["identity".into()]), "others can write it");
    sandbox.sh("sessions", "chmod 755 .");
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(Vec::new()));
    assert!(!sandbox.path("sessions/ab45").exists());
}

/// Leases that can never go do not starve those behind them: each run looks at a few, the next one goes on.
#[test]
fn seventy_leases_that_stay_and_one_behind_them_that_goes() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.shadow("a", ["lease", "--pid", &std::process::id().to_string()]).exits(0);
    let lease = fs::read_to_string(lease_file(&sandbox, "a")).unwrap();
    let mut over: serde_json::Value = serde_json::from_str(&lease).unwrap();
    over["acquired"] = json!("2020-01-01T00:00:00Z");
    for n in 0..70 {
        // Its process runs.
        over["id"] = json!(format!("m{n:02}"));
        fs::write(lease_file(&sandbox, &format!("m{n:02}")), over.to_string()).unwrap();
    }
    (over["id"], over["pid"]) = (json!("z"), json!(0));
    fs::write(lease_file(&sandbox, "z"), over.to_string()).unwrap();
    fs::write(sandbox.repo().join(".git/shadow/turns"), "{").unwrap();
    let runs = (1..=3).find(|_| {
        sandbox.prune().exits(0);
        !lease_file(&sandbox, "z").exists()
    });
    assert_eq!(runs, Some(2));
    assert!(lease_file(&sandbox, "m00").exists() && lease_file(&sandbox, "m69").exists());
    assert!(lease_file(&sandbox, "a").exists(), "its worktree is there");
}

/// What is over goes, and what another session may still need stays.
#[test]
fn a_lease_goes_with_its_process_and_its_registration() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.shadow("a", ["finish"]).exits(0);
    let lease = fs::read_to_string(lease_file(&sandbox, "a")).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(&lease).unwrap();
    (old["acquired"], old["finished"]) = (json!("2020-01-01T00:00:00Z"), json!("2020-01-01T00:00:00Z"));
    for (id, keep) in [("gone", false), ("a", true)] {
        old["id"] = json!(id);
        fs::write(lease_file(&sandbox, id), old.to_string()).unwrap();
        let held = sandbox.shadow("r", ["release", "aos/none"]);
        assert_eq!(held.status, 128, "a name that means nothing sweeps nothing");
        assert!(lease_file(&sandbox, id).exists());
        sandbox.sh("a", "git switch -q --detach; echo x >new");
        sandbox.prune().exits(0);
        assert_eq!(lease_file(&sandbox, id).exists(), keep, "{id}");
    }
}

/// Plays a harness: fires the hooks that README proposes, in the session's worktree, and lives on between them.
const HARNESS: &str = r#"
import json, subprocess, sys
hooks = json.loads(sys.argv[1])["hooks"]
def fire(event):
    for group in hooks[event]:
        for hook in group["hooks"]:
            subprocess.run(["sh", "-c", hook["command"]], check=True, stdout=subprocess.DEVNULL)
    print(event, flush=True)
    sys.stdin.readline()
fire("SessionStart")
fire("SessionEnd")
"#;

#[test]
fn the_hooks_that_readme_proposes_keep_a_session_while_it_lives() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let hooks = readme.split("```json\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let binaries = Path::new(env!("CARGO_BIN_EXE_git-shadow")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut command = sandbox.command("python3", &sandbox.path("a"));
    command.args(["-c", HARNESS, &hooks]).env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut harness = command.spawn().unwrap();
    let mut says = BufReader::new(harness.stdout.take().unwrap());
    let mut go_on = harness.stdin.take().unwrap();
    let mut next = || {
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    assert_eq!(next(), "SessionStart");
    let lease: serde_json::Value = serde_json::from_slice(&fs::read(lease_file(&sandbox, "a")).unwrap()).unwrap();
    assert_eq!((lease["pid"].as_u64(), &lease["harness"]), (Some(harness.id().into()), &json!("claude")));
    let _ = sandbox.ci("a");
    sandbox.git("r", ["merge", "-q", "--ff-only", "aos/a"]);
    assert_eq!(sandbox.holds("aos/a")[0], "live");
    writeln!(go_on).unwrap();
    assert_eq!(next(), "SessionEnd");
    assert_eq!(sandbox.holds("aos/a")[0], "live", "it is done, but still there");
    drop(go_on);
    assert!(harness.wait().unwrap().success());
    sandbox.prune().exits(0);
    sandbox.assert_released("a");
}

#[test]
fn the_wrapper_that_readme_proposes_works_for_any_command() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let wrapper = readme.lines().find(|line| line.contains("git shadow lease --pid $$")).unwrap();
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.age("a", 1);
    let binaries = Path::new(env!("CARGO_BIN_EXE_git-shadow")).parent().unwrap();
    let list = format!("{} -C ../r list --json", env!("CARGO_BIN_EXE_git-shadow"));
    let script = format!("PATH=\"{}:$PATH\"\nsession() {{ {list} >../during; }}\n{wrapper}", binaries.display());
    let said = sandbox.sh("a", &script);
    assert!(said.contains("leased 'a'") && said.contains("finished 'a'"), "{said}");
    let during: serde_json::Value = serde_json::from_slice(&fs::read(sandbox.path("during")).unwrap()).unwrap();
    let shadow = &during["repositories"][0]["shadows"][0];
    assert!(codes(shadow).contains(&"live".to_owned()), "{shadow:#}");
    assert_eq!(sandbox.holds("aos/a"), Vec::<String>::new(), "over, and finished");
}

/// However many leases name a folder, one that may be live keeps it, and so does one that cannot be understood.
#[test]
fn every_lease_that_names_the_folder_counts() {
    let session = Session::new();
    session.sandbox.prune();
    fs::create_dir_all(session.root.join("empty")).unwrap();
    let other = |format: &str, pid: u32| {
        let lease =
            json!({"format": format, "id": "ab45", "pid": pid, "session_root": session.root, "artifacts": null});
        session.sandbox.write("state/leases/zz99.json", lease.to_string());
    };
    other("agentic-os.native-lease.v1", std::process::id());
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["live".into()]));
    other("agentic-os.native-lease.v9", 0);
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["unverified".into()]));
    other("agentic-os.native-lease.v1", 0);
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(Vec::new()));
    assert!(!session.root.exists());
}

/// A run that took only a folder can be taken back by its own hint; what took its place is neither written through nor
/// replaced, and the modes are what they were.
#[test]
fn undo_of_a_folder_alone_replaces_nothing_and_writes_through_no_link() {
    let session = Session::new();
    let sandbox = &session.sandbox;
    sandbox.prune();
    sandbox.sh("sessions", "mkdir -p ab45/a/b ab45/shared; chmod 1777 ab45/shared; chmod 555 ab45/a");
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(Vec::new()));
    fs::create_dir_all(sandbox.path("else")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("else"), &session.root).unwrap();
    let missed = sandbox.shadow("r", ["undo"]).exits(1);
    assert!(missed.stdout.contains("not restored: session folder"), "{}", missed.stdout);
    assert_eq!(fs::read_dir(sandbox.path("else")).unwrap().count(), 0, "nothing is written through the link");
    fs::remove_file(&session.root).unwrap();
    sandbox.shadow("r", ["undo"]).exits(0);
    assert_eq!(sandbox.sh("sessions", "stat -c %a ab45/a ab45/a/b ab45/shared"), "555\n755\n1777");
}

#[test]
fn two_leases_at_once_are_not_both_taken() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let script = format!(
        "sleep 60 >/dev/null & p=$!; sleep 60 >/dev/null & q=$!; a=0; b=0
         {0} lease --pid $p >one 2>&1 & one=$!; {0} lease --pid $q >two 2>&1 & two=$!
         wait $one || a=$?; wait $two || b=$?; kill $p $q; echo $((a + b))",
        env!("CARGO_BIN_EXE_git-shadow")
    );
    assert_eq!(sandbox.sh("a", &script), "1", "one is refused");
}

/// A lease that an earlier worktree left under the same id says nothing of the one that is there now.
#[test]
fn a_worktree_made_anew_under_the_same_id_has_no_lease() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    let running = sleeping(Path::new("/"));
    sandbox.shadow("a", ["lease", "--pid", &running.0.id().to_string()]).exits(0);
    let file = lease_file(&sandbox, "a");
    let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    old["acquired"] = json!("2020-01-01T00:00:00Z");
    fs::write(&file, old.to_string()).unwrap();
    let other = sleeping(Path::new("/"));
    sandbox.shadow("a", ["lease", "--pid", &other.0.id().to_string()]).exits(0);
    let new: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(new["pid"].as_u64(), Some(other.0.id().into()));
}

#[test]
fn a_pipe_where_a_lease_should_be_does_not_hang() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.age("a", 48);
    sandbox.sh("r", "mkdir -p .git/shadow/leases; mkfifo .git/shadow/leases/zz.json");
    let _ = sandbox.prune();
    assert!(lease_file(&sandbox, "zz").exists());
}

/// A mount that only another mount namespace sees is a use of the worktree all the same.
#[test]
fn a_mount_in_another_namespace_holds() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    sandbox.age("a", 48);
    fs::create_dir(sandbox.path("a/m")).unwrap();
    let script = format!(
        "mount -t tmpfs none {} && echo only >{0}/m/only && echo ready && exec sleep 600",
        sandbox.path("a/m").display()
    );
    let script = script.replace("/m/m/only", "/m/only");
    let mut command = sandbox.command("unshare", Path::new("/"));
    let spawned =
        command.args(["-m", "sh", "-c", &script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut running = crate::process::Running(spawned);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line != "ready\n" {
        return crate::harness::skip("a mount in another namespace", "mounting is not allowed here");
    }
    assert_eq!(sandbox.holds("aos/a"), ["in-use"]);
    let _ = sandbox.prune();
    sandbox.assert_kept("a");
}

#[test]
fn the_folder_waits_for_what_other_repositories_have_in_it() {
    let session = Session::new();
    let sandbox = &session.sandbox;
    sandbox.sh("", "git init -q -b main s; git -C s commit -q --allow-empty -m base");
    let other = session.root.join("projects/o/s");
    sandbox.git("s", ["worktree", "add", "-qb", "aos/a", other.to_str().unwrap()]);
    let artifact = |repository: &str, at: &Path| json!({"repository": sandbox.path(repository), "worktree": at, "branch": "aos/a"});
    let lease = json!({"format": "agentic-os.native-lease.v1", "id": "ab45", "pid": 0, "dead_since": "2020-01-01T00:00:00Z",
                       "session_root": session.root, "artifacts": [artifact("r", &session.root.join("projects/o/r")), artifact("s", &other)]});
    sandbox.write("state/leases/ab45.json", lease.to_string());
    fs::remove_dir_all(&other).unwrap();
    assert_eq!(session.root_holds(&["prune-sessions", "--yes"]), Some(vec!["nested-worktree".into()]));
    let purged = |dir: &str| sandbox.shadow(dir, ["list", "--json"]).shadow("aos/a")["worktree"]["state"].clone();
    assert_eq!(purged("s"), "purged", "what shows that it is gone for good is there");
    sandbox.age_log(&sandbox.path("s/.git/logs/refs/heads/aos/a"), 100);
    sandbox.age_log(&sandbox.path("s/.git/worktrees/s/logs/HEAD"), 100);
    sandbox.sh("s", "touch -d '5 days ago' .git/worktrees/s/commondir");
    let run = sandbox.shadow("s", ["prune-sessions", "--yes", "--json"]).exits(0).json();
    assert_eq!(run["session_roots"][0]["verdict"], "release", "{run:#}");
    assert!(!session.root.exists());
    // Each undo is about its own repository.
    sandbox.shadow("r", ["undo"]).exits(0);
    assert!(sandbox.git_ok("r", ["rev-parse", "-q", "--verify", "aos/a"]) && !session.root.join("home").exists());
    sandbox.shadow("s", ["undo"]).exits(0);
    assert!(session.root.join("home/.cache").exists());
}
