//! Real processes at work in a worktree, and the environment the program itself is called in.

use std::path::Path;
use std::process::{Child, Stdio};

use fs_err as fs;

use crate::harness::{Sandbox, codes, skip};
use crate::process::Running;

/// A process that ends with the test.
struct Busy(Child);

impl Busy {
    fn new(sandbox: &Sandbox, dir: &Path, script: &str) -> Busy {
        let mut command = sandbox.command("bash", dir);
        let mut child = command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        Busy(child)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn c03_a_process_whose_working_directory_is_inside() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    fs::create_dir_all(sandbox.path("a/deep/inside")).unwrap();
    let busy = Busy::new(&sandbox, &sandbox.path("a/deep/inside"), "echo; read -r _");
    let shadow = sandbox.shadow_json("aos/a");
    let hold = shadow["holds"].as_array().unwrap().iter().find(|h| h["code"] == "in-use").expect("held").clone();
    assert!(hold["message"].as_str().unwrap().contains(&busy.0.id().to_string()), "{hold}");
    sandbox.assert_held("a", "in-use");
    drop(busy);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c03_a_process_that_has_a_file_open_or_runs_from_inside() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    let open = format!("exec 9<{}; echo; read -r _", sandbox.path("a/f").display());
    let busy = Busy::new(&sandbox, Path::new("/"), &open);
    sandbox.assert_held("a", "in-use");
    drop(busy);
    fs::create_dir(sandbox.path("a/target")).unwrap();
    sandbox.sh("a", "cp \"$(command -v bash)\" target/tool");
    let run = format!("exec {} -c 'echo; read -r _'", sandbox.path("a/target/tool").display());
    let busy = Busy::new(&sandbox, Path::new("/"), &run);
    sandbox.assert_held("a", "in-use");
    drop(busy);
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c40_a_launcher_that_is_alive_elsewhere_proves_nothing() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _busy = Busy::new(&sandbox, Path::new("/"), "echo; read -r _");
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c49_the_shell_s_own_worktree_stays_and_others_go() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    let _ = sandbox.landed("b");
    let shadow = sandbox.shadow("a", ["list", "--json"]).shadow("aos/a");
    assert!(codes(&shadow).contains(&"current".to_owned()), "{shadow:#}");
    sandbox.shadow("a", ["prune-sessions", "--yes"]).exits(0);
    assert!(sandbox.path("a/f").exists() && sandbox.has_branch("aos/a"));
    sandbox.assert_released("b");
}

#[test]
fn c49_also_by_another_spelling_of_its_path() {
    let sandbox = Sandbox::mk();
    let _ = sandbox.landed("a");
    fs::os::unix::fs::symlink("a", sandbox.path("alias")).unwrap();
    fs::create_dir(sandbox.path("a/sub")).unwrap();
    let run = sandbox.shadow("alias/sub", ["list", "--json"]);
    assert!(codes(&run.shadow("aos/a")).contains(&"current".to_owned()), "{run:#?}");
}

#[test]
fn c84_an_inherited_git_dir_does_not_answer_for_another_tree() {
    let mut sandbox = Sandbox::mk();
    let _ = sandbox.landed("b");
    sandbox.write("b/only", "here\n");
    let repo = sandbox.repo().to_str().unwrap().to_owned();
    sandbox.set("GIT_DIR", format!("{repo}/.git"));
    sandbox.set("GIT_WORK_TREE", &repo);
    sandbox.set("GIT_INDEX_FILE", format!("{repo}/.git/index"));
    let list = sandbox.json(&["list"]);
    assert!(codes(&list.shadow("aos/b")).contains(&"untracked".to_owned()), "{list:#?}");
    sandbox.json(&["prune-sessions", "--yes"]).exits(0);
    assert!(sandbox.path("b/only").exists());
}

#[test]
fn c51_something_mounted_inside() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", "target/\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    fs::create_dir(sandbox.path("a/target")).unwrap();
    let at = sandbox.path("a/target");
    let mounted = sandbox.command("mount", sandbox.root()).args(["-t", "tmpfs", "none"]).arg(&at).output();
    if !mounted.is_ok_and(|out| out.status.success()) {
        skip("c51_something_mounted_inside", "this user may not mount");
        return;
    }
    let list = sandbox.json(&["list"]);
    let pruned = sandbox.shadow("r", ["prune-sessions", "--yes"]);
    let unmounted = sandbox.command("umount", sandbox.root()).arg(&at).status().unwrap();
    assert!(unmounted.success());
    assert!(codes(&list.shadow("aos/a")).contains(&"in-use".to_owned()), "{list:#?}");
    assert_eq!(pruned.status, 0, "{pruned:#?}");
    assert!(at.exists() && sandbox.has_branch("aos/a"));
}

#[test]
fn this_program_at_work_elsewhere_holds_nothing() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    // A worker of a hook waits for this very test to end, with a file of the worktree open.
    let me = i64::from(std::process::id());
    let until = format!("{me}:{}", git_shadow::sys::vantage::start_ticks(me).unwrap());
    let with_file = |program: &str, args: &[&str]| {
        let file = fs::File::open(sandbox.path("a/a.txt")).unwrap().into_parts().0;
        let mut command = sandbox.command(program, &sandbox.repo().join(".git"));
        Running(command.args(args).stdin(file).spawn().unwrap())
    };
    let worker = with_file(env!("CARGO_BIN_EXE_git-shadow"), &["hook", "--worker", "--git", &until, "pre-push"]);
    assert_eq!(sandbox.holds("aos/a"), [""; 0]);
    let other = with_file("sleep", &["60"]);
    assert_eq!(sandbox.holds("aos/a"), ["in-use"]);
    drop((worker, other));
    sandbox.prune().exits(0);
    sandbox.assert_released("a");
}
