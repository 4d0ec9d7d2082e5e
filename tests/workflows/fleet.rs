//! Fleets of generated repositories with the truth beside them: every verdict, then a real run, then the checker.
//!
//! `GIT_SHADOW_FLEET="--repos 20 --branches 378 --worktrees 195 --files 200 --commits 200"` makes them larger.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use fs_err as fs;
use serde_json::Value;

use crate::checker::Inventory;
use crate::harness::{Run, Sandbox, Tree, codes, set_mtime};

const SMALL: &str = "--repos 4 --branches 60 --worktrees 32 --files 40 --commits 60 --sessions 12";

struct Fleet {
    sandbox: Sandbox,
    truth: Vec<Value>,
}

impl Fleet {
    fn new(seed: u32, more: &[&str]) -> Fleet {
        let mut sandbox = Sandbox::empty();
        sandbox.set("AOS_NATIVE_STATE_DIR", sandbox.path("fleet/state").to_str().unwrap());
        sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("fleet/sessions").to_str().unwrap());
        let make = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/make_fleet.py");
        let size = std::env::var("GIT_SHADOW_FLEET").unwrap_or_else(|_| SMALL.to_owned());
        let mut python = sandbox.command("python3", sandbox.root());
        python.arg(make).arg("fleet").args(size.split(' ')).args(["--seed", &seed.to_string()]).args(more);
        let made = python.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let truth = fs::read_to_string(sandbox.path("fleet/truth.json")).unwrap();
        Fleet { sandbox, truth: serde_json::from_str(&truth).unwrap() }
    }

    fn repositories(&self) -> Vec<PathBuf> {
        let mut names: Vec<_> = self.truth.iter().map(|s| s["repo"].as_str().unwrap()).collect();
        names.dedup();
        names.into_iter().map(|name| self.sandbox.path("fleet/projects").join(name)).collect()
    }

    fn run(&self, args: &[&str]) -> Run {
        self.sandbox.shadow("fleet", args.iter().chain(&["--json", "--under", "projects"]))
    }

    /// What the report says differently from the truth.
    fn errors(&self, report: &Run) -> Vec<String> {
        let mut said = BTreeMap::new();
        for repository in report.json()["repositories"].as_array().unwrap() {
            assert_eq!(repository["errors"], Value::Array(vec![]), "{repository:#}");
            for shadow in repository["shadows"].as_array().unwrap() {
                let key =
                    (repository["path"].as_str().unwrap().to_owned(), shadow["name"].as_str().unwrap().to_owned());
                said.insert(key, shadow.clone());
            }
        }
        let mut errors = Vec::new();
        for spec in &self.truth {
            let repo = self.sandbox.path("fleet/projects").join(spec["repo"].as_str().unwrap());
            let name = spec["branch"].as_str().unwrap().to_owned();
            match said.remove(&(repo.to_str().unwrap().to_owned(), name)) {
                None => errors.push(format!("not reported: {spec}")),
                Some(shadow) => errors.extend(differs(spec, &shadow)),
            }
        }
        errors.extend(said.keys().map(|key| format!("not in the truth: {key:?}")));
        errors
    }

    /// Where a shadow's worktree and registration are.
    fn worktree(&self, spec: &Value) -> Option<(PathBuf, PathBuf)> {
        let path = PathBuf::from(spec["worktree"].as_str()?);
        let admins = self.sandbox.path("fleet/projects").join(spec["repo"].as_str()?).join(".git/worktrees");
        let id = path.file_name().unwrap();
        Some((path.clone(), admins.join(id)))
    }

    /// Everything that a run must leave as it is, down to its times.
    fn bystanders(&self) -> BTreeMap<PathBuf, Tree> {
        let mut trees: Vec<PathBuf> = vec![self.sandbox.path("fleet/origins"), self.sandbox.path("fleet/state")];
        for spec in &self.truth {
            if spec["expect"]["worktree"] == "hold" {
                trees.extend(self.worktree(spec).into_iter().flat_map(|(path, admin)| [path, admin]));
            }
            if spec["expect"]["branch"] == "hold" {
                let repo = self.sandbox.path("fleet/projects").join(spec["repo"].as_str().unwrap());
                trees.push(repo.join(".git/logs/refs/heads").join(spec["branch"].as_str().unwrap()));
            }
        }
        for repo in self.repositories() {
            for entry in fs::read_dir(&repo).unwrap().map(|e| e.unwrap().path()) {
                trees.extend((!entry.ends_with(".git")).then_some(entry));
            }
            trees.extend(["HEAD", "index", "logs/HEAD"].map(|name| repo.join(".git").join(name)));
        }
        trees.into_iter().map(|path| (path.clone(), image(&path))).collect()
    }

    /// All refs but the program's own, and the configuration, a line each.
    fn refs_and_config(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for repo in self.repositories() {
            let at = repo.file_name().unwrap().to_str().unwrap();
            let refs =
                self.sandbox.git(&repo, ["for-each-ref", "--exclude=refs/shadow", "--format=%(refname) %(objectname)"]);
            let config = self.sandbox.git(&repo, ["config", "--local", "--list"]);
            lines.extend(refs.lines().chain(config.lines()).map(|line| format!("{at}: {line}")));
        }
        lines
    }

    /// The same lines without those of the branches that go.
    fn without_released(&self, lines: Vec<String>) -> Vec<String> {
        let released = self.truth.iter().filter(|s| s["expect"]["branch"] == "release");
        let starts = released.flat_map(|s| {
            let (repo, branch) = (s["repo"].as_str().unwrap(), s["branch"].as_str().unwrap());
            let repo = repo.rsplit('/').next().unwrap();
            [format!("{repo}: refs/heads/{branch} "), format!("{repo}: branch.{branch}.")]
        });
        let starts: Vec<_> = starts.collect();
        lines.into_iter().filter(|line| !starts.iter().any(|start| line.starts_with(start))).collect()
    }

    fn touch_tracked_files(&self) {
        for (path, _) in self.truth.iter().filter_map(|s| self.worktree(s)) {
            if path.exists() {
                for name in self.sandbox.git(&path, ["ls-files", "src", "work"]).lines() {
                    let file = path.join(name);
                    if file.exists() {
                        set_mtime(&file, 1);
                    }
                }
            }
        }
    }
}

/// A tree without packs: an origin shares its own with the repository it was cloned from, and git touches what it uses.
fn image(path: &Path) -> Tree {
    let mut tree = Tree::of(path);
    tree.0.retain(|below, _| !below.iter().any(|part| part == "pack"));
    tree
}

/// How a report's shadow differs from the truth.
fn differs(spec: &Value, shadow: &Value) -> Vec<String> {
    let verdict = |half: &Value| match half["verdict"].as_str() {
        Some("held") => Value::from("hold"),
        Some(other) => Value::from(other),
        None => Value::Null,
    };
    let expect = &spec["expect"];
    let mut wrong = Vec::new();
    for half in ["worktree", "branch"] {
        let said = verdict(&shadow[half]);
        if said != expect[half] {
            wrong.push(format!("{half} is {said}, should be {}", expect[half]));
        }
    }
    if let Some(reason) = expect["reason"].as_str()
        && !codes(shadow).iter().any(|c| c == reason)
    {
        wrong.push(format!("no hold '{reason}'"));
    }
    let landed = &shadow["branch"]["landed"];
    let whose = spec["landing"].as_str();
    if whose.is_some() && landed["commit"].as_str() != whose {
        wrong.push(format!("landed as {landed}, should be {whose:?}"));
    }
    let context = |w| format!("{w}: {} {} lease {}: {shadow}", spec["class"], spec["state"], spec["lease"]);
    wrong.into_iter().map(context).collect()
}

fn judge_release_and_judge_again(fleet: &Fleet) {
    let sandbox = &fleet.sandbox;
    let listed = fleet.run(&["list"]).exits(0);
    assert_eq!(fleet.errors(&listed), [""; 0]);

    fleet.touch_tracked_files();
    let inventory = Inventory::of(sandbox, &fleet.repositories());
    let (bystanders, lines) = (fleet.bystanders(), fleet.refs_and_config());
    let run = fleet.run(&["prune-sessions", "--yes"]).exits(0);
    let summary = &run.json()["summary"];
    assert_eq!((&summary["raced"], &summary["failed"], &summary["pending"]), (&0.into(), &0.into(), &0.into()));

    for spec in fleet.truth.iter().filter(|s| s["expect"]["worktree"] == "release") {
        let (path, admin) = fleet.worktree(spec).unwrap();
        assert!(!path.exists() && !admin.exists(), "{path:?} should be gone: {spec}");
    }
    for (path, before) in &bystanders {
        assert_eq!(before.changes(&image(path)), [""; 0], "{path:?} should be as it was");
    }
    assert_eq!(fleet.without_released(lines), fleet.refs_and_config());
    assert_eq!(inventory.lost(sandbox), [""; 0]);

    let again = fleet.run(&["prune-sessions", "--yes"]).exits(0).json();
    for nothing in ["release", "partial", "released", "raced", "failed", "pending"] {
        assert_eq!(again["summary"][nothing], 0, "{nothing} in a second run: {:#}", again["summary"]);
    }
    assert_eq!(again["operation"], Value::Null);
}

#[test]
fn a_fleet_is_judged_as_its_truth_says_and_released_without_loss() {
    judge_release_and_judge_again(&Fleet::new(1, &[]));
}

#[test]
fn a_second_fleet_is_judged_as_its_truth_says_and_released_without_loss() {
    judge_release_and_judge_again(&Fleet::new(2, &[]));
}

#[test]
fn a_third_fleet_is_judged_as_its_truth_says_and_released_without_loss() {
    judge_release_and_judge_again(&Fleet::new(3, &[]));
}

#[test]
fn a_fleet_has_nothing_for_the_doctor() {
    let fleet = Fleet::new(5, &[]);
    for _ in 0..2 {
        let run = fleet.run(&["doctor"]).exits(0).json();
        for repository in run["repositories"].as_array().unwrap() {
            assert_eq!(
                (&repository["findings"], &repository["errors"]),
                (&Value::Array(vec![]), &Value::Array(vec![]))
            );
        }
        fleet.run(&["prune-sessions", "--yes"]).exits(0);
    }
}

/// A process that outlives the test's runs.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_fleet_with_live_sessions_keeps_them_whole() {
    let sandbox = Sandbox::empty();
    let sleep = sandbox.command("sleep", Path::new("/")).arg("600").stdout(Stdio::null()).spawn().unwrap();
    let holder = Holder(sleep);
    let pid = holder.0.id().to_string();
    judge_release_and_judge_again(&Fleet::new(4, &["--live", "5", "--holder", &pid]));
}
