//! Leases and locks that name a process: who is alive, who is provably dead, and what a lease names.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use git_shadow::lease::{Leases, lock_reason};
use git_shadow::model::{Fact, Lease, LeaseState, LockKind, Timestamp};
use git_shadow::sys::vantage;
use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::other_user::{NOBODY, root_or_skip, run_through, subject};
use crate::process::{Running, sleeping};

const LONG_AGO: &str = "Sat Jun 19 21:37:40 2021";

/// A worktree `wt` on `aos/x/ab45` of the repository `r`, and an empty folder of leases.
struct Scene {
    sandbox: Sandbox,
    worktree: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let sandbox = Sandbox::empty();
        for name in ["r/f", "wt/f", "leases/readme"] {
            sandbox.write(name, "");
        }
        let worktree = sandbox.path("wt");
        Scene { sandbox, worktree }
    }

    /// A lease `ab45` of the worktree, with these fields beside.
    fn lease(&self, fields: Value) {
        self.named("ab45", self.worktree.to_str().unwrap(), fields);
    }

    fn named(&self, id: &str, worktree: &str, fields: Value) {
        let artifact = json!({"repository": self.sandbox.path("r"), "worktree": worktree, "branch": "aos/x/ab45"});
        let mut lease = json!({"format": "agentic-os.native-lease.v1", "id": id, "artifacts": [artifact]});
        lease.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.sandbox.write(format!("leases/{id}.json"), lease.to_string());
    }

    fn ask(&self, worktree: Option<&Path>, branch: Option<&str>, created: Option<&str>) -> Fact<Option<Lease>> {
        let created = created.map(|time| time.parse::<Timestamp>().unwrap());
        let leases = Leases::read_from(&self.sandbox.path("leases"));
        leases.naming(&self.sandbox.path("r"), worktree, branch.map(Into::into), created)
    }

    /// The state of the lease that names the worktree on its branch.
    fn state(&self) -> LeaseState {
        match self.ask(Some(&self.worktree), Some("refs/heads/aos/x/ab45"), None) {
            Fact::Known(Some(lease)) => lease.state,
            other => panic!("{other:?}"),
        }
    }

    fn claims(&self, branch: &str, created: &str) -> bool {
        let leases = Leases::read_from(&self.sandbox.path("leases"));
        leases.claims(&self.sandbox.path("r"), &self.worktree, Some(branch.into()), Some(created.parse().unwrap()))
    }
}

/// The id of a process that has ended.
fn gone() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

fn lstart(pid: u32, zone: &str) -> String {
    let output = Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).env("TZ", zone).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn is_live(state: &LeaseState) -> bool {
    matches!(state, LeaseState::Live(_))
}

/// Ids here are the host's, which they are not in a container.
fn host_or_skip() -> bool {
    let other = vantage::other_pid_namespace();
    if let Some(why) = &other {
        eprintln!("skipped: {why}");
    }
    other.is_none()
}

#[test]
fn a_process_that_runs_and_one_that_is_gone() {
    if !host_or_skip() {
        return;
    }
    let scene = Scene::new();
    let running = sleeping(Path::new("/"));
    let pid = running.0.id();
    for zone in ["UTC", "Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns", "Etc/GMT+12"] {
        scene.lease(json!({"pid": pid, "process_start": lstart(pid, zone)}));
        assert_eq!(scene.state(), LeaseState::Live(format!("process {pid} runs")), "{zone}");
    }
    for start in ["", "whenever", "21:37", LONG_AGO] {
        scene.lease(json!({"pid": pid, "process_start": start}));
        assert_eq!(is_live(&scene.state()), start != LONG_AGO, "only a start that is provably another: {start}");
    }
    scene.lease(json!({"pid": pid, "process_start": lstart(pid, "UTC")}));
    drop(running);
    assert_eq!(scene.state(), LeaseState::Dead);
    scene.lease(json!({"pid": gone()}));
    assert_eq!(scene.state(), LeaseState::Dead);
}

#[test]
fn a_process_of_another_user_is_alive() {
    if !root_or_skip("another user") || !host_or_skip() {
        return;
    }
    let scene = Scene::new();
    let running: Running = sleeping(Path::new("/"));
    scene.lease(json!({"pid": running.0.id(), "process_start": lstart(running.0.id(), "UTC")}));
    fs::set_permissions(scene.sandbox.root(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let wrapper = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    run_through(&scene.sandbox, &wrapper, "lease::all_are_live", scene.sandbox.root());
}

#[test]
fn in_a_container_nobody_is_dead() {
    if !root_or_skip("containers") {
        return;
    }
    let scene = Scene::new();
    scene.lease(json!({"pid": gone()}));
    let wrapper = ["unshare", "--pid", "--fork", "--mount-proc"];
    run_through(&scene.sandbox, &wrapper, "lease::all_are_live", scene.sandbox.root());
}

#[test]
#[ignore = "part of another test"]
fn all_are_live() {
    let leases = Leases::read_from(&subject().join("leases"));
    assert!(leases.all().count() == 1 && leases.all().all(Lease::is_live), "{leases:?}");
    let reason = format!("claude agent x (pid {})", leases.all().next().unwrap().pid.unwrap());
    let lock = lock_reason::judge(reason.as_str().into(), &[&subject()]);
    assert!(matches!(lock, LockKind::Process { stale: false, .. }), "{lock:?}");
}

#[test]
fn on_a_file_system_that_may_be_shared_nobody_is_dead() {
    if !host_or_skip() {
        return;
    }
    let scene = Scene::new();
    scene.named("ab45", "/sys/kernel/gone", json!({"pid": gone()}));
    let Fact::Known(Some(lease)) = scene.ask(Some(Path::new("/sys/kernel/gone")), Some("aos/x/ab45"), None) else {
        panic!("not named");
    };
    assert!(matches!(&lease.state, LeaseState::Live(why) if why.contains("shared file system")), "{lease:?}");
}

#[test]
fn a_released_session_is_finished_even_while_its_process_runs() {
    let scene = Scene::new();
    scene.lease(json!({"pid": std::process::id(), "released": "2026-01-02T03:04:05Z"}));
    assert_eq!(scene.state(), LeaseState::Released);
}

#[test]
fn a_dead_lease_names_what_fits_in_everything() {
    let scene = Scene::new();
    scene.lease(json!({"pid": 0, "dead_since": "2026-01-10T00:00:00Z"}));
    let named = |worktree: Option<&Path>, branch: Option<&str>, created: Option<&str>| {
        matches!(scene.ask(worktree, branch, created), Fact::Known(Some(_)))
    };
    let (here, before, after) =
        (Some(scene.worktree.as_path()), Some("2026-01-09T00:00:00Z"), Some("2026-01-11T00:00:00Z"));
    let elsewhere = scene.sandbox.path("elsewhere");
    assert!(named(here, Some("aos/x/ab45"), before));
    assert!(named(here, Some("aos/x/ab45"), None));
    assert!(!named(here, Some("aos/x/ab45"), after), "made after the session had ended");
    assert!(!named(here, Some("main"), before), "not on its branch");
    assert!(!named(here, None, before), "detached");
    assert!(!named(Some(&elsewhere), Some("aos/x/ab45"), before));
    assert!(named(None, Some("refs/heads/aos/x/ab45"), None), "a branch without a worktree");
    let other = Leases::read_from(&scene.sandbox.path("leases")).naming(
        &scene.sandbox.path("another"),
        None,
        Some("aos/x/ab45".into()),
        None,
    );
    assert_eq!(other, Fact::Known(None), "of another repository");
    assert!(scene.claims("aos/x/ab45", "2026-01-09T00:00:00Z"));
    assert!(!scene.claims("aos/x/ab45", "2026-01-11T00:00:00Z"));
    assert!(!scene.claims("main", "2026-01-09T00:00:00Z"));
}

#[test]
fn a_live_lease_holds_its_worktree_on_any_branch_and_its_branch_anywhere() {
    let scene = Scene::new();
    scene.lease(json!({"pid": 1}));
    for (worktree, branch) in [(Some("wt"), Some("feature")), (Some("wt"), None), (Some("moved"), Some("aos/x/ab45"))] {
        let path = worktree.map(|name| scene.sandbox.path(name));
        let named = scene.ask(path.as_deref(), branch, Some("2035-01-01T00:00:00Z"));
        assert!(named.known().is_some_and(Option::is_some), "{worktree:?} {branch:?} {named:?}");
    }
    assert_eq!(scene.ask(Some(&scene.sandbox.path("moved")), Some("feature"), None), Fact::Known(None));
    assert!(!scene.claims("feature", "2026-01-01T00:00:00Z"), "but what is not on its branch is not its shadow");
}

#[test]
fn the_live_one_of_several_counts() {
    let scene = Scene::new();
    scene.lease(json!({"pid": 0}));
    scene.named("aa00", scene.worktree.to_str().unwrap(), json!({"released": true}));
    assert_eq!(scene.state(), LeaseState::Dead, "not finished as long as one has not said so");
    scene.named("zz99", scene.worktree.to_str().unwrap(), json!({"pid": 1}));
    assert!(is_live(&scene.state()));
}

#[test]
fn paths_are_resolved_also_when_they_are_gone() {
    let scene = Scene::new();
    fs::os::unix::fs::symlink(scene.sandbox.root(), scene.sandbox.path("link")).unwrap();
    scene.named("ab45", scene.sandbox.path("link/wt").to_str().unwrap(), json!({"pid": 0}));
    assert_eq!(scene.state(), LeaseState::Dead);
    fs::remove_dir_all(&scene.worktree).unwrap();
    assert_eq!(scene.state(), LeaseState::Dead);
}

#[test]
fn what_cannot_be_understood_holds_what_it_may_name() {
    let scene = Scene::new();
    let worktree = scene.worktree.to_str().unwrap();
    let (this, other) = (Some("aos/x/ab45"), Some("aos/x/cd56"));
    let unnamed = scene.sandbox.path("elsewhere");
    let expect = |text: &str, live: bool, other_unknown: bool, what: &str| {
        scene.sandbox.write("leases/qq11.json", text);
        let named = scene.ask(Some(&scene.worktree), this, None);
        assert_eq!(named.known().is_some_and(|l| l.as_ref().is_some_and(Lease::is_live)), live, "{what}: {named:?}");
        let other = scene.ask(Some(&unnamed), other, None);
        assert_eq!(other, Fact::Known(None), "{what}: it is another session's");
        let loose = scene.ask(Some(&unnamed), Some("aos/loose"), None);
        assert_eq!(loose.error().is_some(), other_unknown, "{what}: {loose:?}");
    };
    expect(&json!({"format": "v9", "where": worktree}).to_string(), true, false, "a new format");
    expect(&json!({"format": "v9", "refs": ["refs/heads/aos/x/ab45"]}).to_string(), true, false, "by branch");
    expect(&json!({"format": "v9", "pid": 1}).to_string(), false, false, "names nobody");
    expect(&format!("{{\"worktree\": \"{worktree}\", \"bra"), true, true, "cut off behind a name");
    expect("", false, true, "empty");
    expect("{\"format\": \"v9\", \"where\": \"\\u002ftmp\"}", false, true, "escapes could hide a name");
    scene.sandbox.write("leases/ab45.json", "");
    let named = scene.ask(Some(&scene.worktree), this, None);
    assert!(named.error().is_some_and(|error| error.contains("ab45.json")), "called after this session: {named:?}");
}

#[test]
fn what_cannot_be_read_is_unknown_to_whom_it_may_concern() {
    let scene = Scene::new();
    fs::create_dir(scene.sandbox.path("leases/ab45.json")).unwrap();
    scene.sandbox.sh("leases", "mkfifo cd56.json");
    for (branch, unknown) in [("aos/x/ab45", true), ("aos/x/cd56", true), ("aos/x/ef67", false), ("aos/loose", true)] {
        let named = scene.ask(None, Some(branch), None);
        assert_eq!(named.error().is_some(), unknown, "{branch}: {named:?}");
    }
    let nowhere = Leases::read_from(&scene.sandbox.path("nowhere"));
    assert_eq!(nowhere.naming(&scene.sandbox.path("r"), None, Some("aos/loose".into()), None), Fact::Known(None));
    let broken = Leases::read_from(&scene.sandbox.path("r/f"));
    let named = broken.naming(&scene.sandbox.path("r"), None, Some("aos/x/ef67".into()), None);
    assert!(named.error().is_some(), "a folder that cannot be read may hold any lease: {named:?}");
}

#[test]
fn a_lock_is_stale_when_its_process_is_provably_gone() {
    if !host_or_skip() {
        return;
    }
    let scene = Scene::new();
    let running = sleeping(Path::new("/"));
    let pid = running.0.id();
    let places = [scene.worktree.as_path()];
    let stale = |reason: String, places: &[&Path]| match lock_reason::judge(reason.as_str().into(), places) {
        LockKind::Process { stale, .. } => stale,
        other => panic!("{reason}: {other:?}"),
    };
    assert!(stale(format!("claude agent x (pid {} start {LONG_AGO})", gone()), &places));
    assert!(stale(format!("claude session x (pid {})", gone()), &places));
    assert!(stale(format!("openclaw pid={}", gone()), &places));
    assert!(!stale(format!("claude session x (pid {pid})"), &places));
    assert!(!stale(format!("claude agent x (pid {pid} start {})", lstart(pid, "UTC").trim()), &places));
    assert!(stale(format!("claude agent x (pid {pid} start {LONG_AGO})"), &places), "the id was used again");
    assert!(!stale(format!("openclaw pid={}", gone()), &[Path::new("/sys/kernel")]), "perhaps on another machine");
}

#[test]
fn what_lies_in_the_folders_of_a_live_session_is_its_own() {
    let scene = Scene::new();
    let lease = |pid: i64, root: &Path| {
        let fields = json!({"pid": pid, "artifacts": null, "session_root": root});
        scene.lease(fields);
        scene.ask(Some(&scene.worktree), Some("refs/heads/aos/x/ab45"), None)
    };
    let pid = i64::from(std::process::id());
    assert!(matches!(lease(pid, scene.sandbox.root()), Fact::Known(Some(lease)) if lease.is_live()));
    assert_eq!(lease(pid, &scene.sandbox.path("r")), Fact::Known(None), "it lies elsewhere");
    assert_eq!(lease(0, scene.sandbox.root()), Fact::Known(None), "a dead one must name it");
}

#[test]
fn the_git_directory_of_a_checkout_stands_for_it() {
    let scene = Scene::new();
    let artifact = json!({"repository": scene.sandbox.path("r/.git"), "branch": "aos/x/ab45"});
    scene.lease(json!({"pid": std::process::id(), "artifacts": [artifact]}));
    assert!(is_live(&scene.state()));
}
