//! Which repositories `--under` finds, and that one that cannot be used keeps none of the others.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use serde_json::Value;

use crate::harness::{Run, Sandbox, codes, skip};

/// The repositories of a JSON answer, as paths from the sandbox.
fn paths(sandbox: &Sandbox, run: &Run) -> Vec<String> {
    let json = run.json();
    let all = json["repositories"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap().to_owned());
    let root = sandbox.root().to_str().unwrap().to_owned() + "/";
    all.map(|path| path.strip_prefix(&root).unwrap_or(&path).to_owned()).collect()
}

#[test]
fn canonical_repositories_are_found_wherever_they_lie_and_nothing_else() {
    let sandbox = Sandbox::mk();
    sandbox.sh(
        "",
        "mkdir store; git init -q p/checkout; git init -q --bare p/bare.git; git init -q --separate-git-dir=store/apart.git p/apart
        git init -q 'p/deep/er/a name with blanks'; git init -q p/checkout/ignored/clone; git init -q p/.hidden/x
        # A bare repository with its worktrees around it.
        git init -q --bare p/layout/.bare; echo 'gitdir: ./.bare' > p/layout/.git
        # Linked worktrees, in the checkout and outside; what lies in them is a session's.
        git -C r worktree add -q ../p/linked; git -C r worktree add -q .worktrees/w; git init -q p/linked/inside
        # A worktree whose repository is gone.
        mkdir -p p/orphan; echo 'gitdir: /nowhere/.git/worktrees/orphan' > p/orphan/.git; git init -q p/orphan/inside
        # Submodules: as git makes them now, and as it made them once.
        git -C r -c protocol.file.allow=always submodule --quiet add ../p/checkout/../../r sub 2>/dev/null
        git init -q r/old; git -C r/old -c user.name=a -c user.email=a@b commit -q --allow-empty -m i
        git -C r -c advice.addEmbeddedRepo=false submodule --quiet add ./old old
        # What looks like one and is none.
        mkdir -p p/empty/.git p/words/refs p/words/objects; echo x > p/odd-file; mkdir p/nofile; echo junk > p/nofile/.git
        # Caches, and links that lead in circles.
        git init -q p/node_modules/x; git init -q r/target/y; git init -q home/.cache/z; git init -q p/cache/c
        touch p/cache/CACHEDIR.TAG; ln -s .. p/loop; ln -s checkout p/link; ln -s /proc p/proc",
    );
    let run = sandbox.shadow("", ["list", "--json", "--under", "."]).exits(0);
    let expected = [
        "p/.hidden/x",
        "p/apart",
        "p/bare.git",
        "p/checkout",
        "p/checkout/ignored/clone",
        "p/deep/er/a name with blanks",
        "p/layout",
        "r",
    ];
    let found: Vec<String> = paths(&sandbox, &run).iter().map(|path| path.replace("/.bare", "")).collect();
    assert_eq!(found, expected);
    // Roots within roots, and one that is itself a checkout, a repository, or in a cache.
    let args = ["list", "--json", "--under", ".", "--under", "p", "--under", "r/.git", "--under", "p/node_modules"];
    let found = paths(&sandbox, &sandbox.shadow("", args).exits(0));
    assert_eq!(found.len(), expected.len() + 1, "{found:?}");
    let alone = paths(&sandbox, &sandbox.shadow("", ["list", "--json", "--under", "p/bare.git"]).exits(0));
    assert_eq!(alone, ["p/bare.git"]);
}

/// The main worktree of a repository that is kept apart from it has its branch, by whatever way it is found.
#[test]
fn a_repository_apart_from_its_checkout_keeps_the_branch_that_is_checked_out() {
    let sandbox = Sandbox::empty();
    sandbox.sh(
        "",
        "mkdir store; git init -q -b main --separate-git-dir=store/apart.git p/apart; cd p/apart; git commit -q --allow-empty -m i
        git switch -qc aos/x",
    );
    let run = sandbox.shadow("", ["list", "--json", "--under", "."]).exits(0);
    assert_eq!(run.json()["repositories"].as_array().unwrap().len(), 1);
    assert!(codes(&run.shadow("aos/x")).contains(&"checked-out".to_owned()), "{run:#?}");
}

#[test]
fn a_tree_may_be_deeper_than_a_path_is_long_and_wider_than_a_stack() {
    let sandbox = Sandbox::mk();
    // Put together of two halves: a process that has something open where no path leads holds every worktree.
    let half = "directory/".repeat(300);
    fs::create_dir_all(sandbox.path("one").join(&half)).unwrap();
    fs::create_dir_all(sandbox.path("two").join(&half)).unwrap();
    let deep = sandbox.path("one").join(&half).join("two");
    fs::rename(sandbox.path("two"), &deep).unwrap();
    let run = sandbox.shadow("", ["list", "--json", "--under", "."]);
    // Bytes later than any path the kernel takes: told, and nothing else is lost by it.
    assert_eq!(paths(&sandbox, &run.exits(0)), ["r"]);
    let said = sandbox.shadow("", ["list", "--under", "."]).stderr;
    assert!(said.contains("cannot be read, repositories in there are not told"), "{said}");
    fs::rename(&deep, sandbox.path("two")).unwrap();
}

#[test]
fn a_damaged_repository_is_not_taken_for_the_one_around_it() {
    let sandbox = Sandbox::mk();
    sandbox.landed("a");
    for (name, damage) in [("garbage", "echo junk > HEAD"), ("missing", "rm HEAD"), ("empty", ": > HEAD")] {
        sandbox.sh("r", &format!("git init -q in/{name}; cd in/{name}/.git; {damage}"));
    }
    let run = sandbox.shadow("", ["list", "--json", "--under", "."]).exits(2);
    assert_eq!(paths(&sandbox, &run), ["r", "r/in/empty", "r/in/garbage", "r/in/missing"]);
    for repository in &run.json()["repositories"].as_array().unwrap()[1..] {
        assert_eq!(repository["errors"].as_array().unwrap().len(), 1, "{repository:#}");
    }
    assert_eq!(run.shadow("aos/a")["verdict"], "release");
}

/// Whatever git says of an owner, we say; each is (what is done, whether the repository is refused).
#[test]
fn whom_git_trusts_is_trusted_and_nobody_else() {
    if !crate::other_user::root_or_skip("owners") {
        return skip("whom_git_trusts_is_trusted", "not root: chown");
    }
    for (what, refused) in [
        ("true", false),
        ("chown -R nobody r", true),
        ("chown nobody r", true),
        ("chown nobody r/.git", true),
        ("chown -R nobody r; git config --global --add safe.directory \"$PWD/r\"", false),
        ("chown -R nobody r; git config --global --add safe.directory '*'", false),
        ("chown -R nobody r; git config --global --add safe.directory \"$PWD/*\"", false),
        ("chown -R nobody r; git config --global --add safe.directory \"$PWD/other\"", true),
        (
            "chown -R nobody r; git config --global --add safe.directory '*'; git config --global --add safe.directory ''",
            true,
        ),
    ] {
        let mut sandbox = Sandbox::mk();
        sandbox.git("r", ["branch", "aos/x"]);
        sandbox.git("", ["init", "-q", "mine"]);
        sandbox.set("GIT_CONFIG_GLOBAL", sandbox.path("home/.gitconfig").to_str().unwrap());
        sandbox.sh("", what);
        assert_eq!(sandbox.git_ok("r", ["rev-parse", "--git-dir"]), !refused, "{what}: git");
        let run = sandbox.shadow("", ["list", "--json", "--under", "."]).exits(if refused { 2 } else { 0 });
        assert_eq!(paths(&sandbox, &run), ["mine", "r"], "{what}");
        let told = &run.json()["repositories"][1];
        assert_eq!(told["shadows"].as_array().unwrap().is_empty(), refused, "{what}: {told:#}");
        if refused {
            let error = &told["errors"][0];
            let place = sandbox.path("r");
            assert_eq!(error["code"], "unsafe-owner", "{what}: {error:#}");
            assert_eq!(error["remedy"], format!("git config --global --add safe.directory {}", place.display()));
            sandbox.sh("", error["remedy"].as_str().unwrap());
            sandbox.shadow("", ["list", "--under", "."]).exits(0);
        }
    }
}

/// A fleet of nobody's, run as nobody where one of the repositories is on a read-only mount. Two are well, one has a
/// corrupt HEAD, one is someone else's, one may not be read, one lies in a directory that may not be entered.
struct Mixed(Sandbox);

const ILL: [&str; 5] = ["closed", "corrupt", "forbidden", "others", "readonly"];

impl Mixed {
    fn new() -> Mixed {
        let sandbox = Sandbox::empty();
        for name in ["good1", "good2"].iter().chain(&ILL) {
            sandbox.sh(
                "",
                &format!(
                    "git init -q -b main fleet/{name}/r; cd fleet/{name}/r; echo base > f; git add f; git commit -qm base
                    git worktree add -q -b aos/w ../w; cd ../w; echo w > w; git add w; git commit -qm w; cd ../r
                    git branch aos/b; git merge -q --squash aos/w; git commit -qm 'w (#1)'
                    sed -i -E 's/> [0-9]+ /> 1600000000 /' .git/logs/refs/heads/aos/* .git/worktrees/w/logs/HEAD
                    touch -d @1600000000 .git/worktrees/w/commondir",
                ),
            );
        }
        sandbox.sh("", "echo junk > fleet/corrupt/r/.git/HEAD; mkdir own; mv fleet/others own; chmod 755 .");
        let binary = sandbox.path("git-shadow");
        fs::copy(env!("CARGO_BIN_EXE_git-shadow"), &binary).unwrap();
        sandbox.sh(
            "",
            "chown -R 65534:65534 fleet home tmp; mv own/others fleet; chmod 0 fleet/forbidden/r/.git fleet/closed/r",
        );
        Mixed(sandbox)
    }

    /// git-shadow as nobody; `None`: that cannot be done here.
    fn run(&self, args: &[&str]) -> Option<Run> {
        let script = "mount --bind fleet/readonly fleet/readonly && mount -o remount,bind,ro fleet/readonly || exit 99
            exec setpriv --reuid=65534 --regid=65534 --clear-groups -- ./git-shadow \"$@\"";
        let mut command: Command = self.0.command("unshare", self.0.root());
        command.args(["-m", "sh", "-euc", script, "sh"]).args(args).args(["--json", "--under", "fleet"]);
        let output = command.output().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let status = output.status.code().unwrap_or(-1);
        let run = Run { status, stdout: text(&output.stdout), stderr: text(&output.stderr) };
        (status != 99 && !run.stderr.contains("unshare:") && !run.stderr.contains("setpriv:")).then_some(run)
    }

    /// What is told of a repository: its errors' codes, and the verdicts of its shadows.
    fn of(run: &Run, name: &str) -> (Vec<String>, Vec<String>) {
        let json = run.json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = json["repositories"].as_array().unwrap();
        let one = all.iter().find(|r| text(&r["path"]).contains(&format!("/fleet/{name}/")));
        let one = one.unwrap_or_else(|| panic!("no '{name}': {json:#}"));
        let list = |key: &str, field: &str| one[key].as_array().unwrap().iter().map(|v| text(&v[field])).collect();
        (list("errors", "code"), list("shadows", "verdict"))
    }
}

#[test]
fn whatever_is_wrong_with_some_of_them_the_others_go_on() {
    if !crate::other_user::root_or_skip("a mixed fleet") {
        return skip("whatever_is_wrong_with_some_of_them", "not root: chown, mount and setpriv");
    }
    let mixed = Mixed::new();
    let Some(listed) = mixed.run(&["list"]) else {
        return skip("whatever_is_wrong_with_some_of_them", "mounting is not allowed here");
    };
    let listed = listed.exits(2);
    let both = vec!["release".to_owned(); 2];
    for name in ["good1", "good2"] {
        assert_eq!(Mixed::of(&listed, name), (vec![], both.clone()), "{name}: {listed:#?}");
    }
    // What only reads works there; what could not be deleted is told before anything is touched.
    let (errors, verdicts) = Mixed::of(&listed, "readonly");
    assert_eq!((errors.len(), verdicts.len()), (0, 2), "{listed:#?}");
    for name in ["closed", "corrupt", "forbidden", "others"] {
        let (errors, verdicts) = Mixed::of(&listed, name);
        assert_eq!((errors.len(), verdicts.len()), (1, 0), "{name}: {listed:#?}");
    }
    assert_eq!(Mixed::of(&listed, "others").0, ["unsafe-owner"]);

    let refs = |name: &str| fs::read_to_string(mixed.0.path(&format!("fleet/{name}/r/.git/refs/heads/aos/w")));
    let run = mixed.run(&["prune-sessions", "--yes"]).unwrap().exits(2);
    assert_eq!(run.json()["summary"]["released"], 4, "{run:#?}");
    for name in ["good1", "good2"] {
        assert!(refs(name).is_err() && !mixed.0.path(&format!("fleet/{name}/w")).exists(), "{run:#?}");
    }
    for name in ILL {
        assert_eq!(Mixed::of(&run, name).0.len(), 1, "{name}: {run:#?}");
        assert!(refs(name).is_ok() && mixed.0.path(&format!("fleet/{name}/w/w")).exists(), "{name}: {run:#?}");
    }

    // The whole run is taken back by its id, and what is wrong with the others is told again.
    let operation = run.json()["operation"].as_str().unwrap().to_owned();
    for args in [&["log"][..], &["expire"], &["explain", "aos/nothing"]] {
        let run = mixed.run(args).unwrap();
        assert!(run.status == 2 || args[0] == "explain", "{args:?}: {run:#?}");
        assert!(run.stderr.contains("fleet/corrupt") && run.stderr.contains("fleet/others"), "{args:?}: {run:#?}");
    }
    let undone = mixed.run(&["undo", &operation]).unwrap().exits(2);
    assert_eq!(undone.json()["missed"], Value::Array(vec![]), "{undone:#?}");
    for name in ["good1", "good2"] {
        assert!(refs(name).is_ok() && mixed.0.path(&format!("fleet/{name}/w/w")).exists(), "{undone:#?}");
    }
}

/// Directories of others that may not be read are told in one line and fail nothing.
#[test]
fn what_is_closed_to_this_user_is_told_and_no_failure() {
    let sandbox = Sandbox::mk();
    sandbox.sh("", "mkdir -p fleet/private1 fleet/private2; mv r fleet; chmod 755 .; chmod 700 fleet/private*");
    let binary = sandbox.path("git-shadow");
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), &binary).unwrap();
    sandbox.sh("", "chown -R 65534:65534 fleet/r home tmp 2>/dev/null || true");
    let mut command = sandbox.command("setpriv", sandbox.root());
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "./git-shadow", "list", "--under", "fleet"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("setpriv:") {
        return skip("what_is_closed_to_this_user", "not root: setpriv cannot change the user");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    let first = sandbox.path("fleet/private1");
    assert!(said.contains(&format!("warning: '{}' and 1 more cannot be read", first.display())), "{said}");
}

#[test]
fn one_operation_serves_a_whole_run_and_is_taken_back_as_one() {
    let sandbox = Sandbox::empty();
    let names = ["one", "two", "three/bare.git"];
    for name in &names[..2] {
        sandbox
            .sh("", &format!("git init -q -b main p/{name}; cd p/{name}; echo b > f; git add f; git commit -qm base"));
        sandbox.sh(
            format!("p/{name}"),
            "git worktree add -q -b aos/w .wt/w; cd .wt/w; echo w > w; git add w; git commit -qm w",
        );
        sandbox.sh(format!("p/{name}"), "git merge -q --squash aos/w; git commit -qm 'w (#1)'; git branch aos/b; ");
    }
    sandbox.git("", ["clone", "-q", "--bare", "p/one", "p/three/bare.git"]);
    let refs = || -> Vec<String> {
        let of = |name: &&str| {
            let format = ["for-each-ref", "--exclude=refs/shadow", "--format=%(refname) %(objectname)"];
            sandbox.git(format!("p/{name}"), format)
        };
        names.iter().map(of).collect()
    };
    let before = refs();
    let run = sandbox.shadow("", ["prune-sessions", "--yes", "--json", "--under", "p"]).exits(0);
    let operation = run.json()["operation"].as_str().unwrap().to_owned();
    assert_eq!(run.json()["summary"]["released"], 3, "{run:#?}");
    let log = sandbox.shadow("", ["log", "--json", "--under", "p"]).exits(0).json();
    let logged: Vec<_> = log["operations"].as_array().unwrap().clone();
    assert!(logged.len() == 3 && logged.iter().all(|one| one["operation"] == operation.as_str()), "{log:#}");
    let told: BTreeSet<_> = logged.iter().map(|one| one["repository"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told.len(), 3);
    let text = sandbox.shadow("", ["log", "--under", "p"]).exits(0).stdout;
    assert!(text.contains("  in p/three/bare.git\n"), "{text}");
    assert!(!sandbox.shadow("p/one", ["log"]).exits(0).stdout.contains("  in "), "one repository needs no name");
    sandbox.shadow("", ["undo", &operation, "--under", "p"]).exits(0);
    assert_eq!(refs(), before);
    assert!(sandbox.path("p/one/.wt/w/w").exists() && sandbox.path("p/two/.wt/w/w").exists());
    // Nothing is left of it, and there is no other.
    sandbox.shadow("", ["undo", &operation, "--under", "p"]).exits(1);
    sandbox.shadow("", ["undo", "--under", "p"]).exits(1);
    assert!(Path::new(&sandbox.path("p/one/.git/refs/heads/aos/w")).exists());
}
