//! Every key of a policy file: one row a key, for the parser's hints, `explain`, `init` and the manual.

/// Whose file may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The user's and the repository's.
    Both,
    /// The user's only.
    User,
}

/// A key of a policy file.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its dotted name.
    pub name: &'static str,
    /// Whose file may set it.
    pub who: Who,
    /// The built-in value, as TOML.
    pub default: &'static str,
    /// How a repository's value meets the user's.
    pub layers: &'static str,
    /// What it decides, in one line.
    pub about: &'static str,
}

macro_rules! keys {
    ($($name:literal $who:ident $default:literal $layers:literal $about:literal;)*) => {
        /// Every key, in the order of the manual.
        pub const KEYS: &[Key] = &[
            $(Key { name: $name, who: Who::$who, default: $default, layers: $layers, about: $about },)*
        ];
    };
}

keys! {
    "base" Both r#"["auto"]"# "the repository's replaces the user's"
        "refs that work lands on; \"auto\" is the default branch of each remote and its local twin";
    "remotes" Both r#"["*"]"# "the repository's replaces the user's"
        "names of the remotes that \"auto\" looks at";
    "protect" Both "[]" "all together"
        "branches that are never released, by short or full name";
    "keep" Both r#""30d""# "the longer one"
        "how long what was released can be taken back";
    "shadows.branches" Both r#"["aos/**"]"# "the repository's are added"
        "which branches are sessions'; '*' stays within one level, '**' crosses";
    "shadows.roots" User "the aos sessions folder" "user only"
        "folders of sessions' worktrees: absolute paths, with wildcards or '~/'";
    "grace.unused" Both r#""24h""# "the longer one"
        "how long a shadow without work of its own is left alone";
    "grace.pushed" Both r#""3d""# "the longer one"
        "how long one whose work is on a remote but has not landed is left alone";
    "grace.dead" Both r#""24h""# "the longer one"
        "how long one whose process died unfinished is left alone";
    "grace.purged" Both r#""24h""# "the longer one"
        "how long one whose files are gone is left alone";
    "grace.landed" Both r#""0s""# "the longer one"
        "how long one that has landed is left alone";
    "landing.pushed" Both "false" "true wins"
        "what landed on a local base counts only once a remote has it";
    "ignored.disposable" Both
        r#"["target", "node_modules", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".next", ".nuxt", ".turbo", ".gradle", ".parcel-cache", "*.pyc", ".DS_Store"]"#
        "all together"
        "more directories and file names that can be rebuilt, where git ignores them";
    "ignored.save" User "[]" "user only"
        "ignored files, up to 1 MiB each, that are saved with the operation and then do not hold";
    "untracked.save" User "[]" "user only"
        "untracked files, up to 1 MiB each, that are saved with the operation and then do not hold";
    "purged.roots" User "[]" "user only"
        "more temporary folders, from which what is gone is gone for good";
    "locks.stale" User r#""hold""# "user only"
        "\"release\": a sweep passes a lock that names a process which is provably dead";
    "hooks.post-merge" Both "true" "false wins"
        "release what just landed after a merge or pull";
    "hooks.pre-push" Both "true" "false wins"
        "release what just landed after a push";
}

/// The names that stand at `level` (a table's dotted name, empty for the top), with the level.
fn names_at(level: &str) -> impl Iterator<Item = &'static str> + '_ {
    KEYS.iter().filter_map(move |key| {
        let rest = if level.is_empty() { key.name } else { key.name.strip_prefix(level)?.strip_prefix('.')? };
        let end = rest.find('.').unwrap_or(rest.len());
        Some(&key.name[..key.name.len() - rest.len() + end])
    })
}

/// The key with this dotted name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether keys stand below `name`.
pub(super) fn is_table(name: &str) -> bool {
    names_at(name).next().is_some()
}

/// The name that was probably meant by the unknown `name` in the table `level`.
pub(super) fn nearest(level: &str, name: &str) -> Option<&'static str> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let misplaced = || KEYS.iter().map(|key| key.name).find(|key| key.rsplit('.').next() == Some(last));
    names_at(level)
        .map(|known| (strsim::normalized_damerau_levenshtein(known, name), known))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
        .or_else(misplaced)
}

#[cfg(test)]
mod tests {
    use super::{KEYS, find, is_table, nearest};

    #[test]
    fn the_nearest_key_is_found_on_its_level() {
        for (level, name, meant) in [
            ("", "grce", Some("grace")),
            ("", "bases", Some("base")),
            ("", "protected", Some("protect")),
            ("shadows", "shadows.branch", Some("shadows.branches")),
            ("hooks", "hooks.post_merge", Some("hooks.post-merge")),
            ("", "branches", Some("shadows.branches")),
            ("", "zebra", None),
        ] {
            assert_eq!(nearest(level, name), meant, "{level} {name}");
        }
    }

    #[test]
    fn keys_are_unique_and_no_table_is_a_key() {
        for (at, key) in KEYS.iter().enumerate() {
            assert_eq!(KEYS.iter().position(|other| other.name == key.name), Some(at));
            assert!(!is_table(key.name), "{}", key.name);
            assert!(find(key.name).is_some());
        }
    }
}
