//! Where policy comes from, and what it refuses.

use fs_err as fs;

use crate::harness::{Run, Sandbox, codes};

const USER: &str = "home/.config/git-shadow/config.toml";

/// A repository with a shadow `aos/x` and no worktree.
fn repository() -> Sandbox {
    let s = Sandbox::mk();
    s.git("r", ["branch", "aos/x"]);
    s
}

fn explain(s: &Sandbox, dir: &str) -> Run {
    s.shadow(dir, ["explain", "aos/x"])
}

/// The value of a key with its sources, as `explain` shows them.
#[track_caller]
fn value(s: &Sandbox, dir: &str, key: &str) -> String {
    let run = explain(s, dir).exits(0);
    let rows = run.stdout.lines().skip_while(|line| *line != "policy");
    let row = rows.map(str::trim).find_map(|line| line.strip_prefix(key)?.strip_prefix("  "));
    row.unwrap_or_else(|| panic!("no row '{key}': {run:#?}")).trim().to_owned()
}

/// What a fatal error says, with its hint on a line of its own.
#[track_caller]
fn refusal(s: &Sandbox, dir: &str) -> String {
    let run = s.shadow(dir, ["list"]).exits(128);
    assert_eq!(run.stdout, "");
    run.stderr.replace(s.root().to_str().unwrap(), "")
}

#[test]
fn mistakes_are_fatal_and_told_with_their_place() {
    let s = repository();
    s.write("r/.shadowrc", "# ok\n\n  grce.unused = '1h'\n");
    assert_eq!(refusal(&s, "r"), "fatal: /r/.shadowrc:3:3: unknown key 'grce'\nhint: did you mean 'grace'?\n");
    s.write("r/.shadowrc", "keep = '1h30m'");
    assert!(refusal(&s, "r").starts_with("fatal: /r/.shadowrc:1:8: '1h30m' is not a duration"));
    fs::remove_file(s.path("r/.shadowrc")).unwrap();
    s.write(USER, "keep = 30");
    assert!(refusal(&s, "r").starts_with("fatal: /home/.config/git-shadow/config.toml:1:8: 'keep' must be a duration"));
}

#[test]
fn what_only_the_user_may_say_is_refused_in_a_repository() {
    let s = repository();
    for text in [
        "shadows.roots = ['/x/y']",
        "ignored.save = ['.env']",
        "untracked.save = ['x']",
        "purged.roots = ['/x/y']",
        "locks.stale = 'release'",
    ] {
        s.write("r/.shadowrc", text);
        let refusal = refusal(&s, "r");
        assert!(refusal.contains("may be set only in the user's file"), "{text}: {refusal}");
        assert!(refusal.contains("hint: "), "{text}: {refusal}");
        s.write(USER, text);
    }
    fs::remove_file(s.path("r/.shadowrc")).unwrap();
    s.write(USER, "locks.stale = 'release'");
    assert!(value(&s, "r", "locks.stale").starts_with("\"release\"  ("));
}

#[test]
fn a_repository_may_only_narrow() {
    let s = repository();
    let user = "grace.unused = '2h'\ngrace.landed = '1h'\nkeep = '7d'\nhooks.pre-push = false\nlanding.pushed = true\n\
                protect = ['a']";
    s.write(USER, user);
    let repo = "grace.unused = '1h'\ngrace.landed = '2h'\nkeep = '1d'\nhooks.pre-push = true\nhooks.post-merge = false\n\
                landing.pushed = false\nprotect = ['a', 'b']\nignored.disposable = ['coverage']";
    s.write("r/.shadowrc", repo);
    for (key, shown) in [
        ("grace.unused", "\"2h\"  (/home/.config/git-shadow/config.toml)"),
        ("grace.landed", "\"2h\"  (/r/.shadowrc)"),
        ("keep", "\"7d\"  (/home/.config/git-shadow/config.toml)"),
        ("hooks.pre-push", "false  (/home/.config/git-shadow/config.toml)"),
        ("hooks.post-merge", "false  (/r/.shadowrc)"),
        ("landing.pushed", "true  (/home/.config/git-shadow/config.toml)"),
        ("protect", "[\"a\", \"b\"]  (/home/.config/git-shadow/config.toml, /r/.shadowrc)"),
        ("grace.dead", "\"24h\"  (default)"),
    ] {
        assert_eq!(value(&s, "r", key).replace(s.root().to_str().unwrap(), ""), shown, "{key}");
    }
    let disposable = value(&s, "r", "ignored.disposable");
    assert!(disposable.contains("\"target\"") && disposable.contains("\"coverage\""), "{disposable}");
}

#[test]
fn a_repository_adds_shadows_but_never_a_base_or_everything() {
    let s = repository();
    s.git("r", ["branch", "bot/a"]);
    s.write("r/.shadowrc", "shadows.branches = ['bot/**']");
    assert!(value(&s, "r", "shadows.branches").starts_with("[\"aos/**\", \"bot/**\"]"));
    s.json(&["list"]).shadow("bot/a");
    for pattern in ["**", "*", "m*", "main", "refs/heads/main", "[a-z]*", "?*", "tr*", "*/**"] {
        s.write("r/.shadowrc", format!("shadows.branches = ['bot/**', '{pattern}']"));
        let refusal = refusal(&s, "r");
        assert!(refusal.starts_with("fatal: /r/.shadowrc:1:31: pattern '"), "{pattern}: {refusal}");
    }
    s.write("r/.shadowrc", "base = ['main']\nshadows.branches = ['develop']");
    assert!(value(&s, "r", "shadows.branches").contains("develop"));
    s.origin();
    s.git("r", ["push", "-q", "origin", "main:develop"]);
    s.write("r/.shadowrc", "base = ['origin/develop']\nshadows.branches = ['dev*']");
    assert!(refusal(&s, "r").contains("pattern 'dev*' covers 'develop'"));
    s.write(USER, "shadows.branches = ['**']");
    s.write("r/.shadowrc", "");
    assert!(value(&s, "r", "shadows.branches").starts_with("[\"**\"]"), "the user may");
}

#[test]
fn a_repository_names_only_bases_that_are_no_sessions() {
    let s = repository();
    s.origin();
    s.git("r", ["push", "-q", "origin", "main:develop", "aos/x"]);
    s.git("r", ["branch", "--no-track", "feature"]);
    s.git("r", ["branch", "--no-track", "origin/fake"]);
    for (base, why) in [
        ("feature", "is neither a remote-tracking branch nor a base already"),
        ("refs/heads/feature", "is neither"),
        ("aos/x", "is neither"),
        ("origin/aos/x", "is a shadow's branch"),
        ("refs/remotes/origin/aos/x", "is a shadow's branch"),
        ("refs/remotes/elsewhere/main", "is neither"),
    ] {
        s.write("r/.shadowrc", format!("base = ['auto', '{base}']"));
        let refusal = refusal(&s, "r");
        assert!(refusal.starts_with(&format!("fatal: /r/.shadowrc:1:17: base '{base}' {why}")), "{refusal}");
    }
    s.write("r/.shadowrc", "base = ['main', 'origin/develop']");
    assert!(value(&s, "r", "base").starts_with("[\"refs/heads/main\", \"refs/remotes/origin/develop\"]"));
    // A local branch of the same spelling is not what the file means.
    s.write("r/.shadowrc", "base = ['origin/fake']");
    assert!(codes(&s.shadow_json("aos/x")).contains(&"base-unresolved".to_owned()));
    s.git("r", ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/aos/x"]);
    s.write("r/.shadowrc", "base = ['refs/remotes/origin/develop']");
    assert!(value(&s, "r", "base").starts_with("[\"refs/remotes/origin/develop\"]"));
}

#[test]
fn while_the_checkout_is_on_a_shadow_the_bases_file_counts() {
    let s = repository();
    s.write("r/.shadowrc", "keep = '60d'");
    s.commit("r", "policy");
    assert!(value(&s, "r", "keep").ends_with("/r/.shadowrc)"));
    s.git("r", ["switch", "-q", "aos/x"]);
    s.write("r/.shadowrc", "keep = '90d'\nshadows.branches = ['aos/**']");
    assert_eq!(value(&s, "r", "keep"), "\"60d\"  (refs/heads/main:.shadowrc)");
    s.commit("r", "the session's own rules");
    s.git("r", ["commit", "-q", "--allow-empty", "-m", "more"]);
    s.sh("r", "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1 2>/dev/null");
    assert_eq!(value(&s, "r", "keep"), "\"60d\"  (refs/heads/main:.shadowrc)", "a rebase has detached it");
    s.git("r", ["rebase", "--abort"]);
    // A file whose own patterns make the checkout a shadow is not the one that counts.
    s.git("r", ["switch", "-qc", "bot/y"]);
    s.write("r/.shadowrc", "keep = '90d'\nshadows.branches = ['bot/**']");
    assert_eq!(value(&s, "r", "keep"), "\"60d\"  (refs/heads/main:.shadowrc)");
    s.write("r/.shadowrc", "keep = '90d'");
    assert!(value(&s, "r", "keep").starts_with("\"90d\""), "bot/y is nobody's shadow");
}

#[test]
fn for_a_bare_repository_the_bases_file_counts() {
    let s = repository();
    s.write("r/.shadowrc", "keep = '60d'");
    s.commit("r", "policy");
    s.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    assert_eq!(value(&s, "b.git", "keep"), "\"60d\"  (refs/heads/main:.shadowrc)");
    s.write("b.git/.shadowrc", "keep = '90d'");
    assert!(value(&s, "b.git", "keep").starts_with("\"60d\""), "a file in the repository's own folder is none");
    s.write("r/.shadowrc", "\ngrce = 1");
    s.commit("r", "mistake");
    s.git("b.git", ["fetch", "-q", "origin", "main:main"]);
    assert_eq!(
        refusal(&s, "b.git"),
        "fatal: refs/heads/main:.shadowrc:2:1: unknown key 'grce'\nhint: did you mean 'grace'?\n"
    );
    s.git("b.git", ["symbolic-ref", "HEAD", "refs/heads/gone"]);
    assert!(value(&s, "b.git", "keep").ends_with("(default)"), "no base, no file");
}

#[test]
fn only_a_small_regular_file_is_read() {
    let s = repository();
    let rc = s.path("r/.shadowrc");
    s.write("elsewhere", "keep = '60d'");
    for (script, why) in [
        ("ln -s ../elsewhere .shadowrc", "'/r/.shadowrc' is not a regular file"),
        ("ln -s nowhere .shadowrc", "'/r/.shadowrc' is not a regular file"),
        ("mkdir .shadowrc", "'/r/.shadowrc' is not a regular file"),
        ("mkfifo .shadowrc", "'/r/.shadowrc' is not a regular file"),
        ("head -c 1048577 /dev/zero | tr '\\0' '#' > .shadowrc", "'/r/.shadowrc' is larger than 1 MiB"),
        ("printf '# \\377\\n' > .shadowrc", "/r/.shadowrc:1: not UTF-8"),
    ] {
        s.sh("r", script);
        assert_eq!(refusal(&s, "r"), format!("fatal: {why}\n"), "{script}");
        if rc.is_dir() { fs::remove_dir(&rc).unwrap() } else { fs::remove_file(&rc).unwrap() }
    }
    s.sh("r", "ln -s ../elsewhere .shadowrc; git add .shadowrc; git commit -qm link");
    s.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    assert_eq!(refusal(&s, "b.git"), "fatal: 'refs/heads/main:.shadowrc' is not a regular file\n");
    s.git("r", ["rm", "-q", ".shadowrc"]);
    s.write(USER, "keep = '60d'");
    s.sh("home/.config/git-shadow", "mv config.toml real; ln -s real config.toml");
    assert!(value(&s, "r", "keep").starts_with("\"60d\""), "the user's own file may be a link");
}

#[test]
fn init_writes_a_file_that_changes_nothing_and_never_over_one() {
    let s = repository();
    let before = explain(&s, "r").exits(0).stdout;
    let printed = s.shadow("r", ["init", "--stdout"]).exits(0).stdout;
    assert!(!s.path("r/.shadowrc").exists());
    s.git("r", ["worktree", "add", "-q", "../w", "aos/x"]);
    s.shadow("w", ["init"]).exits(0);
    s.git("r", ["worktree", "remove", "../w"]);
    assert_eq!(fs::read_to_string(s.path("r/.shadowrc")).unwrap(), printed, "in the canonical checkout");
    let policy = |text: &str| text.split_once("\npolicy\n").unwrap().1.to_owned();
    assert_eq!(policy(&explain(&s, "r").exits(0).stdout), policy(&before));
    let refused = s.shadow("r", ["init"]).exits(128);
    assert!(refused.stderr.contains("exists already"), "{refused:?}");
    assert_eq!(fs::read_to_string(s.path("r/.shadowrc")).unwrap(), printed);
    s.git("", ["clone", "-q", "--bare", "r", "b.git"]);
    assert!(s.shadow("b.git", ["init"]).exits(128).stderr.contains("init --stdout"));
    assert!(!s.path("b.git/.shadowrc").exists());
}

#[test]
fn init_proposes_what_looks_like_sessions() {
    let s = repository();
    for name in ["bot/a", "bot/b/c", "lone/x"] {
        s.git("r", ["branch", name]);
    }
    s.sh("r", "for n in 1 2 3; do git worktree add -q -b agent-$n ../sessions/$n; done");
    s.sh(
        "r",
        "for n in 4 5; do git worktree add -q -b bot/$n ../deep/$n/repo; done; git worktree add -q -b own ../own",
    );
    let text = s.shadow("r", ["init", "--detect", "--stdout"]).exits(0).stdout;
    let text = text.replace(s.root().to_str().unwrap(), "/root");
    for line in [
        "#: found agent-*: 3 branches, 3 worktrees",
        "#: found bot/**: 4 branches, 2 worktrees",
        "# shadows.branches = [\"agent-*\", \"bot/**\"]",
        "#: found /root/sessions: 3 worktrees",
        "#: found /root/deep/*: 2 worktrees",
        "#   shadows.roots = [\"/root/sessions\", \"/root/deep/*\"]",
    ] {
        assert!(text.lines().any(|found| found == line), "no line '{line}' in\n{text}");
    }
    assert!(!text.contains("lone/**") && !text.contains("main"), "{text}");
    assert_eq!(text.matches("shadows.branches = ").count(), 1, "a key that is set twice is an error: {text}");
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
}

#[test]
fn a_checkout_that_cannot_be_found_may_hold_rules_that_nobody_sees() {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "--separate-git-dir", "apart.git", "r"]);
    sandbox.write("r/f", "base\n");
    sandbox.commit("r", "base");
    sandbox.landed("a");
    sandbox.write("r/.shadowrc", "protect = ['aos/a']\n");
    for (dir, args) in
        [("a", ["list"].as_slice()), ("a", &["prune-sessions", "--yes"]), ("", &["list", "--repo", "apart.git"])]
    {
        let run = sandbox.shadow(dir, args).exits(128);
        assert!(run.stderr.contains("main worktree of") && run.stderr.contains("--repo"), "{run:#?}");
    }
    sandbox.shadow("a", ["finish"]).exits(0);
    assert_eq!(codes(&sandbox.json(&["list"]).shadow("aos/a")), ["protected"]);
}
