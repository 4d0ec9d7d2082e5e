//! The repository's lock, and files that are whole whenever the machine stops.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use git_shadow::sys::file::{Access, write_atomically};
use git_shadow::sys::lock::exclusive;
use std::os::unix::fs::PermissionsExt;

use crate::harness::Sandbox;
use crate::other_user::{NOBODY, root_or_skip, run_through, subject};

const NOW: Duration = Duration::ZERO;
const SOON: Duration = Duration::from_millis(50);

#[test]
fn one_at_a_time_has_the_lock() {
    let sandbox = Sandbox::empty();
    let path = sandbox.path("r/.git/shadow/lock");
    let held = exclusive(&path, NOW).unwrap();
    for patience in [NOW, SOON] {
        assert_eq!(exclusive(&path, patience).unwrap_err().code, "lock-busy");
    }
    drop(held);
    let held = exclusive(&path, NOW).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    drop(exclusive(&path, NOW).unwrap());
    drop(held);
}

#[test]
fn the_lock_is_no_link() {
    let sandbox = Sandbox::empty();
    fs::os::unix::fs::symlink(sandbox.path("elsewhere"), sandbox.path("lock")).unwrap();
    assert_eq!(exclusive(&sandbox.path("lock"), NOW).unwrap_err().code, "lock");
    assert!(!sandbox.path("elsewhere").exists());
}

#[test]
fn where_nothing_can_be_written_there_is_no_lock() {
    if !root_or_skip("read-only") {
        return;
    }
    let sandbox = Sandbox::empty();
    fs::set_permissions(sandbox.root(), PermissionsExt::from_mode(0o755)).unwrap();
    fs::create_dir(sandbox.path("mine")).unwrap();
    let wrapper = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    run_through(&sandbox, &wrapper, "files::no_lock_here", &sandbox.path("mine"));
    let read_only =
        format!("mount --bind {0} {0}; mount -o remount,bind,ro {0}; exec \"$@\"", sandbox.path("mine").display());
    let wrapper = ["unshare", "-m", "sh", "-euc", &read_only, "sh"];
    run_through(&sandbox, &wrapper, "files::no_lock_here", &sandbox.path("mine"));
}

#[test]
#[ignore = "part of another test"]
fn no_lock_here() {
    let error = exclusive(&subject().join("shadow/lock"), NOW).unwrap_err();
    assert_eq!((error.code, error.exit.code()), ("read-only", 128), "{error:?}");
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let sandbox = Sandbox::empty();
    sandbox.write("d/target", "of the link");
    let (dir, path) = (sandbox.path("d"), sandbox.path("d/file"));
    fs::os::unix::fs::symlink("target", &path).unwrap();
    write_atomically(&path, b"one", Access::Owner).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read(dir.join("target")).unwrap(), b"of the link");
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    write_atomically(&path, b"two", Access::Umask).unwrap();
    assert_eq!(names(&dir), ["file", "target"]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(write_atomically(&path, b"three", Access::Umask).is_err());
    assert_eq!(names(&dir), ["file", "target"], "nothing is left of what failed");
    assert!(write_atomically(&sandbox.path("nowhere/file"), b"", Access::Umask).is_err());
}
