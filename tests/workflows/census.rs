//! The census against counts made by hand with git, `stat` and `du`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fs_err as fs;
use serde_json::Value;

use crate::harness::{Run, Sandbox, set_mtime, skip};

/// A generated fleet.
fn fleet() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    sandbox.set("AOS_NATIVE_STATE_DIR", sandbox.path("fleet/state").to_str().unwrap());
    sandbox.set("AOS_NATIVE_SESSIONS_DIR", sandbox.path("fleet/sessions").to_str().unwrap());
    let make = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/make_fleet.py");
    let size = "--repos 4 --branches 40 --worktrees 22 --files 30 --commits 20 --sessions 8";
    let made =
        sandbox.command("python3", sandbox.root()).arg(make).arg("fleet").args(size.split(' ')).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    sandbox
}

/// What git and the files say.
#[derive(Debug, Default)]
struct ByHand {
    branches: usize,
    ours: usize,
    registrations: usize,
    checked_out: usize,
    /// When each branch or its worktree came to be.
    created: BTreeMap<(PathBuf, String), i64>,
    worktrees: Vec<PathBuf>,
}

impl ByHand {
    fn count(sandbox: &Sandbox, below: &str) -> ByHand {
        let mut counted = ByHand::default();
        let found = sandbox.sh(below, "find . -name .git -type d");
        for repo in found.lines().map(|line| sandbox.path(below).join(Path::new(line).parent().unwrap())) {
            let repo = fs::canonicalize(repo).unwrap();
            let heads = sandbox.git(&repo, ["for-each-ref", "--format=%(refname)", "refs/heads"]);
            counted.branches += heads.lines().count();
            for name in heads.lines().filter_map(|head| head.strip_prefix("refs/heads/aos/")) {
                counted.ours += 1;
                let log = repo.join(".git/logs/refs/heads/aos").join(name);
                let first = fs::read_to_string(log).unwrap_or_default();
                let time =
                    first.lines().next().and_then(|line| line.split_once("> ")?.1.split(' ').next()?.parse().ok());
                counted.created.extend(time.map(|time: i64| ((repo.clone(), format!("aos/{name}")), time)));
            }
            let list = sandbox.git(&repo, ["worktree", "list", "--porcelain"]);
            for record in list.split("\n\n").skip(1) {
                counted.registrations += 1;
                let path = PathBuf::from(record.lines().next().unwrap().strip_prefix("worktree ").unwrap());
                let branch = record.lines().find_map(|line| line.strip_prefix("branch refs/heads/"));
                counted.checked_out += usize::from(branch.is_some());
                let admin = repo.join(".git/worktrees").join(path.file_name().unwrap());
                let made = fs::metadata(admin.join("commondir")).unwrap().mtime();
                if let Some(branch) = branch {
                    let known = counted.created.entry((repo.clone(), branch.to_owned())).or_insert(made);
                    *known = made.min(*known);
                }
                counted.worktrees.extend(path.exists().then_some(path));
            }
        }
        counted
    }

    /// `du` of all worktrees together.
    fn du(&self, sandbox: &Sandbox) -> u64 {
        let mut du = sandbox.command("du", sandbox.root());
        let output = du.args(["-scx", "--block-size=1"]).args(&self.worktrees).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().last().unwrap().split('\t').next().unwrap().parse().unwrap()
    }
}

fn number(json: &Value, key: &str) -> usize {
    usize::try_from(json[key].as_u64().unwrap_or_else(|| panic!("no '{key}': {json:#}"))).unwrap()
}

#[test]
fn it_is_what_git_and_du_say() {
    let sandbox = fleet();
    // Two more of this hour, one beside them without a reflog, a foreign worktree and a failing repository.
    let repo = sandbox.sh("fleet/projects", "find . -name .git -type d | sort | head -n 1 | xargs dirname");
    let repo = sandbox.path("fleet/projects").join(repo);
    sandbox.git(&repo, ["worktree", "add", "-q", "-b", "aos/new/one", "../../../sessions/new1"]);
    sandbox.git(&repo, ["branch", "aos/new/two"]);
    sandbox.git(&repo, ["branch", "aos/new/without"]);
    fs::remove_file(repo.join(".git/logs/refs/heads/aos/new/without")).unwrap();
    sandbox.git(&repo, ["worktree", "add", "-q", "-b", "mine", "../mine"]);
    // An old branch that has a new worktree is not new.
    sandbox.git(&repo, ["branch", "aos/old"]);
    sandbox.age_log(&repo.join(".git/logs/refs/heads/aos/old"), 24 * 400);
    sandbox.git(&repo, ["worktree", "add", "-q", "../../../sessions/old", "aos/old"]);
    sandbox.sh("fleet/projects", "git init -q broken; echo junk > broken/.git/HEAD");

    let run = sandbox.shadow("fleet", ["list", "--json", "--disk", "--under", "projects"]).exits(2);
    let census = run.json()["census"].clone();
    fs::remove_dir_all(sandbox.path("fleet/projects/broken")).unwrap();
    let hand = ByHand::count(&sandbox, "fleet/projects");
    assert_eq!((number(&census, "repositories"), number(&census, "failed")), (5, 1));
    assert_eq!(number(&census, "branches"), hand.branches);
    assert_eq!(number(&census, "registrations"), hand.registrations);
    assert_eq!(number(&census, "shadow_branches"), hand.ours);
    assert_eq!(number(&census, "shadows"), hand.ours);
    let foreign = 1;
    assert_eq!(number(&census, "checked_out"), hand.checked_out - foreign);
    assert_eq!(number(&census, "shadow_worktrees"), hand.registrations - foreign);
    assert_eq!(number(&census, "present"), hand.worktrees.len() - foreign);
    let away = number(&census, "purged") + number(&census, "missing");
    assert_eq!(away, hand.registrations - hand.worktrees.len());

    let mut created = hand.created.clone();
    created.retain(|(_, name), _| name.starts_with("aos/"));
    let now = i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let new = created.values().filter(|time| now - **time < 3600).count();
    assert!(new >= 2, "{created:?}");
    assert_eq!(number(&census, "created_last_hour"), new);
    assert_eq!(number(&census, "created_unknown"), hand.ours - created.len());
    let oldest = created.iter().min_by_key(|(_, time)| **time).unwrap();
    assert_eq!(oldest.0.1, "aos/old");
    assert_eq!(census["oldest"]["name"], "aos/old");
    assert_eq!(census["oldest"]["repository"], oldest.0.0.to_str().unwrap());

    let ours =
        ByHand { worktrees: hand.worktrees.into_iter().filter(|path| !path.ends_with("mine")).collect(), ..hand };
    assert_eq!(census["bytes"].as_u64().unwrap(), ours.du(&sandbox));
    assert_eq!(census["bytes_complete"], true);
    let heaviest = census["heaviest"].as_array().unwrap();
    let bytes: Vec<u64> = heaviest.iter().map(|one| one["bytes"].as_u64().unwrap()).collect();
    assert!(bytes.windows(2).all(|pair| pair[0] >= pair[1]) && bytes.iter().sum::<u64>() <= ours.du(&sandbox));

    // Not asked, not measured; then the most shadows make the weight.
    let plain = sandbox.shadow("fleet", ["list", "--json", "--summary", "--under", "projects"]).exits(0).json();
    assert_eq!((&plain["census"]["bytes"], &plain["census"]["bytes_complete"]), (&Value::Null, &Value::Null));
    let shadows: Vec<usize> =
        plain["census"]["heaviest"].as_array().unwrap().iter().map(|one| number(one, "shadows")).collect();
    assert!(shadows.len() > 1 && shadows.windows(2).all(|pair| pair[0] >= pair[1]), "{shadows:?}");
    assert_eq!(shadows.iter().sum::<usize>(), number(&plain["census"], "shadows"));

    let text = sandbox.shadow("fleet", ["list", "--summary", "--disk", "--under", "projects"]).exits(0).stdout;
    assert!(text.lines().count() <= 40, "more than a screen: {text}");
    let branches = format!("{:>9}  branches, {} of them shadows'\n", number(&census, "branches"), ours.ours);
    assert!(text.contains(&branches), "{text}");
    assert!(text.contains(" in shadows' worktrees, ") && text.contains("the oldest 400d ago: aos/old in '"), "{text}");
}

/// The bytes of a shadow's worktree.
fn bytes(run: &Run, name: &str) -> u64 {
    run.shadow(name)["worktree"]["bytes"].as_u64().unwrap()
}

fn du(sandbox: &Sandbox, paths: &[&str]) -> u64 {
    ByHand { worktrees: paths.iter().map(|path| sandbox.path(path)).collect(), ..ByHand::default() }.du(sandbox)
}

#[test]
fn allocated_blocks_count_and_what_has_several_names_counts_once() {
    let sandbox = Sandbox::mk();
    for x in ["a", "b"] {
        sandbox.wt(x);
    }
    sandbox.sh(
        "",
        "head -c 3000000 /dev/urandom > a/big; ln a/big a/again; mkdir b/sub; ln a/big b/sub/third; ln -s ../r b/link
        truncate -s 1G a/sparse; head -c 100000 /dev/urandom > outside; ln -s ../outside a/outside; mkfifo a/pipe",
    );
    // A worktree in a worktree is counted with it.
    sandbox.git("r", ["worktree", "add", "-q", "-b", "aos/in", "../a/in"]);
    sandbox.sh("a/in", "head -c 500000 /dev/urandom > more");
    let run = sandbox.json(&["list", "--disk"]).exits(0);
    assert_eq!(bytes(&run, "aos/a"), du(&sandbox, &["a"]));
    assert_eq!(bytes(&run, "aos/b"), du(&sandbox, &["b"]));
    assert_eq!(bytes(&run, "aos/in"), du(&sandbox, &["a/in"]));
    let all = run.json()["census"]["bytes"].as_u64().unwrap();
    assert_eq!(all, du(&sandbox, &["a", "b", "a/in"]));
    assert!(all < bytes(&run, "aos/a") + bytes(&run, "aos/b"), "the linked file is in it once");
    let text = sandbox.shadow("r", ["list", "--disk"]).exits(0).stdout;
    assert!(text.lines().next().unwrap().contains("  DISK ") && text.contains(" in worktrees\n"), "{text}");
    let porcelain = sandbox.shadow("r", ["list", "--disk", "--porcelain"]).exits(0).stdout;
    assert!(porcelain.contains("\ncensus\nrepositories 1\n") && porcelain.contains(&format!("\nbytes {all}\n")));
}

#[test]
fn a_tree_of_any_depth_is_measured() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    // Put together of two halves, each as deep as a path is long.
    let half = "directory/".repeat(300);
    let deep = sandbox.path("a").join(&half);
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(sandbox.path("two").join(&half)).unwrap();
    fs::write(sandbox.path("two").join(&half).join("file"), vec![b'x'; 50_000]).unwrap();
    fs::rename(sandbox.path("two"), deep.join("two")).unwrap();
    let run = sandbox.json(&["list", "--disk"]).exits(0);
    assert_eq!(bytes(&run, "aos/a"), du(&sandbox, &["a"]));
    fs::rename(deep.join("two"), sandbox.path("two")).unwrap();
}

#[test]
fn what_is_mounted_in_it_is_not_in_it() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    fs::create_dir_all(sandbox.path("a/mnt")).unwrap();
    let script = "mount -t tmpfs none a/mnt && head -c 400000 /dev/urandom > a/mnt/x && mkdir a/bind other &&
        mount --bind other a/bind && head -c 300000 /dev/urandom > other/y || exit 99
        exec \"$0\" list --disk --json --repo r";
    let mut command = sandbox.command("unshare", sandbox.root());
    let output = command.args(["-m", "sh", "-euc", script, env!("CARGO_BIN_EXE_git-shadow")]).output().unwrap();
    if matches!(output.status.code(), Some(99 | 1)) {
        return skip("what_is_mounted_in_it_is_not_in_it", "mounting is not allowed here");
    }
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The mount points themselves, which are covered there, are seen from here.
    let points = du(&sandbox, &["a/mnt", "a/bind"]);
    assert_eq!(json["census"]["bytes"].as_u64().unwrap(), du(&sandbox, &["a"]) - points, "{json:#}");
}

#[test]
fn a_number_that_is_not_complete_says_so() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox
        .sh("", "mkdir -p a/target/closed; head -c 90000 /dev/urandom > a/target/closed/x; echo target > a/.gitignore");
    let binary = sandbox.path("git-shadow");
    fs::copy(env!("CARGO_BIN_EXE_git-shadow"), &binary).unwrap();
    sandbox.sh("", "chmod 755 .; chmod 0 a/target/closed; chown -R 65534:65534 r a home tmp 2>/dev/null || true");
    let run = |args: &[&str]| {
        let mut command = sandbox.command("setpriv", sandbox.root());
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "./git-shadow",
            "list",
            "--disk",
            "--repo",
            "r",
        ]);
        let output = command.args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, out, err) = run(&["--json"]);
    if err.contains("setpriv:") {
        return skip("a_number_that_is_not_complete_says_so", "not root: setpriv cannot change the user");
    }
    assert_eq!(status, Some(2), "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    let worktree = &json["repositories"][0]["shadows"][0]["worktree"];
    assert_eq!((&worktree["bytes_complete"], &json["census"]["bytes_complete"]), (&false.into(), &false.into()));
    let whole = du(&sandbox, &["a"]);
    assert!(worktree["bytes"].as_u64().unwrap() < whole, "{worktree:#}");
    assert!(err.contains("'target/closed'") && err.contains("was not measured whole"), "{err}");
    let (_, text, _) = run(&["--summary"]);
    assert!(text.contains("  in shadows' worktrees") && text.contains('>'), "{text}");
}

#[test]
fn of_one_repository_the_census_has_no_places() {
    let sandbox = Sandbox::mk();
    sandbox.wt("a");
    sandbox.wt("b");
    sandbox.sh("r", "touch -d '30 minutes ago' .git/worktrees/*/commondir");
    set_mtime(&sandbox.path("r/.git/worktrees/b/commondir"), 2);
    sandbox.age_log(&sandbox.path("r/.git/logs/refs/heads/aos/b"), 3);
    let text = sandbox.shadow("r", ["list", "--summary"]).exits(0).stdout;
    let expected = "        1  repository
        3  branches, 2 of them shadows'
        2  registered worktrees, 2 of them shadows': 2 present
        2  shadows with a checked-out branch
        1  shadow created in the last hour; the oldest 3h ago: aos/b
held, by the first reason and by any
      2       2  grace            too young
2 shadows: 0 to release, 2 held
";
    assert_eq!(text, expected);
}
