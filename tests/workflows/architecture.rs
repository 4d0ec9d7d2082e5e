//! The layers, and what the code must never do. A failure names the file and the line.

use std::path::{Path, PathBuf};

use fs_err as fs;

/// A source file: its path below `src`, its length, and its code without comments and without its tests.
struct Source {
    path: String,
    lines: usize,
    code: Vec<(usize, String)>,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &mut found);
    assert!(found.len() > 20, "{found:?}");
    found.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let code = text.lines().take_while(|l| l.trim() != "#[cfg(test)]").enumerate();
        // A type, which fs_err has no own one for.
        let code = code
            .map(|(n, l)| (n + 1, uncommented(l).replace("std::fs::Metadata", "Metadata")))
            .filter(|(_, l)| !l.trim().is_empty());
        Source { path, lines: text.lines().count(), code: code.collect() }
    };
    found.into_iter().map(read).collect()
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.to_string_lossy().ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// A line up to its comment; `//` inside a string (an address) is no comment.
fn uncommented(line: &str) -> &str {
    let ends = line.match_indices("//").map(|(at, _)| at);
    let outside = |at: &usize| line[..*at].matches('"').count().is_multiple_of(2);
    ends.into_iter().find(outside).map_or(line, |at| &line[..at])
}

/// Where one of these stands in the code of the files.
fn occurrences(files: &dyn Fn(&str) -> bool, forbidden: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources().iter().filter(|s| files(&s.path)) {
        for (number, line) in &source.code {
            let hits = forbidden.iter().filter(|text| stands_in(line, text));
            found.extend(hits.map(|text| format!("src/{}:{number}: {text}", source.path)));
        }
    }
    found
}

/// Whether the text is there, and not as the end of a longer name.
fn stands_in(line: &str, text: &str) -> bool {
    let named = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let free = |at: usize| !named || !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    line.match_indices(text).any(|(at, _)| free(at))
}

fn pure(path: &str) -> bool {
    path.starts_with("model/") || path.starts_with("report/") || path == "judge.rs" || path == "plan.rs"
}

const NOTHING: [String; 0] = [];

#[test]
fn nothing_is_forced_and_nothing_is_deleted_by_name() {
    let forbidden = ["--force", "\"-D\"", "\"-f\"", "worktree prune", "\"prune\"", "remove_dir_all", "rm -r", "rm -f"];
    assert_eq!(occurrences(&|_| true, &forbidden), NOTHING);
}

#[test]
fn files_are_called_through_fs_err() {
    assert_eq!(occurrences(&|_| true, &["std::fs"]), NOTHING);
}

#[test]
fn one_place_starts_processes() {
    let starts = ["Command::new", "process::Command", "fork(", "posix_spawn"];
    assert_eq!(occurrences(&|path| path != "git/command.rs", &starts), NOTHING);
}

#[test]
fn one_place_reads_the_clock() {
    let clocks = ["SystemTime::now", "Timestamp::now", "Zoned::now", "Instant::now", "UNIX_EPOCH.elapsed"];
    assert_eq!(occurrences(&|path| path != "sys/clock.rs" && !path.starts_with("ui/"), &clocks), NOTHING);
}

#[test]
fn platform_code_is_in_sys() {
    let platform = ["std::os::unix", "std::os::linux", "rustix::", "procfs::", "libc::", "\"/proc"];
    let allowed = |path: &str| path.starts_with("sys/") || path.starts_with("ui/");
    assert_eq!(occurrences(&|path| !allowed(path), &platform), NOTHING);
}

#[test]
fn what_decides_does_not_touch_the_world() {
    let world = ["git::", "inspect::", "discover::", "execute::", "journal::", "landing::", "lease::", "fs_err"];
    let mut found = occurrences(&pure, &world);
    // The nouns of the same names belong to the model.
    found.retain(|hit| !(hit.starts_with("src/model/") && (hit.ends_with("landing::") || hit.ends_with("lease::"))));
    found.extend(occurrences(&pure, &["sys::"]).into_iter().filter(|hit| !only_tree_types(hit)));
    assert_eq!(found, NOTHING);
}

/// The types of a snapshot are data: a plan may carry them.
fn only_tree_types(hit: &str) -> bool {
    let mut parts = hit.split(':');
    let (path, number) = (parts.next().unwrap(), parts.next().unwrap().parse::<usize>().unwrap());
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    text.lines().nth(number - 1).unwrap().contains("sys::tree::")
}

#[test]
fn the_executor_has_no_policy_to_judge_with() {
    let judging = ["policy::", "inspect::branch", "judge::judge", "landing::"];
    assert_eq!(occurrences(&|path| path == "execute.rs" || path.starts_with("execute/"), &judging), NOTHING);
}

#[test]
fn a_new_variant_must_be_thought_of_where_it_is_judged() {
    // The lint knows enums from numbers; these two files are the roots of their modules.
    let lint = "#![warn(clippy::wildcard_enum_match_arm)]";
    for root in ["judge.rs", "model/mod.rs"] {
        assert_eq!(occurrences(&|path| path == root, &[lint]).len(), 1, "{root}");
    }
    let model_or_judge = |path: &str| path.starts_with("model/") || path.starts_with("judge");
    assert_eq!(occurrences(&model_or_judge, &["allow(clippy::wildcard"]), NOTHING);
}

#[test]
fn output_goes_through_ui_and_errors_are_not_swallowed_by_panics() {
    let outside = |path: &str| !path.starts_with("ui/");
    assert_eq!(occurrences(&outside, &["println!", "eprintln!", "print!", "eprint!", "indicatif::"]), NOTHING);
    let panics = [".unwrap()", ".expect(", "panic!", "unreachable!", "todo!", "unimplemented!", "allow(dead_code)"];
    assert_eq!(occurrences(&|_| true, &panics), NOTHING);
}

#[test]
fn files_stay_near_three_hundred_lines() {
    let long = sources().into_iter().filter(|s| s.lines > 350).map(|s| format!("src/{}: {}", s.path, s.lines));
    assert_eq!(long.collect::<Vec<_>>(), NOTHING);
}

#[test]
fn the_rules_find_what_they_forbid() {
    assert!(stands_in("let x = std::fs::read(p);", "std::fs"));
    assert!(stands_in("use crate::git::Git;", "git::"));
    assert!(!stands_in("use my_git::Git;", "git::"));
    assert_eq!(uncommented("let a = 1; // std::fs"), "let a = 1; ");
    assert_eq!(uncommented("let a = \"https://x\";"), "let a = \"https://x\";");
}
