use std::path::Path;

use super::*;

#[test]
fn one_star_stays_within_a_level_and_two_cross() {
    for (pattern, name, hit) in [
        ("aos/**", "refs/heads/aos/claude/ab45", true),
        ("aos/**", "refs/heads/aos/x", true),
        ("aos/**", "refs/heads/aos", false),
        ("aos/**", "refs/heads/aosx/y", false),
        ("aos/**", "refs/heads/x/aos/y", false),
        ("aos/*", "refs/heads/aos/x", true),
        ("aos/*", "refs/heads/aos/x/y", false),
        ("*", "refs/heads/main", true),
        ("*", "refs/heads/a/b", false),
        ("**", "refs/heads/a/b", true),
        ("refs/heads/aos/*", "refs/heads/aos/x", true),
        ("[am]os/?", "refs/heads/mos/x", true),
        ("AOS/**", "refs/heads/aos/x", false),
    ] {
        assert_eq!(matches_branch(pattern, name.into()), hit, "{pattern} {name}");
    }
    assert!(matches_branch("aos/*", b"refs/heads/aos/\xff".as_bstr()), "names are bytes");
}

#[test]
fn patterns_without_a_fixed_part_cover_everything() {
    for pattern in ["*", "**", "**/*", "*/*", "?*", "[a-z]*", "[!x]**", "[]]*", "refs/heads/**", ""] {
        assert!(covers_everything(pattern), "{pattern}");
    }
    for pattern in ["aos/**", "m*", "*-agent", "**/x", "[a]b"] {
        assert!(!covers_everything(pattern), "{pattern}");
    }
}

#[test]
fn bad_patterns_say_why() {
    for (pattern, why) in [
        ("", "empty"),
        ("!aos/**", "negated"),
        ("/aos", "slash"),
        ("aos/", "slash"),
        ("a//b", "slash"),
        ("a b", "character"),
        ("a[b", "not closed"),
        ("a[]b", "not closed"),
        ("a\\", "backslash"),
    ] {
        assert!(check(pattern).is_err_and(|e| e.contains(why)), "{pattern}");
    }
    for pattern in ["aos/**", "a[]b]c", "[!a]x", "a\\[b", "über/*"] {
        assert_eq!(check(pattern).as_deref(), Ok(pattern));
    }
}

#[test]
fn roots_are_absolute_and_never_everything() {
    for root in ["", "relative", "~other/x", "/", "//", "/*", "/**", "/a/../b"] {
        assert!(check_root(root).is_err(), "{root}");
    }
    assert_eq!(check_root("/tmp/aos/").as_deref(), Ok("/tmp/aos"));
    assert!(check_root("~/sessions").is_ok_and(|p| p.ends_with("/sessions") && !p.contains('~')));
    assert_eq!(check_folder("/scratch/").as_deref(), Ok(Path::new("/scratch")));
    assert!(check_folder("/scratch/*").is_err());
}

#[test]
fn under_a_root_is_the_root_or_anything_below() {
    for (root, path, hit) in [
        ("/tmp/aos", "/tmp/aos/ab45/repo", true),
        ("/tmp/aos", "/tmp/aos", true),
        ("/tmp/aos", "/tmp/aosx/y", false),
        ("/tmp/aos", "/tmp/aos/../etc", false),
        ("/tmp/aos", "tmp/aos/x", false),
        ("/home/*/wt", "/home/me/wt/a", true),
        ("/home/*/wt", "/home/me/x/wt/a", false),
        ("/tmp/a\\[b", "/tmp/a[b/c", true),
    ] {
        assert_eq!(is_under(root, Path::new(path)), hit, "{root} {path}");
    }
    assert_eq!(escape("/tmp/a[b"), "/tmp/a\\[b");
}

#[test]
fn saved_files_are_selected_as_gitignore_selects() {
    let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
    for (patterns, file, hit) in [
        (&[".env"][..], "a/b/.env", true),
        (&["/.env"], "a/.env", false),
        (&["/.env"], ".env", true),
        (&["notes/"], "notes/a/b.md", true),
        (&["notes/"], "notes", false),
        (&["*.md"], "a/b.md", true),
        (&["a/*.md"], "a/b/c.md", false),
        (&["a/**/*.md"], "a/b/c.md", true),
        (&["*.md", "!README.md"], "x/README.md", false),
        (&["!README.md", "*.md"], "x/README.md", true),
        (&["notes/", "!notes/a.md"], "notes/a.md", true),
        (&[], "a", false),
    ] {
        assert_eq!(selects(&list(patterns), file.into()), hit, "{patterns:?} {file}");
    }
    for pattern in ["", "#x", " x", "a["] {
        assert!(check_ignore(pattern).is_err(), "{pattern:?}");
    }
}
