//! What lies in a worktree whose branch has landed: each thing that exists only there holds.

use fs_err as fs;

use crate::harness::{Sandbox, Tree};

/// A landed shadow `a`; `.env`, `target/`, `scratch/` and `*.log` are ignored.
fn landed() -> Sandbox {
    let sandbox = Sandbox::mk();
    sandbox.write("r/.gitignore", ".env\ntarget/\nscratch/\n*.log\n");
    sandbox.commit("r", "ignore");
    let _ = sandbox.landed("a");
    sandbox
}

fn message(sandbox: &Sandbox, code: &str) -> String {
    let shadow = sandbox.shadow_json("aos/a");
    let holds = shadow["holds"].as_array().unwrap();
    let hold = holds.iter().find(|h| h["code"] == code).unwrap_or_else(|| panic!("no hold '{code}': {shadow:#}"));
    hold["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_clean_one_goes() {
    let sandbox = landed();
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c04_changed_and_staged_files() {
    let sandbox = landed();
    sandbox.write("a/f", "base\nedit\n");
    sandbox.write("a/s", "staged\n");
    sandbox.git("a", ["add", "s"]);
    let said = message(&sandbox, "dirty");
    assert!(said.contains('f') && said.contains('s'), "{said}");
    sandbox.assert_held("a", "dirty");
}

#[test]
fn c04_staged_only() {
    let sandbox = landed();
    sandbox.write("a/s", "staged\n");
    sandbox.git("a", ["add", "s"]);
    sandbox.assert_held("a", "dirty");
}

#[test]
fn c04_content_that_is_in_the_index_only() {
    let sandbox = landed();
    sandbox.write("a/f", "only in the index\n");
    sandbox.git("a", ["add", "f"]);
    sandbox.write("a/f", "base\n");
    sandbox.assert_held("a", "dirty");
}

#[test]
fn c04_a_file_meant_to_be_added() {
    let sandbox = landed();
    sandbox.write("a/s", "soon\n");
    sandbox.git("a", ["add", "-N", "s"]);
    sandbox.assert_held("a", "dirty");
}

#[test]
fn a_deleted_file_is_a_change() {
    let sandbox = landed();
    fs::remove_file(sandbox.path("a/f")).unwrap();
    sandbox.assert_held("a", "dirty");
}

#[test]
fn a_changed_mode_is_a_change() {
    let sandbox = landed();
    sandbox.sh("a", "chmod +x f");
    sandbox.assert_held("a", "dirty");
}

#[test]
fn settings_that_hide_changes_hide_none() {
    let sandbox = landed();
    sandbox.write("a/f", "edit\n");
    sandbox.write("a/new", "new\n");
    sandbox.sh(
        "r",
        "git config status.showUntrackedFiles no; git config core.checkStat minimal; git config core.fileMode false",
    );
    sandbox.sh(
        "r",
        "git config core.fsmonitor true; git config core.untrackedCache true; git config core.trustctime false",
    );
    let holds = sandbox.holds("aos/a");
    assert_eq!(holds, ["dirty", "untracked"]);
    sandbox.assert_kept("a");
}

#[test]
fn core_worktree_does_not_send_the_look_elsewhere() {
    let sandbox = landed();
    sandbox.write("a/new", "new\n");
    sandbox.git("r", ["config", "core.worktree", sandbox.repo().to_str().unwrap()]);
    sandbox.assert_held("a", "untracked");
}

#[test]
fn c64_untracked_files_are_named() {
    let sandbox = landed();
    sandbox.write("a/.claude/settings.local.json", "{}\n");
    let said = message(&sandbox, "untracked");
    assert!(said.contains(".claude"), "{said}");
    sandbox.assert_held("a", "untracked");
}

#[test]
fn c05_an_ignored_env_file() {
    let sandbox = landed();
    sandbox.write("a/.env", "S=1\n");
    let said = message(&sandbox, "ignored");
    assert!(said.contains(".env"), "{said}");
    sandbox.assert_held("a", "ignored");
}

#[test]
fn c05_ignored_by_info_exclude_or_by_the_user_s_file() {
    let mut sandbox = landed();
    sandbox.write("r/.git/info/exclude", "*.sqlite\n");
    sandbox.write("a/db.sqlite", "rows\n");
    sandbox.assert_held("a", "ignored");
    fs::remove_file(sandbox.path("a/db.sqlite")).unwrap();
    sandbox.write("home/ignore", "handoff.md\n");
    sandbox.write("home/gitconfig", format!("[core]\n\texcludesFile = {}\n", sandbox.path("home/ignore").display()));
    sandbox.set("GIT_CONFIG_GLOBAL", sandbox.path("home/gitconfig").to_str().unwrap());
    sandbox.write("a/handoff.md", "for the next session\n");
    sandbox.assert_held("a", "ignored");
}

#[test]
fn what_a_build_makes_again_does_not_hold() {
    let sandbox = landed();
    sandbox.write("a/target/debug/x.o", "object\n");
    sandbox.write("a/target/debug/read-only/y.o", "object\n");
    sandbox.sh("a", "chmod a-w target/debug/read-only");
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn a_secret_holds_even_inside_a_cache() {
    let sandbox = landed();
    sandbox.write("a/target/debug/.env.local", "S=1\n");
    sandbox.assert_held("a", "ignored");
}

#[test]
fn a_key_inside_node_modules_is_somebody_s_test_data() {
    let sandbox = landed();
    sandbox.write("r/.git/info/exclude", "node_modules/\n*.pem\n");
    sandbox.write("a/node_modules/tls/test/cert.pem", "-----\n");
    sandbox.write("a/node_modules/tls/cache.db", "rows\n");
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn the_same_bytes_in_the_canonical_checkout_do_not_hold() {
    let sandbox = landed();
    sandbox.write("r/.env", "S=1\n");
    sandbox.write("a/.env", "S=2\n");
    sandbox.assert_held("a", "ignored");
    sandbox.write("a/.env", "S=1\n");
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(fs::read_to_string(sandbox.path("r/.env")).unwrap(), "S=1\n");
}

#[test]
fn a_link_to_it_or_from_it_is_no_second_copy() {
    let sandbox = landed();
    sandbox.write("a/.env", "S=1\n");
    fs::os::unix::fs::symlink(sandbox.path("a/.env"), sandbox.path("r/.env")).unwrap();
    sandbox.assert_held("a", "ignored");
    fs::remove_file(sandbox.path("r/.env")).unwrap();
    fs::hard_link(sandbox.path("a/.env"), sandbox.path("r/.env")).unwrap();
    sandbox.assert_held("a", "ignored");
}

#[test]
fn c16_a_link_to_a_shared_folder_is_not_followed() {
    let sandbox = landed();
    sandbox.write("r/.git/info/exclude", "node_modules/\n");
    sandbox.write("shared/keep", "keep\n");
    let before = Tree::of(&sandbox.path("shared"));
    fs::create_dir(sandbox.path("a/target")).unwrap();
    fs::os::unix::fs::symlink(sandbox.path("shared"), sandbox.path("a/target/shared")).unwrap();
    fs::os::unix::fs::symlink(sandbox.path("shared"), sandbox.path("a/node_modules")).unwrap();
    // The pattern has a slash: it ignores directories, and a link is none.
    sandbox.assert_held("a", "untracked");
    fs::remove_file(sandbox.path("a/node_modules")).unwrap();
    sandbox.prune();
    sandbox.assert_released("a");
    assert_eq!(before.changes(&Tree::of(&sandbox.path("shared"))), [""; 0]);
}

#[test]
fn c17_a_repository_inside() {
    let sandbox = landed();
    sandbox.git("a", ["init", "-q", "scratch/x"]);
    sandbox.write("a/scratch/x/w", "w\n");
    sandbox.commit("a/scratch/x", "only here");
    sandbox.assert_held("a", "nested-repo");
}

#[test]
fn c17_a_repository_inside_a_cache_or_without_a_checkout() {
    let sandbox = landed();
    sandbox.git("a", ["init", "-q", "target/deps/x"]);
    sandbox.assert_held("a", "nested-repo");
    fs::remove_dir_all(sandbox.path("a/target")).unwrap();
    sandbox.git("a", ["init", "-q", "--bare", "target/x"]);
    sandbox.assert_held("a", "nested-repo");
}

#[test]
fn a_registered_worktree_inside() {
    let sandbox = landed();
    sandbox.git("a", ["worktree", "add", "-q", "-b", "inner", "scratch/inner"]);
    sandbox.assert_held("a", "nested-worktree");
}

#[test]
fn edits_that_status_does_not_see() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let sandbox = landed();
        sandbox.git("a", ["update-index", flag, "f"]);
        sandbox.write("a/f", "hidden edit\n");
        assert_eq!(sandbox.git("a", ["status", "--porcelain"]), "");
        sandbox.assert_held("a", "hidden-edits");
        sandbox.write("a/f", "base\n");
        sandbox.prune();
        sandbox.assert_released("a");
    }
}

#[test]
fn a_file_whose_filter_hides_what_it_holds() {
    let sandbox = landed();
    sandbox.git("r", ["config", "filter.blank.clean", "sed s/secret.*/secret/"]);
    sandbox.write("r/.gitattributes", "*.conf filter=blank\n");
    sandbox.write("r/app.conf", "secret\n");
    sandbox.commit("r", "filtered");
    sandbox.wt("b");
    sandbox.ci("b");
    sandbox.squash("b");
    sandbox.write("b/app.conf", "secret = 42\n");
    sandbox.git("b", ["add", "app.conf"]);
    assert_eq!(sandbox.git("b", ["status", "--porcelain"]), "");
    sandbox.assert_held("b", "hidden-edits");
}

#[test]
fn absent_files_of_a_sparse_checkout_are_fine() {
    let sandbox = Sandbox::mk();
    sandbox.write("r/in/x", "x\n");
    sandbox.write("r/out/y", "y\n");
    sandbox.commit("r", "two folders");
    sandbox.wt("a");
    sandbox.write("a/in/a.txt", "a\n");
    sandbox.commit("a", "a");
    sandbox.git("a", ["sparse-checkout", "set", "in"]);
    assert!(!sandbox.path("a/out").exists());
    let _ = sandbox.squash("a");
    sandbox.prune();
    sandbox.assert_released("a");
}

#[test]
fn c90_line_endings_only() {
    let sandbox = landed();
    sandbox.git("r", ["config", "core.autocrlf", "false"]);
    sandbox.write("a/f", "base\r\n");
    let shadow = sandbox.shadow_json("aos/a");
    let hold = shadow["holds"].as_array().unwrap().iter().find(|h| h["code"] == "dirty").unwrap().clone();
    assert!(hold["remedy"].as_str().unwrap().contains("line endings"), "{hold}");
    sandbox.assert_held("a", "dirty");
}
