//! Proofs of landing against a fleet whose truth is known.

use std::path::Path;
use std::process::Command;

use git_shadow::git::Repository;
use git_shadow::landing::{Range, prove};
use git_shadow::model::{Base, Fact, Landing};
use gix::ObjectId;
use serde_json::Value;

fn oid(value: &Value) -> ObjectId {
    ObjectId::from_hex(value.as_str().unwrap().as_bytes()).unwrap()
}

/// Every proof is the one that the maker of the fleet knows, and names its commit.
fn compare(root: &Path) -> usize {
    let truth: Vec<Value> = serde_json::from_slice(&fs_err::read(root.join("truth.json")).unwrap()).unwrap();
    let mut repositories: Vec<&str> = truth.iter().map(|t| t["repo"].as_str().unwrap()).collect();
    repositories.dedup();
    let mut wrong = Vec::new();
    for name in repositories {
        let repo = Repository::discover(&root.join("projects").join(name)).unwrap();
        let tip = repo.local().find_reference("refs/remotes/origin/main").unwrap().peel_to_id().unwrap().detach();
        let base = |name: &str| Base { name: name.into(), tip, fetched_at: None };
        let shadows: Vec<&Value> = truth.iter().filter(|t| t["repo"] == name).collect();
        let tips: Vec<ObjectId> = shadows.iter().map(|t| oid(&t["tip"])).collect();
        let bases = [base("refs/remotes/origin/main"), base("refs/heads/main")];
        for (shadow, found) in shadows.iter().zip(prove(&repo.local(), &bases, &tips, &Range::default())) {
            let kind = shadow["class"].as_str().unwrap();
            let right = match &found {
                Fact::Known(Landing::Landed(landed)) if kind.starts_with("unused") => landed.how.as_str() == "ancestor",
                Fact::Known(Landing::Landed(landed)) => {
                    let how = landed.how.as_str();
                    let also = how == "squash" && shadow["landed"] == "rebase";
                    (shadow["landed"] == how || also) && landed.commit == oid(&shadow["landing"])
                }
                Fact::Known(Landing::Partial { landed, missing }) => {
                    kind == "partial" && landed.len() == 1 && missing.len() == 1
                }
                Fact::Known(Landing::Unproven) => ["unpushed2", "pushed2", "gone2"].contains(&kind),
                _ => false,
            };
            if !right {
                wrong.push(format!("{name} {} {kind}: {found:?}", shadow["branch"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), truth.len(), wrong.join("\n"));
    truth.len()
}

#[test]
fn a_fleet_is_proved_as_its_maker_knows() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("fleet");
    let maker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/make_fleet.py");
    let made = Command::new("python3")
        .arg(maker)
        .arg(&root)
        .args(["--repos", "3", "--branches", "60", "--worktrees", "0", "--files", "40"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(compare(&root) >= 60);
}
