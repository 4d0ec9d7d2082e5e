//! Who uses a worktree: real processes, real mounts, and tables that cannot be trusted.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fs_err as fs;
use git_shadow::model::{Fact, Use};
use git_shadow::sys::mounts::Mounts;
use git_shadow::sys::process::Processes;
use git_shadow::sys::{here, tree, vantage};

use crate::harness::Sandbox;
use crate::other_user::{NOBODY, root_or_skip, run_through, subject};

/// A process that ends with the test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `sleep` in that directory; it has been started when this returns.
pub fn sleeping(dir: &Path) -> Running {
    Running(Command::new("sleep").arg("600").current_dir(dir).stdin(Stdio::null()).spawn().unwrap())
}

/// A script that says that it is ready before it becomes a `sleep`.
fn ready(wrapper: &[&str], script: &str) -> Running {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).args(["sh", "-euc", &format!("{script}\necho ready; exec sleep 600")]);
    let mut child = command.current_dir("/").stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{script}");
    Running(child)
}

fn worktree() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::empty();
    for name in ["wt/deep/er/x", "wt-beside/x", "other/x"] {
        sandbox.write(name, name);
    }
    let root = sandbox.path("wt");
    (sandbox, root)
}

/// What the processes use of the root: the pid, and what of it is inside.
fn uses(root: &Path) -> Vec<(i64, &'static str)> {
    let Fact::Known(processes) = Processes::snapshot() else { panic!("{:?}", Processes::snapshot()) };
    let found = processes.inside(&[PathBuf::from("/nowhere"), root.to_owned()]);
    assert_eq!(found[0], []);
    let pid = |used: &Use| match used {
        Use::Process { pid, what, .. } => (*pid, *what),
        Use::Mount(path) => panic!("{}", path.display()),
    };
    found[1].iter().map(pid).collect()
}

fn pid(running: &Running) -> i64 {
    running.0.id().into()
}

/// The table can be trusted here, which it cannot in a container.
fn host_or_skip() -> bool {
    let unknown = Processes::snapshot().error().map(ToOwned::to_owned);
    if let Some(why) = &unknown {
        eprintln!("skipped: {why}");
    }
    unknown.is_none()
}

#[test]
fn a_working_directory_deep_inside() {
    if !host_or_skip() {
        return;
    }
    let (sandbox, root) = worktree();
    let _beside = sleeping(&sandbox.path("wt-beside"));
    assert_eq!(uses(&root), []);
    let inside = sleeping(&root.join("deep/er"));
    assert_eq!(uses(&root), [(pid(&inside), "working directory")]);
    fs::rename(&root, sandbox.path("moved")).unwrap();
    assert_eq!(uses(&root), []);
    assert_eq!(uses(&sandbox.path("moved")), [(pid(&inside), "working directory")]);
    fs::remove_dir_all(sandbox.path("moved/deep")).unwrap();
    assert_eq!(uses(&sandbox.path("moved")), [(pid(&inside), "working directory")], "deleted under its feet");
}

#[test]
fn a_root_that_is_deleted_is_still_used() {
    if !host_or_skip() {
        return;
    }
    let (_sandbox, root) = worktree();
    let inside = sleeping(&root);
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(uses(&root), [(pid(&inside), "working directory")]);
}

#[test]
fn threads_that_outlive_the_first_one() {
    if !host_or_skip() {
        return;
    }
    let (_sandbox, root) = worktree();
    let script = "import ctypes, threading, time
def work():
    while open('/proc/self/stat').read().split(')')[1].split()[0] != 'Z': time.sleep(0.01)
    print('ready', flush=True); time.sleep(600)
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)";
    let mut command = Command::new("python3");
    command.args(["-c", script]).current_dir(root.join("deep")).stdout(Stdio::piped()).stdin(Stdio::null());
    let mut inside = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(inside.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), uses(&root)), ("ready\n", vec![(pid(&inside), "working directory")]));
}

#[test]
fn an_open_file_an_executable_and_a_mapping() {
    if !host_or_skip() {
        return;
    }
    let (_sandbox, root) = worktree();
    let _ours = fs::File::open(root.join("deep/er/x")).unwrap();
    assert_eq!(uses(&root), [], "what this process has open is not in use");
    let file = fs::File::open(root.join("deep/er/x")).unwrap().into_parts().0;
    let reader = Running(Command::new("sleep").arg("600").current_dir("/").stdin(file).spawn().unwrap());
    assert_eq!(uses(&root), [(pid(&reader), "open file")]);
    drop(reader);
    let program = root.join("sleep");
    fs::copy("/bin/sleep", &program).unwrap();
    let program = Running(Command::new(&program).arg("600").current_dir("/").spawn().unwrap());
    assert_eq!(uses(&root), [(pid(&program), "executable")]);
    drop(program);
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let library = maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|p| p.contains("libm.so")));
    let Some(library) = library else {
        eprintln!("skipped: no library to map");
        return;
    };
    fs::copy(library, root.join("lib.so")).unwrap();
    let mut command = Command::new("sleep");
    let mapper = command.arg("600").env("LD_PRELOAD", root.join("lib.so")).current_dir("/").stdin(Stdio::null());
    let mapper = Running(mapper.spawn().unwrap());
    assert_eq!(uses(&root), [(pid(&mapper), "mapping")]);
}

#[test]
fn a_container_with_the_worktree_or_a_part_of_it() {
    if !root_or_skip("container") || !host_or_skip() {
        return;
    }
    let (sandbox, root) = worktree();
    let (wt, other) = (root.display(), sandbox.path("other"));
    let other = other.display();
    let inside = ready(&["unshare", "-m"], &format!("mount --bind {wt} {other}; cd {other}/deep"));
    assert_eq!(uses(&root), [(pid(&inside), "working directory")], "called otherwise there");
    drop(inside);
    let idle = ready(&["unshare", "-m"], &format!("mount --bind {wt}/deep {other}; cd /"));
    assert_eq!(uses(&root), [(pid(&idle), "mount")]);
    drop(idle);
    let above = sandbox.root().display();
    let inside = ready(&["unshare", "-m"], &format!("mount --bind {above} /mnt; cd /mnt/wt/deep"));
    assert_eq!(uses(&root), [(pid(&inside), "working directory")], "by a mount of what is above it");
    drop(inside);
    let elsewhere = ready(&["unshare", "-m"], &format!("mount --bind {above} /mnt; cd /mnt/wt-beside"));
    assert_eq!(uses(&root), [], "a view of what is above is no use: {}", pid(&elsewhere));
    let named = ready(&["unshare", "-m"], &format!("mount --bind {wt} {other}; cd /"));
    let wrapper = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    run_through(&sandbox, &wrapper, "process::container_seen_by_nobody", &root);
    drop(named);
}

#[test]
#[ignore = "part of another test"]
fn container_seen_by_nobody() {
    let uses = uses(&subject());
    assert!(matches!(uses[..], [(_, "mount")]), "told although the process may not be inspected: {uses:?}");
}

#[test]
fn a_mount_at_below_or_of_it() {
    if !root_or_skip("mounts") {
        return;
    }
    let (sandbox, root) = worktree();
    assert!(Mounts::read().unwrap().at_or_below(&root).is_empty());
    let (wt, other) = (root.display(), sandbox.path("other"));
    let script =
        format!("mount --bind {wt} {}; mkdir '{wt}/a b'; mount -t tmpfs none '{wt}/a b'; exec \"$@\"", other.display());
    run_through(&sandbox, &["unshare", "-m", "sh", "-euc", &script, "sh"], "process::with_mounts", &root);
}

#[test]
#[ignore = "part of another test"]
fn with_mounts() {
    let root = subject();
    let other = root.with_file_name("other");
    assert_eq!(Mounts::read().unwrap().at_or_below(&root), [other.clone(), root.join("a b")]);
    let inside = sleeping(&other.join("deep"));
    assert_eq!(uses(&root), [(pid(&inside), "working directory")]);
    assert_ne!(vantage::confined(), None, "a mount namespace of its own");
}

#[test]
fn a_table_that_cannot_be_trusted_is_unknown() {
    if !root_or_skip("tables") || !host_or_skip() {
        return;
    }
    let (sandbox, root) = worktree();
    let _inside = sleeping(&root);
    let nobody = format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups");
    let hidden = format!("mount -t proc -o hidepid=2 proc /proc; exec {nobody} \"$@\"");
    for (wrapper, why) in [
        (&["unshare", "--pid", "--fork", "--mount-proc"][..], "pid namespace"),
        (&["unshare", "--pid", "--fork"], "pid namespace"),
        (&["unshare", "-m", "sh", "-euc", "mount -t tmpfs none /proc; exec \"$@\"", "sh"], "no process table"),
        (&["unshare", "-m", "sh", "-euc", &hidden, "sh"], "hidden"),
    ] {
        fs::write(root.join("why"), why).unwrap();
        run_through(&sandbox, wrapper, "process::untrusted", &root);
    }
}

#[test]
#[ignore = "part of another test"]
fn untrusted() {
    let why = fs::read_to_string(subject().join("why")).unwrap();
    let table = Processes::snapshot();
    assert!(table.error().is_some_and(|error| error.contains(&why)), "{why}: {table:?}");
    if why != "hidden" {
        assert_ne!(vantage::confined(), None);
    }
}

#[test]
fn the_shell_is_found_by_identity() {
    let (sandbox, root) = worktree();
    let link = sandbox.path("link");
    fs::os::unix::fs::symlink(root.join("deep"), &link).unwrap();
    let link = link.to_str().unwrap();
    run_through(&sandbox, &["env", "-C", link, "PWD=/"], "process::here_is_inside", &root);
    let gone = format!("PWD={}/deep/gone/er", root.display());
    run_through(&sandbox, &["env", &gone], "process::here_is_inside", &root);
    run_through(&sandbox, &["env", "PWD=relative"], "process::here_is_outside", &root);
}

fn is_here(root: &Path) -> bool {
    let stat = tree::stat(root).unwrap().unwrap();
    here::chain(Path::new("/")).unwrap().contains(&(stat.dev, stat.ino))
}

#[test]
#[ignore = "part of another test"]
fn here_is_inside() {
    assert!(is_here(&subject()));
    assert!(is_here(Path::new("/")));
}

#[test]
#[ignore = "part of another test"]
fn here_is_outside() {
    assert!(!is_here(&subject()));
    assert!(is_here(Path::new("/")));
}

#[test]
fn a_process_deeper_than_a_path_can_be_named_is_inside_and_hides_nobody() {
    let (sandbox, root) = worktree();
    let deep = "import os, sys, time\nfor n in range(30):\n os.mkdir('d' * 200); os.chdir('d' * 200)\nprint('ready', flush=True); time.sleep(600)";
    let mut child = Command::new("python3")
        .args(["-c", deep])
        .current_dir(&root)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (child, beside) = (Running(child), sleeping(&sandbox.path("wt/deep")));
    let link = fs::read_link(format!("/proc/{}/cwd", child.0.id())).unwrap_err();
    assert_eq!(link.kind(), std::io::ErrorKind::InvalidFilename, "it can be named: {link}");
    let mut found = uses(&root);
    found.sort_unstable();
    let mut expected =
        [(i64::from(child.0.id()), "working directory"), (i64::from(beside.0.id()), "working directory")];
    expected.sort_unstable();
    assert_eq!(found, expected);
}
