use std::path::PathBuf;

use super::super::{KEYS, Policy, Who, layers};
use super::*;

fn user(text: &str) -> Result<File> {
    File::parse(Source::User(PathBuf::from("/u")), "/u/config.toml", text.as_bytes())
}

fn repo(text: &str) -> Result<File> {
    File::parse(Source::Repo(".shadowrc".into()), ".shadowrc", text.as_bytes())
}

fn refusal(result: Result<File>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(e) => format!("{}{}", e.message, e.hint.map(|hint| format!(" ; hint: {hint}")).unwrap_or_default()),
    }
}

#[test]
fn every_key_is_read_with_its_default() {
    for key in KEYS.iter().filter(|key| key.name != "shadows.roots") {
        let text = format!("{} = {}", key.name, key.default);
        assert_eq!(refusal(user(&text)), "accepted", "{text}");
        let refused = refusal(repo(&text)).contains("only in the user's file");
        assert_eq!(refused, key.who == Who::User, "{text}");
    }
    assert_eq!(refusal(user("shadows.roots = ['~/x', '/y/*']\nignored.disposable = ['coverage']")), "accepted");
}

#[test]
fn mistakes_are_told_with_line_column_and_what_was_meant() {
    for (text, told) in [
        ("base = ['auto']\n  grce = 1\n", "2:3: unknown key 'grce' ; hint: did you mean 'grace'?"),
        ("[grace]\nunusd = '1h'", "2:1: unknown key 'grace.unusd' ; hint: did you mean 'grace.unused'?"),
        ("[grace.unused]\nx = 1", "1:1: 'grace.unused' must be a duration such as \"24h\", not a table"),
        ("zebra = 1", "1:1: unknown key 'zebra'"),
        ("base.auto = 1", "1:1: 'base' must be a list of strings, not a table"),
        ("grace = '1h'", "1:9: 'grace' must be a table, not a string"),
        ("keep = 30", "1:8: 'keep' must be a duration such as \"24h\", not an integer"),
        ("keep = '30'", "1:8: '30' is not a duration; write a number and one of s, m, h, d, w, such as '24h'"),
        ("keep = '99999999w'", "1:8: '99999999w' is longer than a thousand years"),
        ("protect = ['ü', 3]", "1:17: 'protect' must be a list of strings, not an integer"),
        ("protect = 'main'", "1:11: 'protect' must be a list of strings, not a string"),
        ("protect = ['a[']", "1:12: bad pattern 'a[': '[' is not closed"),
        ("landing.pushed = 'yes'", "1:18: 'landing.pushed' must be true or false, not a string"),
        ("locks.stale = 'drop'", "1:15: 'drop' is neither 'hold' nor 'release'"),
        ("base = []", "1:8: 'base' must name at least one"),
        ("base = ['refs/tags/v1']", "1:9: bad base 'refs/tags/v1': work lands on branches"),
        ("base = ['a..b']", "1:9: bad base 'a..b': not the name of a branch"),
        ("ignored.disposable = ['*.log']", "1:23: bad name '*.log': only literal names are allowed"),
        ("shadows.roots = ['rel']", "1:18: 'rel' is not an absolute path"),
        ("purged.roots = ['/t/*']", "1:17: '/t/*' is a pattern; name the folder itself"),
    ] {
        let refusal = refusal(user(text));
        assert!(refusal.starts_with(&format!("/u/config.toml:{told}")), "{text}\n{refusal}");
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    assert!(refusal(user("keep = '1d'\nkeep = '2d'")).starts_with("/u/config.toml:2:1: duplicate key"));
    assert_eq!(refusal(user("base = [\n")), "/u/config.toml:1:9: unclosed array, expected ']'");
    let bytes = File::parse(Source::Repo("x".into()), "x", b"# ok\n# \xff\n");
    assert_eq!(refusal(bytes), "x:2: not UTF-8");
    assert_eq!(refusal(user("\u{feff}keep = '1d'")), "accepted");
}

#[test]
fn the_users_file_replaces_and_adds() -> Result<()> {
    let mut policy = Policy::built_in();
    let text = "protect = ['release/*']\nkeep = '7d'\nshadows.branches = ['bot/**']\ngrace.unused = '1h'\n\
                hooks.pre-push = false\nignored.disposable = ['coverage', 'target']\nlocks.stale = 'release'";
    layers::user(&mut policy, user(text)?);
    let source = Source::User("/u".into());
    let row = |key: &str| policy.rows().into_iter().find(|row| row.key == key).map(|row| (row.value, row.from));
    assert_eq!(row("keep"), Some(("\"7d\"".to_owned(), vec![source.clone()])));
    assert_eq!(row("shadows.branches"), Some(("[\"bot/**\"]".to_owned(), vec![source.clone()])));
    assert_eq!(row("grace.unused"), Some(("\"1h\"".to_owned(), vec![source.clone()])));
    assert_eq!(row("protect"), Some(("[\"release/*\"]".to_owned(), vec![source.clone()])));
    assert_eq!(row("locks.stale"), Some(("\"release\"".to_owned(), vec![source.clone()])));
    assert_eq!(policy.disposable.from, [Source::Default, source]);
    assert_eq!(policy.disposable.iter().filter(|name| *name == "target").count(), 1);
    assert!(!*policy.hook_pre_push && *policy.hook_post_merge);
    assert_eq!(policy.is_protected_name("refs/heads/release/1".into()).as_deref(), Some("release/*"));
    assert_eq!(policy.is_protected_name("refs/heads/other".into()), None);
    Ok(())
}
