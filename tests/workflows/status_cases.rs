//! Whether a worktree is clean, beside git's own word: one small repository for each thing that makes it hard to tell.
//!
//! What git calls changed or untracked must hold, whatever the way it was read; what git calls clean must not be called
//! dirty. The cases run in a linked worktree on `aos/w`.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{Sandbox, codes};

const BASE: &str = r##"
printf 'a\nb\nc\n' > a.txt; printf 'x\ny\n' > b.txt; mkdir -p dir/deep sub
echo c > dir/c.txt; echo d > dir/d.txt; echo e > sub/e.txt; echo z > dir/deep/z.txt
printf '#!/bin/sh\n' > exec.sh; chmod +x exec.sh; ln -s a.txt link; printf 'ign/\n*.log\n' > .gitignore; : > empty.txt
git add .; git commit -q -m base
git worktree add -q -b wb ../w
"##;

/// A submodule `smod`.
const SUB: &str = "git init -q ../SUB; (cd ../SUB; echo 1 > f; git add f; git commit -qm n); \
    git -c protocol.file.allow=always submodule --quiet add ../SUB smod; git commit -qm sm; ";

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    ("clean", ""),
    ("modified", "echo m >> a.txt"),
    ("same_size_mod", r#"sleep 1.1; printf 'A\nb\nc\n' > a.txt"#),
    ("racy_same_size_mod", r#"git update-index --refresh; printf 'x\nz\n' > b.txt && git add b.txt && printf 'x\nq\n' > b.txt"#),
    ("touched_only", r#"touch -d "2001-01-01" a.txt"#),
    ("staged_new+modified", "echo n > new.txt; git add new.txt; echo q >> new.txt"),
    ("staged_del_but_present", "git rm -q --cached a.txt"),
    ("staged_del", "git rm -q a.txt"),
    ("worktree_del", "rm a.txt"),
    ("untracked_nested", "mkdir -p u/v/w; echo 1 > u/v/w/f; echo 2 > u/g"),
    ("ignored", "mkdir ign; echo 1 > ign/x; echo 2 > foo.log"),
    ("tracked_in_ignored_dir", "mkdir ign; echo 1 > ign/t; git add -f ign/t; git commit -qm t; echo 2 > ign/t; echo u > ign/untracked"),
    ("file_to_dir", "rm a.txt; mkdir a.txt; echo 1 > a.txt/inside"),
    ("file_to_empty_dir", "rm a.txt; mkdir a.txt"),
    ("dir_to_file", "rm -r dir; echo f > dir"),
    ("dir_to_symlink_same", "mv dir dir2; ln -s dir2 dir"),
    ("dir_to_symlink_ignored_target", "mkdir ign; mv dir ign/dir; ln -s ign/dir dir"),
    ("file_to_symlink", "rm a.txt; ln -s b.txt a.txt"),
    ("symlink_to_file", "rm link; printf 'a.txt' > link"),
    ("symlink_retarget", "rm link; ln -s b.txt link"),
    ("exec_add", "chmod +x a.txt"),
    ("exec_del", "chmod -x exec.sh"),
    ("exec_filemode_false", "git config core.filemode false; chmod +x a.txt"),
    ("intent_to_add", "echo i > ita.txt; git add -N ita.txt"),
    ("intent_to_add_deleted", "echo i > ita.txt; git add -N ita.txt; rm ita.txt"),
    ("intent_to_add_empty", ": > ita.txt; git add -N ita.txt"),
    ("assume_unchanged_mod", "git update-index --assume-unchanged a.txt; echo m >> a.txt"),
    ("assume_unchanged_del", "git update-index --assume-unchanged a.txt; rm a.txt"),
    ("skip_worktree_mod", "git update-index --skip-worktree a.txt; echo m >> a.txt"),
    ("sparse_cone_present_file_mod", "git sparse-checkout set sub 2>/dev/null; mkdir -p dir; echo changed > dir/c.txt"),
    ("sparse_cone_untracked_outside", "git sparse-checkout set sub 2>/dev/null; mkdir -p dir; echo changed > dir/newfile"),
    ("sparse_cone_clean", "git sparse-checkout set sub 2>/dev/null"),
    ("sparse_index_clean", "git sparse-checkout set --sparse-index sub 2>/dev/null; git ls-files --sparse | head -3 >/dev/null"),
    ("sparse_index_mod", "git sparse-checkout set --sparse-index sub 2>/dev/null; echo m >> sub/e.txt"),
    ("sparse_index_present_outside", "git sparse-checkout set --sparse-index sub 2>/dev/null; mkdir -p dir; echo changed > dir/c.txt"),
    ("split_index_clean", "git update-index --split-index; echo n > n.txt; git add n.txt; git commit -qm n"),
    ("split_index_staged+mod", "git update-index --split-index; echo n > n.txt; git add n.txt; echo m >> a.txt; git rm -q --cached b.txt"),
    ("index_v4_mod", "git update-index --index-version 4; echo m >> a.txt; echo n > n; git add n"),
    ("index_skiphash", "git config index.skipHash true; echo n > n; git add n"),
    ("autocrlf_true_lf_wt", "git config core.autocrlf true; touch -d 2001-01-01 a.txt"),
    ("autocrlf_true_crlf_wt", r#"git config core.autocrlf true; printf 'a\r\nb\r\nc\r\n' > a.txt"#),
    ("autocrlf_checkout_clean", "git config core.autocrlf true; rm a.txt b.txt; git checkout -q a.txt b.txt"),
    ("autocrlf_checkout_touched", "git config core.autocrlf true; rm a.txt b.txt; git checkout -q a.txt b.txt; touch -d 2001-01-01 a.txt"),
    ("autocrlf_input_crlf_mod", r#"git config core.autocrlf input; printf 'a\r\nb\r\nc\r\n' > a.txt"#),
    ("eol_attr_crlf_committed", r#"printf 'q\r\nr\r\n' > crlf.txt; git add crlf.txt; git commit -qm crlf; echo '* text=auto' > .gitattributes; git add .gitattributes; git commit -qm attr; touch -d 2001-01-01 crlf.txt"#),
    ("eol_attr_untouched", r#"printf 'q\r\nr\r\n' > crlf.txt; git add crlf.txt; git commit -qm crlf; echo '* text=auto' > .gitattributes; git add .gitattributes; git commit -qm attr"#),
    ("filter_clean_equal", r#"git config filter.rot.clean "tr a-z n-za-m"; git config filter.rot.smudge "tr a-z n-za-m"; echo '*.rot filter=rot' > .gitattributes; echo hello > s.rot; git add .; git commit -qm f; touch -d 2001-01-01 s.rot"#),
    ("filter_clean_changed", r#"git config filter.rot.clean "tr a-z n-za-m"; git config filter.rot.smudge "tr a-z n-za-m"; echo '*.rot filter=rot' > .gitattributes; echo hello > s.rot; git add .; git commit -qm f; echo hellp > s.rot"#),
    ("filter_size_changing_equal", "git config filter.h.clean 'sed s/LOCALVALUE/X/'; git config filter.h.smudge cat; echo '*.h filter=h' > .gitattributes; echo 'v=LOCALVALUE' > s.h; git add .; git commit -qm f; echo 'v=X' > s.h"),
    ("filter_size_changing_diff", "git config filter.h.clean 'sed s/LOCALVALUE/X/'; git config filter.h.smudge cat; echo '*.h filter=h' > .gitattributes; echo 'v=LOCALVALUE' > s.h; git add .; git commit -qm f; echo 'v=Y' > s.h"),
    ("filter_missing_required", "git config filter.lfs.clean 'cat'; git config filter.lfs.required true; echo '*.bin filter=lfs' > .gitattributes; echo hello > s.bin; git add .; git commit -qm f; git config filter.lfs.clean nonexistent-cmd-xyz; touch -d 2001-01-01 s.bin"),
    ("filter_missing_required_modified", "git config filter.lfs.clean 'cat'; git config filter.lfs.required true; echo '*.bin filter=lfs' > .gitattributes; echo hello > s.bin; git add .; git commit -qm f; git config filter.lfs.clean nonexistent-cmd-xyz; echo hellz > s.bin"),
    ("filter_missing_optional", "git config filter.lfs.clean 'cat'; echo '*.bin filter=lfs' > .gitattributes; echo hello > s.bin; git add .; git commit -qm f; git config filter.lfs.clean nonexistent-cmd-xyz; touch -d 2001-01-01 s.bin"),
    ("filter_process_missing_required", "echo '*.bin filter=lfs' > .gitattributes; echo hello > s.bin; git add .; git commit -qm f; git config filter.lfs.process nonexistent-cmd-xyz; git config filter.lfs.required true; touch -d 2001-01-01 s.bin"),
    ("ident_attr", "echo '*.c ident' > .gitattributes; echo '$Id$' > i.c; git add .; git commit -qm i; rm i.c; git checkout -q i.c; touch -d 2001-01-01 i.c"),
    ("working_tree_encoding", r#"echo '*.u working-tree-encoding=UTF-16LE' > .gitattributes; printf 'h\0i\0\n\0' > x.u; git add .; git commit -qm i; touch -d 2001-01-01 x.u"#),
    ("nested_repo_untracked", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n)"),
    ("nested_repo_unborn", "git init -q nested; echo 1 > nested/f"),
    ("nested_repo_ignored", "mkdir ign; git init -q ign/nested; (cd ign/nested; echo 1 > f; git add f; git commit -qm n)"),
    ("nested_bare_repo", "git init -q --bare nb.git"),
    ("embedded_gitlink_clean", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n); git add nested 2>/dev/null; git commit -qm gl"),
    ("embedded_gitlink_dirty", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n); git add nested 2>/dev/null; git commit -qm gl; echo 2 >> nested/f"),
    ("embedded_gitlink_newcommit", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n); git add nested 2>/dev/null; git commit -qm gl; (cd nested; echo 2 >> f; git commit -qam n2)"),
    ("embedded_gitlink_untracked", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n); git add nested 2>/dev/null; git commit -qm gl; echo 2 > nested/g"),
    ("embedded_gitlink_removed", "git init -q nested; (cd nested; echo 1 > f; git add f; git commit -qm n); git add nested 2>/dev/null; git commit -qm gl; rm -rf nested"),
    ("submodule_clean", "SUB; "),
    ("submodule_modified", "SUB; echo 2 >> smod/f"),
    ("submodule_untracked", "SUB; echo 2 > smod/g"),
    ("submodule_newcommit", "SUB; (cd smod; echo 2 >> f; git commit -qam n2)"),
    ("submodule_staged_inside", "SUB; (cd smod; echo 2 >> f; git add f)"),
    ("submodule_ignore_all_dirty", "SUB; git config -f .gitmodules submodule.smod.ignore all; git commit -qam ign; echo 2 >> smod/f; (cd smod; git commit -qam n2)"),
    ("submodule_cfg_ignore_dirty", "SUB; git config submodule.smod.ignore dirty; echo 2 >> smod/f"),
    ("submodule_deinit", "SUB; git submodule --quiet deinit -f smod"),
    ("submodule_rmdir", "SUB; rm -rf smod"),
    ("submodule_gitmodules_deleted_dirty", "SUB; git rm -q --cached .gitmodules; rm .gitmodules; echo 2 >> smod/f"),
    ("submodule_nested_untracked_ignored", r#"SUB; echo "*.tmp" > smod/.gitignore; (cd smod; git add .gitignore; git commit -qm i); git add smod; git commit -qm s; echo 1 > smod/x.tmp"#),
    ("conflict", "git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q main; echo p > a.txt; git commit -qam p; git merge o >/dev/null"),
    ("conflict_delmod", "git checkout -qb o; git rm -q a.txt; git commit -qam o; git checkout -q main; echo p > a.txt; git commit -qam p; git merge o >/dev/null"),
    ("merge_resolved_uncommitted", "git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q main; echo p > b.txt; git commit -qam p; git merge --no-commit --no-ff o >/dev/null"),
    ("merge_ours_nodiff", "git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q main; git merge --no-commit -s ours o >/dev/null"),
    ("show_untracked_no", "git config status.showUntrackedFiles no; echo u > u.txt"),
    ("global_excludes", r#"echo "*.glob" > ../ge; git config core.excludesFile $(pwd)/../ge; echo 1 > x.glob"#),
    ("excludes_tilde_case", r##"printf "foo/**/bar\n!foo/keep/bar\n\\#x\ntrail \n" > .gitignore; git commit -qam gi; mkdir -p foo/a foo/keep; echo 1 > foo/a/bar; echo 2 > foo/keep/bar; echo 3 > "#x"; echo 4 > trail"##),
    ("negated_in_ignored_dir", r#"printf "ign/\n!ign/keep\n" > .gitignore; git commit -qam gi; mkdir ign; echo 1 > ign/keep"#),
    ("negated_star", r#"printf "ign/*\n!ign/keep\n" > .gitignore; git commit -qam gi; mkdir ign; echo 1 > ign/keep; echo 2 > ign/other"#),
    ("untracked_cache", "git config core.untrackedCache true; git update-index --untracked-cache; git status >/dev/null; echo u > dir/u.txt; git status >/dev/null; echo u > sub/u2.txt"),
    ("empty_dirs", "mkdir -p e/f/g"),
    ("weird_names", r#"printf 1 > "sp ace"; printf 1 > "tab	q"; printf 1 > "$(printf "nl\nx")"; printf 1 > "$(printf "\377bad")""#),
    ("staged_rename", "git mv a.txt renamed.txt"),
    ("unborn", "git checkout -q --orphan o2"),
    ("unborn_empty", "git checkout -q --orphan o2; git rm -rfq .; echo 1 > q"),
    ("trustctime_false", "git config core.trustctime false; git config core.checkStat minimal; echo m >> a.txt"),
    ("symlink_dir_untracked", "ln -s dir dlink; ln -s /nonexistent broken"),
    ("fifo_untracked", "mkfifo ff"),
    ("fifo_replaces_file", "rm a.txt; mkfifo a.txt"),
    ("dotgit_in_untracked_invalid", "mkdir nr; mkdir nr/.git; echo 1 > nr/f"),
    ("dotgit_file_invalid", r#"mkdir nr; echo "gitdir: /nonexistent" > nr/.git; echo 1 > nr/f"#),
    ("wt_linked_in_repo", "git worktree add -q wt1 -b wt1b; echo 1 > wt1/untr"),
    ("wt_linked_in_ignored", "mkdir ign; git worktree add -q ign/wt1 -b wt1b; echo 1 > ign/wt1/untr"),
    ("replace_ref", "n=$(git commit-tree -m r HEAD^{tree}); echo m >> a.txt; git commit -qam m; git replace HEAD $n"),
    ("case_config_ignorecase", "git config core.ignorecase true; git mv a.txt A2.txt; echo 1 > a2.TXT"),
    ("precious_attr_gitignore", r#"printf "$.config\n" > .gitignore; git commit -qam p; echo 1 > .config"#),
    ("only_mode_and_content_staged", "chmod +x a.txt; git add a.txt; chmod -x a.txt"),
    ("unmerged_added_removed", r#"h=$(git hash-object -w a.txt); printf "100644 %s 1	zz
" $h | git update-index --index-info"#),
    ("large_untracked_nested_ignore", r#"mkdir -p nd/sub; echo "*.o" > nd/.gitignore; echo 1 > nd/sub/x.o; echo 1 > nd/sub/y.c"#),
    ("attr_macro_eol", r#"echo '[attr]bin -text' > .gitattributes; echo '*.b bin' >> .gitattributes; printf 'q\r\n' > z.b; git config core.autocrlf true; git add .; git commit -qm b 2>/dev/null; touch -d 2001-01-01 z.b"#),
    ("info_exclude_common", "echo secret.txt >> $(git rev-parse --git-path info/exclude); echo 1 > secret.txt"),
    ("info_exclude_private", "mkdir -p $(git rev-parse --git-dir)/info; echo secret.txt >> $(git rev-parse --git-dir)/info/exclude; echo 1 > secret.txt"),
    ("info_attributes_common", r#"echo '*.txt eol=crlf' > $(git rev-parse --git-path info/attributes); printf 'a\r\nb\r\nc\r\n' > a.txt"#),
    ("info_attributes_private", r#"mkdir -p $(git rev-parse --git-dir)/info; echo '*.txt eol=crlf' > $(git rev-parse --git-dir)/info/attributes; printf 'a\r\nb\r\nc\r\n' > a.txt"#),
    ("wtconfig_filemode", "git config extensions.worktreeConfig true; git config --worktree core.filemode false; chmod +x a.txt"),
    ("wtconfig_excludesfile", r#"git config extensions.worktreeConfig true; echo "*.wx" > ../wxe; git config --worktree core.excludesFile $(cd ..; pwd)/wxe; echo 1 > f.wx"#),
    ("wtconfig_present_but_ext_off", r#"git config extensions.worktreeConfig false; printf "[core]\n\tfilemode = false\n" > $(git rev-parse --git-dir)/config.worktree; chmod +x a.txt"#),
    ("includeIf_gitdir", r#"printf "[core]\n\tfilemode = false\n" > ../inc.cfg; git config "includeIf.gitdir:**/worktrees/*.path" $(cd ..; pwd)/inc.cfg; chmod +x a.txt"#),
    ("includeIf_onbranch", r#"printf "[core]\n\tfilemode = false\n" > ../inc.cfg; git config "includeIf.onbranch:wb.path" $(cd ..; pwd)/inc.cfg; chmod +x a.txt"#),
    ("detached_mod", "git checkout -q --detach; echo m >> a.txt"),
    ("rebase_stopped", "git checkout -qb o; echo o > a.txt; git commit -qam o; git checkout -q wb; echo p > a.txt; git commit -qam p; git rebase o >/dev/null 2>&1"),
    ("bisect", "for i in 1 2 3 4; do echo $i >> b.txt; git commit -qam $i; done; git bisect start -q; git bisect bad; git bisect good HEAD~4 >/dev/null"),
    ("base_is_bare", "git -C ../r config core.bare true; echo m >> a.txt"),
    ("relative_gitdir_paths", r#"g=$(git rev-parse --git-dir); echo "gitdir: ../r/.git/worktrees/w" > .git; echo "../../../../w/.git" > $g/gitdir; echo m >> a.txt; echo u > u.txt"#),
    ("moved_worktree_stale_gitdir", "cd ..; mv w w2; mkdir w; cp -r w2/. w/; echo m >> w/a.txt"),
    ("base_sparse_this_not", "git -C ../r sparse-checkout set sub 2>/dev/null; mkdir -p dir; echo u > dir/newfile"),
    ("ref_namespaced_alias", "git symbolic-ref refs/heads/alias refs/heads/main; echo m >> a.txt"),
];

/// Cases in which more holds than git sees: told to ignore case on a file system that does not, git takes one file for
/// the other.
const MORE: &[&str] = &["case_config_ignorecase"];

/// Whether git says that something tracked is changed, and that something is untracked; `None` when it fails.
fn by_git(sandbox: &Sandbox) -> Option<(bool, bool)> {
    let mut git = sandbox.command("git", sandbox.root());
    let git_dir = sandbox.path("r/.git/worktrees/w");
    git.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", sandbox.path("w"));
    git.args([
        "--no-optional-locks",
        "--no-replace-objects",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.trustctime=true",
    ]);
    git.args(["-c", "core.checkStat=default", "-c", "status.showUntrackedFiles=all", "-c", "status.renames=false"]);
    git.args(["status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none"]);
    let output = git.output().unwrap();
    let records = output.stdout.split(|b| *b == 0).filter(|r| !r.is_empty());
    let (untracked, tracked): (Vec<_>, Vec<_>) = records.partition(|r| r.starts_with(b"??"));
    output.status.success().then_some((!tracked.is_empty(), !untracked.is_empty()))
}

fn check(name: &str, script: &str) -> Result<(), String> {
    let sandbox = Sandbox::empty();
    sandbox.git("", ["init", "-q", "-b", "main", "r"]);
    sandbox.sh("r", BASE);
    // Whatever it has checked out.
    let root = sandbox.root().display().to_string();
    sandbox.write("home/.config/git-shadow/config.toml", format!("shadows.roots = [{root:?}]\n"));
    let script = script.replace("SUB; ", SUB);
    let output = sandbox.command("bash", &sandbox.path("w")).args(["-c", &script]).output().unwrap();
    let shadows = sandbox.json(&["list"]).shadows();
    let shadow = shadows.iter().find(|s| s["worktree"]["id"] == "w").ok_or(format!("{name}: no such shadow"))?;
    let codes = codes(shadow);
    let has = |code: &str| codes.iter().any(|c| c == code);
    let ours = (has("dirty"), has("untracked"));
    let tell =
        |what: &str| Err(format!("{name}: {what}; holds {codes:?}; {}", String::from_utf8_lossy(&output.stderr)));
    match by_git(&sandbox) {
        None if has("unverified") => Ok(()),
        None => tell("git fails, but nothing is said of it"),
        Some(theirs) if ours == theirs => Ok(()),
        Some(theirs) if (ours.0 | theirs.0, ours.1 | theirs.1) == ours && MORE.contains(&name) => Ok(()),
        Some(theirs) => tell(&format!("(changed, untracked) is {ours:?}, git says {theirs:?}")),
    }
}

#[test]
fn status_agrees_with_git() {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some((name, script)) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(check(name, script).err());
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}
