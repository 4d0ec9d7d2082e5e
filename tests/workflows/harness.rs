//! A sandbox: a folder with its own home, temp folder and git configuration, in which the tests make repositories
//! with real git and run the real binary.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;

use fs_err as fs;
use serde_json::Value;

pub use crate::image::{Tree, set_mtime};

/// A folder of its own for one test; gone at the end of it.
pub struct Sandbox {
    root: PathBuf,
    env: BTreeMap<String, String>,
    _dir: tempfile::TempDir,
}

/// How a run of git-shadow ended.
#[derive(Debug)]
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    fn of(output: Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Its answer, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON ({e}): {self:#?}"))
    }

    /// It must have ended with this status.
    #[track_caller]
    pub fn exits(self, status: i32) -> Run {
        assert_eq!(self.status, status, "exit status of {self:#?}");
        self
    }

    /// Every shadow of every repository in its JSON answer.
    pub fn shadows(&self) -> Vec<Value> {
        let json = self.json();
        let repositories = json["repositories"].as_array().unwrap_or_else(|| panic!("no repositories: {json:#}"));
        repositories.iter().flat_map(|r| r["shadows"].as_array().cloned().unwrap_or_default()).collect()
    }

    /// The shadow of this name in its JSON answer.
    #[track_caller]
    pub fn shadow(&self, name: &str) -> Value {
        let shadows = self.shadows();
        let names: Vec<_> = shadows.iter().map(|s| s["name"].to_string()).collect();
        let found = shadows.iter().find(|s| s["name"] == name).cloned();
        found.unwrap_or_else(|| panic!("no shadow '{name}' among {names:?}; stderr: {}", self.stderr))
    }
}

/// The codes of a shadow's holds.
pub fn codes(shadow: &Value) -> Vec<String> {
    let holds = shadow["holds"].as_array().unwrap_or_else(|| panic!("no holds: {shadow:#}"));
    holds.iter().map(|h| h["code"].as_str().unwrap_or_default().to_owned()).collect()
}

impl Sandbox {
    /// An empty one.
    pub fn empty() -> Sandbox {
        let dir = tempfile::Builder::new().prefix("git-shadow-test-").tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let mut env = BTreeMap::new();
        let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
        for (key, name) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "home/.config"),
            ("XDG_CACHE_HOME", "home/.cache"),
            ("XDG_STATE_HOME", "home/.local/state"),
            ("XDG_DATA_HOME", "home/.local/share"),
            ("XDG_RUNTIME_DIR", "home/run"),
            ("TMPDIR", "tmp"),
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
            env.insert(key.to_owned(), at(name));
        }
        for (key, value) in [
            ("PATH", std::env::var("PATH").unwrap().as_str()),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Sample Writer"),
            ("GIT_AUTHOR_EMAIL", "writer@example.com"),
            ("GIT_COMMITTER_NAME", "Sample Writer"),
            ("GIT_COMMITTER_EMAIL", "writer@example.com"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // Maintenance goes on in the background, inside the worktree, and that holds it.
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "maintenance.auto"),
            ("GIT_CONFIG_VALUE_0", "false"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
        ] {
            env.insert(key.to_owned(), value.to_owned());
        }
        Sandbox { root, env, _dir: dir }
    }

    /// With a repository `r` that has one commit on `main` (in the cases: `mk`).
    pub fn mk() -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.git(sandbox.root(), ["init", "-q", "-b", "main", "r"]);
        sandbox.write("r/f", "base\n");
        sandbox.commit("r", "base");
        sandbox
    }

    /// Its folder, resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The repository `r`.
    pub fn repo(&self) -> PathBuf {
        self.path("r")
    }

    /// An environment variable for everything that is run from now on.
    pub fn set(&mut self, key: &str, value: impl AsRef<str>) {
        self.env.insert(key.to_owned(), value.as_ref().to_owned());
    }

    /// No such variable from now on.
    pub fn unset(&mut self, key: &str) {
        self.env.remove(key);
    }

    /// A command in the sandbox's environment, with nothing on standard input.
    pub fn command(&self, program: impl AsRef<OsStr>, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear().envs(&self.env).stdin(Stdio::null());
        command
    }

    fn checked(&self, mut command: Command) -> String {
        let output = command.output().unwrap();
        let run = Run::of(output);
        assert_eq!(run.status, 0, "{command:?} failed: {run:#?}");
        run.stdout.trim_end().to_owned()
    }

    /// Run git in `dir`; it must succeed. What it printed, without the last line feed.
    pub fn git<S: AsRef<OsStr>>(&self, dir: impl AsRef<Path>, args: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command("git", &self.root.join(dir));
        command.args(args);
        self.checked(command)
    }

    /// Whether git succeeds with this.
    pub fn git_ok<S: AsRef<OsStr>>(&self, dir: impl AsRef<Path>, args: impl IntoIterator<Item = S>) -> bool {
        self.command("git", &self.root.join(dir)).args(args).output().unwrap().status.success()
    }

    /// Run a shell script in `dir`; it must succeed.
    pub fn sh(&self, dir: impl AsRef<Path>, script: &str) -> String {
        let mut command = self.command("bash", &self.root.join(dir));
        command.args(["-euo", "pipefail", "-c", script]);
        self.checked(command)
    }

    /// Write a file, with its directories.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// Commit all that is there (in the cases: `ci`).
    pub fn commit(&self, dir: impl AsRef<Path>, message: &str) -> String {
        let dir = dir.as_ref();
        self.git(dir, ["add", "-A"]);
        self.git(dir, ["commit", "-qm", message]);
        self.git(dir, ["rev-parse", "HEAD"])
    }

    /// A bare `origin` that has `main`.
    pub fn origin(&self) {
        self.git("", ["init", "-q", "--bare", "-b", "main", "o.git"]);
        self.sh("r", "git remote add origin ../o.git; git push -qu origin main; git remote set-head origin main");
    }

    /// A shadow `aos/x` with its worktree beside the repository.
    pub fn wt(&self, x: &str) {
        self.git("r", ["worktree", "add", "-q", "-b", &format!("aos/{x}"), &format!("../{x}")]);
    }

    /// A commit in the worktree `x` that adds a file `x.txt`.
    pub fn ci(&self, x: &str) -> String {
        let file = self.path(x).join(format!("{x}.txt"));
        let before = fs::read_to_string(&file).unwrap_or_default();
        self.write(file, format!("{before}work of {x}\n"));
        self.commit(x, x)
    }

    /// Squash-merge `aos/x` on `main`, as a forge does.
    pub fn squash(&self, x: &str) -> String {
        self.git("r", ["merge", "-q", "--squash", &format!("aos/{x}")]);
        self.git("r", ["commit", "-qm", &format!("{x} (#1)")]);
        self.git("r", ["rev-parse", "HEAD"])
    }

    /// A shadow with a commit that was squash-merged.
    pub fn landed(&self, x: &str) -> String {
        self.wt(x);
        self.ci(x);
        self.squash(x)
    }

    /// Make the shadow `aos/x` look as if nothing had happened in it for so many hours.
    pub fn age(&self, x: &str, hours: u64) {
        let logs = self.path("r/.git/logs/refs/heads/aos").join(x);
        age_reflog(&logs, hours);
        let admin = self.path("r/.git/worktrees").join(x);
        age_reflog(&admin.join("logs/HEAD"), hours);
        if admin.exists() {
            set_mtime(&admin.join("commondir"), hours);
        }
    }

    /// The same for one reflog.
    pub fn age_log(&self, log: &Path, hours: u64) {
        age_reflog(log, hours);
    }

    /// Run git-shadow in `dir`.
    pub fn shadow<S: AsRef<OsStr>>(&self, dir: impl AsRef<Path>, args: impl IntoIterator<Item = S>) -> Run {
        let mut command = self.command(env!("CARGO_BIN_EXE_git-shadow"), &self.root.join(dir));
        Run::of(command.args(args).output().unwrap())
    }

    /// Run git-shadow in the repository and read its JSON answer.
    pub fn json(&self, args: &[&str]) -> Run {
        let run = self.shadow("r", args.iter().chain(&["--json"]));
        run.json();
        run
    }

    /// What `list` says of a shadow.
    #[track_caller]
    pub fn shadow_json(&self, name: &str) -> Value {
        self.json(&["list"]).shadow(name)
    }

    /// The codes that `list` gives for a shadow.
    #[track_caller]
    pub fn holds(&self, name: &str) -> Vec<String> {
        codes(&self.shadow_json(name))
    }

    /// `prune-sessions --yes` in the repository, which must succeed.
    #[track_caller]
    pub fn prune(&self) -> Run {
        self.json(&["prune-sessions", "--yes"]).exits(0)
    }

    /// Whether the branch exists.
    pub fn has_branch(&self, name: &str) -> bool {
        self.git_ok("r", ["rev-parse", "-q", "--verify", &format!("refs/heads/{name}")])
    }

    /// `aos/x` is gone: worktree, registration, branch, config section.
    #[track_caller]
    pub fn assert_released(&self, x: &str) {
        let report = || format!("{:#}", self.json(&["list"]).json());
        assert!(!self.has_branch(&format!("aos/{x}")), "branch aos/{x} is still there\n{}", report());
        assert!(!self.path(x).exists(), "worktree {x} is still there\n{}", report());
        assert!(!self.path("r/.git/worktrees").join(x).exists(), "registration {x} is still there\n{}", report());
        let section = self.git_ok("r", ["config", "--get-regexp", &format!("^branch\\.aos/{x}\\.")]);
        assert!(!section, "branch.aos/{x}.* is still configured");
    }

    /// `list` holds `aos/x` with this code, and a real run leaves every byte of it where it is.
    #[track_caller]
    pub fn assert_held(&self, x: &str, code: &str) {
        let name = format!("aos/{x}");
        let shadow = self.shadow_json(&name);
        assert_eq!(shadow["verdict"], "held", "{shadow:#}");
        assert!(codes(&shadow).iter().any(|c| c == code), "no hold '{code}': {shadow:#}");
        self.assert_kept(x);
    }

    /// A real run leaves branch, registration and every byte of the worktree of `aos/x` where they are.
    #[track_caller]
    pub fn assert_kept(&self, x: &str) {
        let admin = self.path("r/.git/worktrees").join(x);
        let tip = self.git("r", ["for-each-ref", "--format=%(objectname)", &format!("refs/heads/aos/{x}")]);
        let before = (Tree::of(&self.path(x)), Tree::of(&admin), tip);
        let run = self.prune();
        let tip = self.git("r", ["for-each-ref", "--format=%(objectname)", &format!("refs/heads/aos/{x}")]);
        let after = (Tree::of(&self.path(x)), Tree::of(&admin), tip);
        assert_eq!(before.0.changes(&after.0), [""; 0], "worktree {x}; {run:#?}");
        assert_eq!(before.1.changes(&after.1), [""; 0], "registration {x}; {run:#?}");
        assert_eq!(before.2, after.2, "branch aos/{x}; {run:#?}");
    }

    /// Everything of the sandbox that a dry run must leave alone: all but the home and temp folders.
    pub fn image(&self) -> Tree {
        let mut tree = Tree::of(&self.root);
        tree.0.retain(|path, _| !path.starts_with("home") && !path.starts_with("tmp") && path != Path::new(""));
        tree
    }
}

/// Set the time of every entry of a reflog.
fn age_reflog(log: &Path, hours: u64) {
    let Ok(text) = fs::read(log) else { return };
    let then = UNIX_EPOCH.elapsed().unwrap().as_secs() - hours * 3600;
    let mut aged = Vec::new();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let at = line.windows(2).position(|w| w == b"> ").unwrap() + 2;
        let end = at + line[at..].iter().position(|&b| b == b' ').unwrap();
        aged.extend_from_slice(&line[..at]);
        aged.extend_from_slice(then.to_string().as_bytes());
        aged.extend_from_slice(&line[end..]);
    }
    fs::write(log, aged).unwrap();
}

/// Tell that this test, or a part of it, cannot be run here. libtest knows no skipped tests, so the reason is also
/// appended to a file that `.ci/run` shows at the end.
pub fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped.txt");
    let mut log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    writeln!(log, "skipped: {what}: {why}").unwrap();
}

/// Write a script that can be run.
pub fn executable(sandbox: &Sandbox, name: impl AsRef<Path>, content: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.path(name.as_ref().to_str().unwrap());
    // A link there stays what it leads to.
    let _ = fs::remove_file(&path);
    sandbox.write(&path, content);
    fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
