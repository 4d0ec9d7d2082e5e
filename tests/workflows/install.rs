//! The installer: what it puts where, under every shell, and that it takes out just that.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::harness::{Run, Sandbox, Tree, executable, skip};
use crate::other_user::{NOBODY, root_or_skip};

const SHELLS: [&[&str]; 3] = [&["dash"], &["bash"], &["busybox", "sh"]];

/// A release beside a copy of the installer: the program that was built for the tests, and the manual.
fn kit(sandbox: &Sandbox) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(sandbox.path("kit/man")).unwrap();
    fs::copy(root.join("install.sh"), sandbox.path("kit/install.sh")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), sandbox.path("kit/git-shadow")).unwrap();
    for page in fs::read_dir(root.join("man")).unwrap() {
        let page = page.unwrap().path();
        fs::copy(&page, sandbox.path("kit/man").join(page.file_name().unwrap())).unwrap();
    }
}

/// A release of which only the size is not real: the program prints its version where completion scripts are asked for.
fn small_kit(version: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(sandbox.path("kit")).unwrap();
    fs::copy(root.join("install.sh"), sandbox.path("kit/install.sh")).unwrap();
    release(&sandbox, version);
    sandbox
}

fn release(sandbox: &Sandbox, version: &str) {
    executable(sandbox, "kit/git-shadow", &format!("#!/bin/sh\necho {version} \"$2\"\n"));
    sandbox.write("kit/man/git-shadow.1", format!(".TH {version}\n"));
}

fn run(sandbox: &Sandbox, shell: &[&str], args: &[&str]) -> Run {
    let mut command = sandbox.command(shell[0], sandbox.root());
    let output = command.args(&shell[1..]).arg("kit/install.sh").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn install(sandbox: &Sandbox, args: &[&str]) -> Run {
    run(sandbox, &["sh"], args)
}

/// The home and temp folders, without the times of the directories.
fn homes(sandbox: &Sandbox) -> (Tree, Tree) {
    let of = |name: &str| {
        let mut tree = Tree::of(&sandbox.path(name));
        tree.0.retain(|path, _| path != Path::new(""));
        for entry in tree.0.values_mut().filter(|entry| entry.mode & 0o170_000 == 0o040_000) {
            entry.mtime = (0, 0);
        }
        tree
    };
    (of("home"), of("tmp"))
}

fn is_there(sandbox: &Sandbox, program: &str) -> bool {
    let found = sandbox.command("sh", sandbox.root()).args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        skip(&format!("the installer with {program}"), "it is not installed");
    }
    found.status.success()
}

#[test]
fn under_every_shell_it_installs_changes_nothing_again_and_takes_all_of_it_out() {
    for shell in SHELLS {
        let mut sandbox = Sandbox::empty();
        if !is_there(&sandbox, shell[0]) {
            continue;
        }
        kit(&sandbox);
        sandbox.write("home/.local/bin/another", "not ours\n");
        let empty = homes(&sandbox);
        let said = run(&sandbox, shell, &[]).exits(0);
        assert!(said.stdout.contains("export PATH="), "{said:#?}");
        let installed = homes(&sandbox);
        let said = run(&sandbox, shell, &[]).exits(0);
        assert!(said.stdout.contains("installed already"), "{said:#?}");
        assert_eq!(installed, homes(&sandbox), "{shell:?}");

        let path = format!("{}:{}", sandbox.path("home/.local/bin").display(), std::env::var("PATH").unwrap());
        sandbox.set("PATH", path);
        assert!(run(&sandbox, shell, &[]).exits(0).stdout.contains("run it as 'git shadow'"));
        finds_all(&sandbox);

        let said = run(&sandbox, shell, &["--uninstall"]).exits(0);
        assert!(said.stdout.contains("removed ") && said.stdout.contains("refs/shadow/kept"), "{said:#?}");
        assert_eq!(empty, homes(&sandbox), "{shell:?}");
        run(&sandbox, shell, &["--uninstall"]).exits(1);
    }
}

/// Git finds the program, man its manual, and each shell its completion.
fn finds_all(sandbox: &Sandbox) {
    assert!(sandbox.git("", ["shadow", "-h"]).contains("prune-sessions"));
    if is_there(sandbox, "man") {
        let page = sandbox.sh("", "man -w git-shadow");
        assert_eq!(fs::canonicalize(page).unwrap(), sandbox.path("home/.local/share/man/man1/git-shadow.1"));
        assert!(sandbox.git("", ["shadow", "--help"]).contains("GIT-SHADOW(1)"));
    }
    let bash = "/usr/share/bash-completion/bash_completion";
    if Path::new(bash).exists() {
        let script = format!("set +eu; . {bash}; _completion_loader git-shadow; complete -p git-shadow");
        assert!(sandbox.sh("", &script).contains("__git_shadow_alone"));
    } else {
        skip("completion as installed, in bash", "bash-completion is not installed");
    }
    if is_there(sandbox, "fish") {
        assert!(sandbox.sh("", "fish -c 'complete -C \"git-shadow prune\"'").contains("prune-sessions"));
    }
    if is_there(sandbox, "zsh") {
        let script = "fpath=(~/.local/share/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D; \
                      print $_comps[git-shadow]";
        assert_eq!(sandbox.sh("", &format!("zsh -fc '{script}'")), "_git-shadow");
    }
    // What the shells left.
    sandbox.sh("", "rm -rf home/.cache/* home/.local/share/fish/fish_history home/.config/fish home/run/*");
    sandbox.sh("", "rmdir home/.local/share/fish/generated_completions 2>/dev/null || :");
}

#[test]
fn the_user_s_data_folder_and_a_prefix_are_heeded() {
    let mut sandbox = small_kit("one");
    sandbox.set("XDG_DATA_HOME", sandbox.path("home/data with space").to_str().unwrap());
    let empty = homes(&sandbox);
    install(&sandbox, &[]).exits(0);
    assert!(sandbox.path("home/data with space/bash-completion/completions/git-shadow").exists());
    assert!(sandbox.path("home/data with space/fish/vendor_completions.d/git-shadow.fish").exists());
    sandbox.unset("XDG_DATA_HOME");
    install(&sandbox, &["--uninstall"]).exits(0);
    assert_eq!(empty, homes(&sandbox));

    let said = install(&sandbox, &["--prefix", "home/else where"]).exits(0);
    assert!(said.stdout.contains("hint: for completion in bash and fish: export XDG_DATA_DIRS="), "{said:#?}");
    for name in ["bin/git-shadow", "share/man/man1/git-shadow.1", "share/bash-completion/completions/git-shadow"] {
        assert!(sandbox.path("home/else where").join(name).exists(), "{name}");
    }
    assert!(!sandbox.path("home/.local/bin").exists());
    let other = install(&sandbox, &["--uninstall"]).exits(1);
    assert!(other.stderr.contains("--prefix"), "{other:#?}");
    install(&sandbox, &["--uninstall", "--prefix=home/else where"]).exits(0);
    assert_eq!(empty, homes(&sandbox));
}

#[test]
fn a_new_version_replaces_the_old_one_and_its_pages() {
    let sandbox = small_kit("one");
    let empty = homes(&sandbox);
    sandbox.write("kit/man/git-shadow-old.1", ".TH old\n");
    install(&sandbox, &[]).exits(0);
    fs::remove_file(sandbox.path("kit/man/git-shadow-old.1")).unwrap();
    release(&sandbox, "two");
    let said = install(&sandbox, &[]).exits(0);
    assert!(said.stdout.contains("removed 1 manual pages"), "{said:#?}");
    assert_eq!(sandbox.read("home/.local/share/zsh/site-functions/_git-shadow"), "two zsh\n");
    assert_eq!(sandbox.read("home/.local/share/man/man1/git-shadow.1"), ".TH two\n");
    assert!(!sandbox.path("home/.local/share/man/man1/git-shadow-old.1").exists());
    install(&sandbox, &["--uninstall"]).exits(0);
    assert_eq!(empty, homes(&sandbox));
}

#[test]
fn what_somebody_else_put_there_stays() {
    let theirs = ["home/.local/bin/git-shadow", "home/.local/share/zsh/site-functions/_git-shadow"];
    for name in theirs {
        let sandbox = small_kit("one");
        sandbox.write(name, "theirs\n");
        let before = homes(&sandbox);
        let said = install(&sandbox, &[]).exits(1);
        assert!(said.stderr.contains(name) && said.stderr.contains("nothing was installed"), "{said:#?}");
        assert_eq!(before, homes(&sandbox));
    }
    // A link, also one that leads nowhere.
    let sandbox = small_kit("one");
    fs::create_dir_all(sandbox.path("home/.local/bin")).unwrap();
    std::os::unix::fs::symlink("nowhere", sandbox.path(theirs[0])).unwrap();
    let before = homes(&sandbox);
    install(&sandbox, &[]).exits(1);
    assert_eq!(before, homes(&sandbox));

    // The same bytes: nothing to do, and nothing to take out.
    let sandbox = small_kit("one");
    sandbox.write(theirs[1], "one zsh\n");
    let before = homes(&sandbox);
    install(&sandbox, &[]).exits(0);
    install(&sandbox, &["--uninstall"]).exits(0);
    assert_eq!(before, homes(&sandbox));

    // Changed since it was installed.
    install(&sandbox, &[]).exits(0);
    sandbox.write(theirs[0], "mine now\n");
    install(&sandbox, &[]).exits(1);
    let said = install(&sandbox, &["--uninstall"]).exits(0);
    assert!(said.stdout.contains("stays: ") && said.stdout.contains("not as it was installed"), "{said:#?}");
    // The small program says something other than 'absent' where it is asked for a timer.
    let said = install(&sandbox, &["--prefix", "home/elsewhere"]).exits(0);
    assert!(said.stdout.contains("installed "), "{said:#?}");
    let said = install(&sandbox, &["--prefix", "home/elsewhere", "--uninstall"]).exits(0);
    assert!(said.stdout.contains("stays: the timer that calls it: one status"), "{said:#?}");
    assert_eq!(sandbox.read(theirs[0]), "mine now\n");
}

#[test]
fn hooks_of_the_repository_at_hand_are_installed_and_taken_out() {
    let sandbox = Sandbox::mk();
    kit(&sandbox);
    install(&sandbox, &["--hooks"]).exits(1);
    assert!(!sandbox.path("home/.local/bin").exists(), "there is no repository, so nothing is installed");
    let before = Tree::of(&sandbox.path("r/.git/hooks")).0.into_keys().collect::<Vec<_>>();
    let in_repository = |args: &[&str]| {
        let status = sandbox.command("sh", &sandbox.repo()).arg("../kit/install.sh").args(args).status().unwrap();
        assert!(status.success(), "{args:?}");
        Tree::of(&sandbox.path("r/.git/hooks")).0.into_keys().collect::<Vec<PathBuf>>()
    };
    for _ in 0..2 {
        let hooks = in_repository(&["--hooks"]);
        assert!(hooks.contains(&"post-merge".into()) && hooks.contains(&"pre-push".into()), "{hooks:?}");
    }
    assert_eq!(in_repository(&["--uninstall"]), before);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_installed() {
    let mut sandbox = small_kit("one");
    sandbox.write("home/file", "");
    let before = homes(&sandbox);
    let fails = |sandbox: &Sandbox, args: &[&str], status: i32, why: &str| {
        let said = install(sandbox, args).exits(status);
        assert!(said.stderr.contains(why) && said.stderr.contains("error: "), "'{why}' is not told: {said:#?}");
        assert_eq!(before, homes(sandbox), "{args:?}");
    };
    fails(&sandbox, &["--everywhere"], 129, "unknown option '--everywhere'");
    fails(&sandbox, &["--prefix"], 129, "needs a directory");
    fails(&sandbox, &["--prefix="], 129, "--prefix=");
    fails(&sandbox, &["--uninstall", "--demo"], 129, "'--uninstall'");
    fails(&sandbox, &["--prefix=~/below"], 1, "--prefix \"$HOME/below\"");
    fails(&sandbox, &["--prefix", "home/file/below"], 1, "cannot be made");
    install(&sandbox, &["--help"]).exits(0);

    fs::set_permissions(sandbox.path("kit/git-shadow"), std::fs::Permissions::from_mode(0o644)).unwrap();
    fails(&sandbox, &[], 1, "may not be run");
    executable(&sandbox, "kit/git-shadow", "#!/nowhere/at/all\n");
    fails(&sandbox, &[], 1, "does not run here");
    fs::remove_file(sandbox.path("kit/git-shadow")).unwrap();
    fails(&sandbox, &[], 1, "neither a binary");

    // A checkout, and of what it needs only some.
    sandbox.write("kit/Cargo.toml", "");
    let tools = "for tool in sh dirname mktemp sed rm cat sort rmdir; do ln -s \"$(command -v $tool)\" tools/; done";
    sandbox.sh("", &format!("mkdir tools old; {tools}"));
    let path = sandbox.path("tools").to_str().unwrap().to_owned();
    sandbox.set("PATH", &path);
    fails(&sandbox, &[], 1, "git is not in PATH");
    for (version, fits) in
        [("2.39.5 (Apple Git-154)", false), ("1.99.0", false), ("2.40.0", true), ("2.100.0", true), ("3.0.rc1", true)]
    {
        executable(&sandbox, "tools/git", &format!("#!/bin/sh\necho 'git version {version}'\n"));
        fails(&sandbox, &[], 1, if fits { "cargo is not in PATH" } else { "is too old" });
    }
    executable(&sandbox, "tools/cargo", "#!/bin/sh\nexit 101\n");
    fails(&sandbox, &[], 1, "cc is not in PATH");
}

#[test]
fn a_prefix_of_somebody_else_is_left_alone() {
    if !root_or_skip("a_prefix_of_somebody_else_is_left_alone") {
        return;
    }
    let sandbox = small_kit("one");
    sandbox.sh("", "chmod a+rx . kit; chmod 1777 tmp");
    let before = homes(&sandbox);
    let nobody = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "sh"];
    let said = run(&sandbox, &nobody, &[]).exits(1);
    assert!(said.stderr.contains("cannot be made"), "{said:#?}");
    assert_eq!(before, homes(&sandbox));
    sandbox.sh("", "mkdir -p home/.local/bin");
    let before = homes(&sandbox);
    let said = run(&sandbox, &nobody, &[]).exits(1);
    assert!(said.stderr.contains("cannot be written; nothing was installed"), "{said:#?}");
    assert_eq!(before, homes(&sandbox));
}

#[test]
fn on_a_full_disk_the_version_before_stays_whole() {
    let sandbox = small_kit("one");
    // What a limit on the size of files does is what a full disk does.
    let full = ["bash", "-c", "trap '' XFSZ; ulimit -f 8; exec sh \"$@\"", "bash"];
    for installed in [false, true] {
        if installed {
            install(&sandbox, &[]).exits(0);
        }
        let before = homes(&sandbox);
        release(&sandbox, "two");
        sandbox.write("kit/man/shadowrc.5", [b'x'; 100_000]);
        let said = run(&sandbox, &full, &[]).exits(1);
        assert!(said.stderr.contains("shadowrc.5' cannot be written; nothing was installed"), "{said:#?}");
        assert_eq!(before, homes(&sandbox));
        fs::remove_file(sandbox.path("kit/man/shadowrc.5")).unwrap();
        release(&sandbox, "one");
    }
}

#[test]
fn killed_at_any_rename_the_next_run_installs_all_and_the_one_after_takes_all_out() {
    for nth in 1..=6 {
        let mut sandbox = small_kit("one");
        let empty = homes(&sandbox);
        let path = std::env::var("PATH").unwrap();
        let kill = format!("echo >>count; [ $(wc -l <count) -lt {nth} ] || kill -9 $PPID; PATH={path} exec mv \"$@\"");
        executable(&sandbox, "bin/mv", &format!("#!/bin/sh\n{kill}\n"));
        sandbox.set("PATH", format!("{}:{path}", sandbox.path("bin").display()));
        install(&sandbox, &[]).exits(-1);
        sandbox.set("PATH", &path);
        let killed = homes(&sandbox);
        release(&sandbox, "two");
        install(&sandbox, &[]).exits(0);
        assert_eq!(sandbox.read("home/.local/share/man/man1/git-shadow.1"), ".TH two\n", "{killed:?}");
        install(&sandbox, &["--uninstall"]).exits(0);
        sandbox.sh("", "rm -rf tmp/git-shadow-install.*");
        assert_eq!(empty, homes(&sandbox), "killed at rename {nth}");
    }
}
