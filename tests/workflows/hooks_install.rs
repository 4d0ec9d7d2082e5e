//! Installing the hooks beside what is there, and taking them out again.

use std::path::Path;

use fs_err as fs;
use serde_json::Value;

use crate::harness::{Run, Sandbox, Tree, executable, skip};
use crate::hooks_chain::{calls, hooked, stand_in};
use crate::other_user::root_or_skip;

/// `git shadow hooks …` in a directory, as JSON; as files, whatever git there is.
pub fn hooks(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Run {
    let run = sandbox.shadow(dir, ["hooks", "--via", "file"].iter().chain(args).chain(&["--json"]));
    run.json();
    run
}

/// What it says of one hook of the only repository.
pub fn hook(run: &Run, event: &str) -> Value {
    let json = run.json();
    let hooks = json["repositories"][0]["hooks"].as_array().unwrap().clone();
    hooks.into_iter().find(|hook| hook["event"] == event).unwrap()
}

/// The state of both hooks.
#[track_caller]
pub fn states(sandbox: &Sandbox, dir: &str) -> [String; 2] {
    let run = hooks(sandbox, dir, &["status"]).exits(0);
    ["post-merge", "pre-push"].map(|event| hook(&run, event)["state"].as_str().unwrap().to_owned())
}

/// All that is in the folder for hooks; its own time moves with every name in it.
fn folder(sandbox: &Sandbox) -> Tree {
    let mut tree = Tree::of(&sandbox.path("r/.git/hooks"));
    tree.0.retain(|path, _| path != Path::new(""));
    tree
}

const MINE: &str = "#!/bin/sh\necho mine\n";

#[test]
fn installing_twice_changes_nothing_and_removing_leaves_nothing() {
    let sandbox = Sandbox::mk();
    let before = folder(&sandbox);
    assert_eq!(states(&sandbox, "r"), ["absent", "absent"]);
    let run = hooks(&sandbox, "r", &["install", "-n"]).exits(0);
    assert_eq!(hook(&run, "pre-push")["change"], "installed");
    assert_eq!(run.json()["dry_run"], true);
    assert_eq!(before.changes(&folder(&sandbox)), [""; 0]);

    let run = hooks(&sandbox, "r", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["change"], "installed");
    assert_eq!(states(&sandbox, "r"), ["installed", "installed"]);
    let first = folder(&sandbox);
    let run = hooks(&sandbox, "r", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["change"], Value::Null);
    assert_eq!(first.changes(&folder(&sandbox)), [""; 0]);

    hooks(&sandbox, "r", &["remove", "-n"]).exits(0);
    assert_eq!(first.changes(&folder(&sandbox)), [""; 0]);
    hooks(&sandbox, "r", &["remove"]).exits(0);
    hooks(&sandbox, "r", &["remove"]).exits(0);
    assert_eq!(before.changes(&folder(&sandbox)), [""; 0]);
}

#[test]
fn the_hook_that_was_there_comes_back_byte_for_byte() {
    for (what, script) in [
        ("a script", "printf '#!/bin/sh\\nexit 3\\n' >pre-push; chmod 750 pre-push"),
        ("one that git does not run", "printf '#!/bin/sh\\nexit 3\\n' >pre-push; chmod 640 pre-push"),
        ("a binary", "cp \"$(type -P true)\" pre-push"),
        ("no line end, no first line", "printf 'exit 3' >pre-push; chmod 755 pre-push"),
        ("a link", "printf '#!/bin/sh\\nexit 3\\n' >../mine; chmod 755 ../mine; ln -s ../mine pre-push"),
        ("a link to nowhere", "ln -s nowhere pre-push"),
        ("of git-lfs", "printf '#!/bin/sh\\ngit lfs pre-push \"$@\"\\n' >pre-push; chmod 755 pre-push"),
    ] {
        let sandbox = Sandbox::mk();
        sandbox.origin();
        sandbox.sh("r/.git/hooks", script);
        let before = folder(&sandbox);
        let status = |sandbox: &Sandbox| {
            sandbox.write("r/f", "new\n");
            sandbox.commit("r", "new");
            let pushed = sandbox.git_ok("r", ["push", "-q"]);
            sandbox.git("r", ["reset", "-q", "--hard", "HEAD~1"]);
            sandbox.git("o.git", ["update-ref", "refs/heads/main", &sandbox.git("r", ["rev-parse", "main"])]);
            pushed
        };
        let runs = status(&sandbox);
        let run = hooks(&sandbox, "r", &["install"]).exits(0);
        assert!(hook(&run, "pre-push")["chained"].as_str().unwrap().ends_with("pre-push.git-shadow-kept"), "{what}");
        assert_eq!(status(&sandbox), runs, "{what}: git's answer is another");
        hooks(&sandbox, "r", &["remove"]).exits(0);
        assert_eq!(before.changes(&folder(&sandbox)), [""; 0], "{what}");
    }
}

#[test]
fn what_git_cannot_run_is_refused() {
    for make in ["mkdir pre-push", "mkfifo pre-push"] {
        let sandbox = Sandbox::mk();
        sandbox.sh("r/.git/hooks", make);
        let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(2);
        assert!(run.stderr.contains("pre-push' is") && run.stderr.contains("move it aside"), "{run:?}");
        assert!(fs::symlink_metadata(sandbox.path("r/.git/hooks/pre-push")).is_ok());
    }
}

#[test]
fn a_hook_that_somebody_changed_or_replaced_is_theirs() {
    let sandbox = Sandbox::mk();
    executable(&sandbox, "r/.git/hooks/post-merge", MINE);
    hooks(&sandbox, "r", &["install"]).exits(0);
    let file = sandbox.path("r/.git/hooks/post-merge");
    let ours = fs::read(&file).unwrap();
    let edited = [ours.as_slice(), b"# mine\n"].concat();
    fs::write(&file, &edited).unwrap();
    assert_eq!(states(&sandbox, "r"), ["edited", "installed"]);
    for action in ["install", "remove"] {
        let run = sandbox.shadow("r", ["hooks", "--via=file", action]).exits(1);
        assert!(run.stderr.contains("somebody has changed"), "{run:?}");
        assert_eq!(fs::read(&file).unwrap(), edited);
    }
    // Another hook is written over it: the one before is still kept.
    fs::write(&file, "#!/bin/sh\necho new\n").unwrap();
    assert_eq!(states(&sandbox, "r"), ["replaced", "absent"]);
    for action in ["install", "remove"] {
        let run = hooks(&sandbox, "r", &[action]).exits(1);
        assert_eq!(hook(&run, "post-merge")["state"], "replaced");
        assert_eq!(sandbox.read("r/.git/hooks/post-merge"), "#!/bin/sh\necho new\n");
        assert_eq!(sandbox.read("r/.git/hooks/post-merge.git-shadow-kept"), MINE);
    }
    // Ours is deleted: the one before comes back.
    fs::remove_file(&file).unwrap();
    hooks(&sandbox, "r", &["remove"]).exits(0);
    assert_eq!(sandbox.read("r/.git/hooks/post-merge"), MINE);
}

#[test]
fn one_of_ours_from_another_place_is_replaced_and_one_that_was_made_unrunnable_told() {
    let sandbox = hooked();
    fs::remove_file(sandbox.path("bin/git-shadow")).unwrap();
    assert_eq!(states(&sandbox, "r"), ["outdated", "outdated"]);
    let run = hooks(&sandbox, "r", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["change"], "updated");
    assert!(sandbox.read("r/.git/hooks/pre-push").contains(env!("CARGO_BIN_EXE_git-shadow")));
    sandbox.sh("r", "chmod -x .git/hooks/pre-push");
    let run = hooks(&sandbox, "r", &["status"]);
    assert_eq!(hook(&run, "pre-push")["state"], "bypassed");
    hooks(&sandbox, "r", &["remove"]).exits(0);
    assert_eq!(states(&sandbox, "r"), ["absent", "absent"]);
}

/// The states in which a killed run can leave the hooks' folder.
#[test]
fn what_a_killed_run_left_is_taken_up() {
    for (what, leave) in [
        ("a second name", "ln post-merge post-merge.git-shadow-kept"),
        ("a copy", "cp -p post-merge post-merge.git-shadow-kept"),
        ("a file that was not renamed yet", "echo half >.post-merge.1-1"),
    ] {
        for last in ["install", "remove"] {
            let sandbox = hooked();
            hooks(&sandbox, "r", &["remove"]).exits(0);
            executable(&sandbox, "r/.git/hooks/post-merge", "#!/bin/sh\necho mine >>../kept\n");
            sandbox.sh("r/.git/hooks", leave);
            hooks(&sandbox, "r", &[last]).exits(0);
            stand_in(&sandbox, "");
            sandbox
                .sh("r", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q main; git merge -q b");
            assert_eq!(sandbox.read("kept"), "mine\n", "{what}, {last}");
            assert_eq!(calls(&sandbox).len(), usize::from(last == "install"), "{what}, {last}");
            let kept = sandbox.path("r/.git/hooks/post-merge.git-shadow-kept").exists();
            assert_eq!(kept, last == "install", "{what}, {last}");
        }
    }
}

#[test]
fn from_a_linked_worktree_they_land_where_git_looks() {
    let sandbox = hooked();
    hooks(&sandbox, "r", &["remove"]).exits(0);
    sandbox.wt("a");
    let run = hooks(&sandbox, "a", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["path"], sandbox.path("r/.git/hooks/post-merge").to_str().unwrap());
    stand_in(&sandbox, "");
    sandbox.sh("a", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q aos/a; git merge -q b");
    assert_eq!(calls(&sandbox), ["hook post-merge 0"]);

    // A place that only this worktree has.
    sandbox.git("r", ["config", "extensions.worktreeConfig", "true"]);
    sandbox.sh("a", "git config --worktree core.hooksPath ../own");
    fs::remove_file(sandbox.path("bin/git-shadow")).unwrap();
    let run = hooks(&sandbox, "a", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["path"], sandbox.path("own/post-merge").to_str().unwrap());
}

#[test]
fn a_path_for_hooks_that_is_the_repositorys_own_is_used() {
    for (value, file) in [
        (".git/myhooks", "r/.git/myhooks"),
        ("untracked", "r/untracked"),
        ("ROOT/outside", "outside"),
        (".git/hooks/", "r/.git/hooks"),
    ] {
        let sandbox = hooked();
        hooks(&sandbox, "r", &["remove"]).exits(0);
        let value = value.replace("ROOT", sandbox.root().to_str().unwrap());
        sandbox.git("r", ["config", "core.hooksPath", &value]);
        hooks(&sandbox, "r", &["install"]).exits(0);
        assert!(sandbox.path(file).join("post-merge").is_file(), "{value}");
        stand_in(&sandbox, "");
        sandbox.sh("r", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q main; git merge -q b");
        assert_eq!(calls(&sandbox), ["hook post-merge 0"], "{value}");
    }
}

#[test]
fn ours_moves_to_where_git_looks_now() {
    let sandbox = hooked();
    sandbox.git("r", ["config", "core.hooksPath", ".git/myhooks"]);
    assert_eq!(states(&sandbox, "r"), ["bypassed", "bypassed"]);
    let run = hooks(&sandbox, "r", &["install"]).exits(0);
    assert_eq!(hook(&run, "post-merge")["change"], "updated");
    assert!(!sandbox.path("r/.git/hooks/post-merge").exists());
    assert_eq!(states(&sandbox, "r"), ["installed", "installed"]);
    // Where the setting goes again, ours of the other place is unknown; put back, it is taken out from both.
    sandbox.git("r", ["config", "--unset", "core.hooksPath"]);
    hooks(&sandbox, "r", &["install"]).exits(0);
    sandbox.git("r", ["config", "core.hooksPath", ".git/myhooks"]);
    hooks(&sandbox, "r", &["remove"]).exits(0);
    assert!(!sandbox.path("r/.git/hooks/post-merge").exists() && !sandbox.path("r/.git/myhooks/post-merge").exists());
}

/// It must refuse, change nothing, and say what to add; with that added it is installed, and git calls it.
#[track_caller]
pub fn assert_managed(sandbox: &Sandbox, event: &str, file: &Path) {
    let before = sandbox.image();
    let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(1);
    assert!(run.stderr.contains(&format!("cannot install '{event}'")), "{run:?}");
    let mut changes = before.changes(&sandbox.image());
    changes.retain(|change| !change.contains("shadow") && !change.contains("r/.git: "));
    assert_eq!(changes, [""; 0]);
    let shown = format!("'{}'", file.display());
    assert!(run.stderr.contains(&shown), "{shown} is not named: {run:?}");
    let line = run.stderr.lines().find(|line| line.contains(&format!("git-shadow hook {event}"))).unwrap();
    let line = line.trim_start_matches("hint:").trim();
    let text = fs::read_to_string(file).unwrap_or_else(|_| "#!/bin/sh\n".to_owned());
    executable(sandbox, file, &format!("{text}{line}\n"));
    let run = hooks(sandbox, "r", &["status"]);
    assert_eq!(hook(&run, event)["state"], "installed", "{run:?}");
}

#[test]
fn what_is_for_more_than_this_repository_is_not_touched() {
    let mut sandbox = hooked();
    hooks(&sandbox, "r", &["remove"]).exits(0);
    stand_in(&sandbox, "");
    let config = sandbox.path("home/.gitconfig");
    fs::create_dir_all(sandbox.path("everybody")).unwrap();
    fs::write(&config, format!("[core]\n\thooksPath = {}\n", sandbox.path("everybody").display())).unwrap();
    sandbox.set("GIT_CONFIG_GLOBAL", config.to_str().unwrap());
    assert_managed(&sandbox, "post-merge", &sandbox.path("everybody/post-merge"));
    sandbox.sh("r", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q main; git merge -q b");
    assert_eq!(calls(&sandbox), ["hook post-merge 0"]);
    // A global setting that leads into each repository harms nobody.
    fs::write(&config, "[core]\n\thooksPath = .git/hooks\n").unwrap();
    hooks(&sandbox, "r", &["install"]).exits(0);
}

#[test]
fn what_is_under_version_control_is_not_touched() {
    let sandbox = hooked();
    hooks(&sandbox, "r", &["remove"]).exits(0);
    stand_in(&sandbox, "");
    executable(&sandbox, "r/.githooks/pre-push", "#!/bin/sh\ncat >../input\n");
    sandbox.commit("r", "hooks");
    sandbox.git("r", ["config", "core.hooksPath", ".githooks"]);
    assert_managed(&sandbox, "pre-push", &sandbox.path("r/.githooks/pre-push"));
    sandbox.git("r", ["push", "-q"]);
    assert_eq!(calls(&sandbox), ["hook pre-push origin ../o.git"]);
    assert!(sandbox.read("input").starts_with("refs/heads/main "));
    // The same by a link in the repository's own folder.
    let sandbox = hooked();
    executable(&sandbox, "r/.githooks/pre-push", MINE);
    sandbox.commit("r", "hooks");
    sandbox.sh("r", "rm -r .git/hooks; ln -s ../.githooks .git/hooks");
    let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(1);
    assert!(run.stderr.contains("under version control"), "{run:?}");
    assert_eq!(sandbox.read("r/.githooks/pre-push"), MINE);
}

#[test]
fn a_hook_that_needs_its_name_is_not_renamed() {
    let sandbox = Sandbox::mk();
    executable(&sandbox, "r/.git/hooks/all", "#!/bin/sh\nexec run-hooks \"$(basename \"$0\")\" \"$@\"\n");
    fs::os::unix::fs::symlink("all", sandbox.path("r/.git/hooks/pre-push")).unwrap();
    let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(1);
    assert!(run.stderr.contains("under its own name"), "{run:?}");
    assert_eq!(fs::read_link(sandbox.path("r/.git/hooks/pre-push")).unwrap(), Path::new("all"));
    // A program of many names does not say in its text what it needs.
    sandbox.sh("r/.git/hooks", "rm pre-push; cp \"$(type -P ls)\" many; ln -s many pre-push");
    let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(1);
    assert!(run.stderr.contains("under its own name"), "{run:?}");
    assert_eq!(fs::read_link(sandbox.path("r/.git/hooks/pre-push")).unwrap(), Path::new("many"));
}

#[test]
fn hooks_that_find_what_they_run_by_their_own_name_stay() {
    let sandbox = Sandbox::mk();
    let padding = "#".repeat(1 << 17);
    for hook in ["for f in \"$0\".d/*; do \"$f\" || exit; done", "case $0 in *pre-push) exit 3;; esac"] {
        let text = format!("#!/bin/sh\n{padding}\n{hook}\n");
        executable(&sandbox, "r/.git/hooks/pre-push", &text);
        let run = sandbox.shadow("r", ["hooks", "--via=file", "install"]).exits(1);
        assert!(run.stderr.contains("under its own name"), "{run:?}");
        assert_eq!(sandbox.read("r/.git/hooks/pre-push"), text);
    }
}

#[test]
fn a_hook_that_can_have_no_second_name_keeps_its_time() {
    let test = "a_hook_that_can_have_no_second_name_keeps_its_time";
    let links = fs::read_to_string("/proc/sys/fs/protected_hardlinks").unwrap_or_default();
    if !root_or_skip(test) || links.trim() != "1" {
        return skip(test, "not root, or links to files of others are allowed here");
    }
    let sandbox = Sandbox::mk();
    executable(&sandbox, "r/.git/hooks/pre-push", MINE);
    sandbox.sh("r", "touch -d 2020-02-02T02:02:02.5 .git/hooks/pre-push; chmod 751 .git/hooks/pre-push");
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), sandbox.path("program")).unwrap();
    sandbox.sh("", "chmod a+rx . r; chown -R 65534:65534 r home tmp; chown 0 r/.git/hooks/pre-push");
    let before = folder(&sandbox);
    for action in ["install", "remove"] {
        let args = ["--reuid=65534", "--regid=65534", "--clear-groups", "../program"];
        let mut command = sandbox.command("setpriv", &sandbox.repo());
        let done = command.args(args).args(["hooks", "--via=file", action]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        assert_eq!(sandbox.path("r/.git/hooks/pre-push.git-shadow-kept").exists(), action == "install");
    }
    assert_eq!(before.changes(&folder(&sandbox)), [""; 0]);
}

#[test]
fn where_hooks_are_switched_off_nothing_is_installed() {
    let sandbox = Sandbox::mk();
    sandbox.git("r", ["config", "core.hooksPath", "/dev/null"]);
    for action in ["install", "status", "remove"] {
        let run = hooks(&sandbox, "r", &[action]).exits(i32::from(action == "install"));
        assert_eq!(hook(&run, "post-merge")["state"], "managed");
        assert!(hook(&run, "post-merge")["message"].as_str().unwrap().contains("git runs no hooks"));
    }
}

#[test]
fn a_bare_repository_has_no_use_for_a_push_where_it_follows_nobody() {
    let sandbox = Sandbox::mk();
    sandbox.origin();
    assert_eq!(states(&sandbox, "o.git"), ["absent", "needless"]);
    let run = hooks(&sandbox, "o.git", &["install"]).exits(0);
    assert_eq!(hook(&run, "pre-push")["state"], "needless");
    assert!(sandbox.path("o.git/hooks/post-merge").is_file() && !sandbox.path("o.git/hooks/pre-push").exists());
    sandbox.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    sandbox.git("b.git", ["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    sandbox.git("b.git", ["fetch", "-q"]);
    hooks(&sandbox, "b.git", &["install"]).exits(0);
    assert_eq!(states(&sandbox, "b.git"), ["installed", "installed"]);
}

#[test]
fn what_switches_them_off_is_told() {
    let mut sandbox = Sandbox::mk();
    hooks(&sandbox, "r", &["install"]).exits(0);
    let off = |sandbox: &Sandbox| {
        let run = hooks(sandbox, "r", &["status"]).exits(0);
        ["post-merge", "pre-push"].map(|event| hook(&run, event)["off"].as_str().unwrap_or("on").to_owned())
    };
    assert_eq!(off(&sandbox), ["on", "on"]);
    sandbox.write("r/.shadowrc", "[hooks]\npost-merge = false\n");
    let rc = sandbox.path("r/.shadowrc");
    assert_eq!(off(&sandbox), [format!("hooks.post-merge = false in '{}'", rc.display()), "on".to_owned()]);
    fs::remove_file(rc).unwrap();
    sandbox.git("r", ["config", "shadow.hooks", "off"]);
    assert_eq!(off(&sandbox), ["shadow.hooks = false in git's configuration"; 2]);
    let run = sandbox.shadow("r", ["hooks", "--via=file", "status"]);
    assert!(run.stdout.starts_with("post-merge  off  .git/hooks/post-merge, switched off: shadow.hooks"), "{run:?}");
    sandbox.git("r", ["config", "--unset", "shadow.hooks"]);
    sandbox.set("GIT_SHADOW_HOOKS", "0");
    assert_eq!(off(&sandbox), ["GIT_SHADOW_HOOKS in the environment"; 2]);
}

#[test]
fn many_repositories_at_once_and_one_that_fails() {
    let sandbox = Sandbox::mk();
    sandbox.git("", ["init", "-q", "s"]);
    sandbox.git("", ["init", "-q", "t"]);
    sandbox.sh("", "mkdir s/.git/hooks/pre-push");
    let run = sandbox.shadow("", ["hooks", "--via=file", "install", "--under", "."]).exits(2);
    assert!(run.stderr.contains("s/.git/hooks/pre-push' is a directory"), "{run:?}");
    assert_eq!(states(&sandbox, "r"), ["installed", "installed"]);
    assert_eq!(states(&sandbox, "t"), ["installed", "installed"]);
    sandbox.sh("", "rmdir s/.git/hooks/pre-push");
    sandbox.shadow("", ["hooks", "--via=file", "install", "--repo", "r", "--repo", "s", "-q"]).exits(0);
    let run = sandbox.shadow("", ["hooks", "--via=file", "status", "--under", ".", "--porcelain", "-z"]).exits(0);
    assert_eq!(run.stdout.matches("\0state installed\0").count(), 6, "{run:?}");
}

#[test]
fn from_the_install_on_hooks_look_at_what_comes_after() {
    let sandbox = Sandbox::mk();
    let cursor = sandbox.path("r/.git/shadow/cursor");
    hooks(&sandbox, "r", &["install", "-n"]).exits(0);
    assert!(!cursor.exists());
    hooks(&sandbox, "r", &["install"]).exits(0);
    let tip = sandbox.git("r", ["rev-parse", "HEAD"]);
    let begun = fs::read_to_string(&cursor).unwrap();
    assert!(begun.contains(&tip), "{begun}");
    // Installed again it stays where the last sweep left it.
    sandbox.write("r/f", "new\n");
    sandbox.commit("r", "new");
    hooks(&sandbox, "r", &["install"]).exits(0);
    assert_eq!(fs::read_to_string(&cursor).unwrap(), begun);
}

#[test]
fn what_went_wrong_in_a_hook_is_told() {
    let sandbox = hooked();
    sandbox.write("r/.shadowrc", "nonsense = 1\n");
    sandbox.sh("r", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q main; git merge -q b");
    fs::remove_file(sandbox.path("r/.shadowrc")).unwrap();
    let run = sandbox.shadow("r", ["hooks", "--via=file", "status"]).exits(0);
    assert!(run.stdout.contains(" ago: ") && run.stdout.contains("nonsense"), "{run:?}");
    let failed = &hook(&hooks(&sandbox, "r", &["status"]), "post-merge")["failed"];
    assert!(failed["message"].as_str().unwrap().contains("nonsense"), "{failed}");
}
