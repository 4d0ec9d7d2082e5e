//! One policy file, strictly: unknown keys and bad values are fatal, with line, column and what was probably meant.

use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, Who};
use super::{Source, disposable, duration, pattern};
use crate::error::{Error, Result};

/// A value with where it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) offset: usize,
}

/// A list of values, each with its place.
pub(super) type List<T> = Option<Vec<At<T>>>;

/// What a file says; `None` is silence.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) source: Source,
    shown: String,
    text: String,
    pub(super) base: List<String>,
    pub(super) remotes: List<String>,
    pub(super) protect: List<String>,
    pub(super) keep: Option<Duration>,
    pub(super) branches: List<String>,
    pub(super) roots: List<String>,
    pub(super) unused: Option<Duration>,
    pub(super) pushed: Option<Duration>,
    pub(super) dead: Option<Duration>,
    pub(super) purged: Option<Duration>,
    pub(super) landed: Option<Duration>,
    pub(super) landing_pushed: Option<bool>,
    pub(super) disposable: List<String>,
    pub(super) ignored_save: List<String>,
    pub(super) untracked_save: List<String>,
    pub(super) purged_roots: List<PathBuf>,
    pub(super) stale_locks_release: Option<bool>,
    pub(super) hook_post_merge: Option<bool>,
    pub(super) hook_pre_push: Option<bool>,
}

impl File {
    /// Parse the text of a file; `shown` is how messages name it.
    pub(super) fn parse(source: Source, shown: &str, bytes: &[u8]) -> Result<File> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            Error::fatal("bad-policy", format!("{shown}:{line}: not UTF-8"))
        })?;
        let mut file = File::silent(source, shown, text);
        let table = DeTable::parse(text).map_err(|e| {
            let offset = e.span().map_or(text.len(), |span| span.start);
            file.error(offset, e.message().replace('\n', ", ").replace('`', "'"))
        })?;
        file.read_table("", table.get_ref())?;
        Ok(file)
    }

    fn silent(source: Source, shown: &str, text: &str) -> File {
        File {
            source,
            shown: shown.to_owned(),
            text: text.to_owned(),
            base: None,
            remotes: None,
            protect: None,
            keep: None,
            branches: None,
            roots: None,
            unused: None,
            pushed: None,
            dead: None,
            purged: None,
            landed: None,
            landing_pushed: None,
            disposable: None,
            ignored_save: None,
            untracked_save: None,
            purged_roots: None,
            stale_locks_release: None,
            hook_post_merge: None,
            hook_pre_push: None,
        }
    }

    /// An error at a place in the file.
    pub(super) fn error(&self, offset: usize, message: impl std::fmt::Display) -> Error {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::fatal("bad-policy", format!("{}:{line}:{column}: {message}", self.shown))
    }

    fn read_table(&mut self, level: &str, table: &DeTable<'_>) -> Result<()> {
        let mut entries: Vec<_> = table.iter().collect();
        // In the order of the file, so that the first mistake is the one that is told.
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let part: &str = key.get_ref();
            let name = if level.is_empty() { part.to_owned() } else { format!("{level}.{part}") };
            let offset = key.span().start;
            if let Some(known) = keys::find(&name) {
                if known.who == Who::User && matches!(self.source, Source::Repo(_)) {
                    return Err(self
                        .error(offset, format!("'{name}' may be set only in the user's file"))
                        .hint("a repository cannot say it; set it in $XDG_CONFIG_HOME/git-shadow/config.toml"));
                }
                self.read_value(known.name, value)?;
            } else if keys::is_table(&name) {
                match value.get_ref() {
                    DeValue::Table(inner) => self.read_table(&name, inner)?,
                    other => return Err(self.wrong_type(&name, "a table", other, value)),
                }
            } else {
                let error = self.error(offset, format!("unknown key '{name}'"));
                return Err(match keys::nearest(level, &name) {
                    Some(meant) => error.hint(format!("did you mean '{meant}'?")),
                    None => error,
                });
            }
        }
        Ok(())
    }

    fn read_value(&mut self, name: &'static str, value: &Spanned<DeValue<'_>>) -> Result<()> {
        match name {
            "base" => self.base = self.some(name, value, check_base)?,
            "remotes" => self.remotes = self.some(name, value, pattern::check)?,
            "protect" => self.protect = self.list(name, value, pattern::check)?,
            "keep" => self.keep = self.duration(name, value)?,
            "shadows.branches" => self.branches = self.list(name, value, pattern::check)?,
            "shadows.roots" => self.roots = self.list(name, value, pattern::check_root)?,
            "grace.unused" => self.unused = self.duration(name, value)?,
            "grace.pushed" => self.pushed = self.duration(name, value)?,
            "grace.dead" => self.dead = self.duration(name, value)?,
            "grace.purged" => self.purged = self.duration(name, value)?,
            "grace.landed" => self.landed = self.duration(name, value)?,
            "landing.pushed" => self.landing_pushed = self.boolean(name, value)?,
            "ignored.disposable" => self.disposable = self.list(name, value, disposable::check)?,
            "ignored.save" => self.ignored_save = self.list(name, value, pattern::check_ignore)?,
            "untracked.save" => self.untracked_save = self.list(name, value, pattern::check_ignore)?,
            "purged.roots" => self.purged_roots = self.list(name, value, pattern::check_folder)?,
            "locks.stale" => self.stale_locks_release = self.text(name, value, check_stale)?,
            "hooks.post-merge" => self.hook_post_merge = self.boolean(name, value)?,
            "hooks.pre-push" => self.hook_pre_push = self.boolean(name, value)?,
            // A test reads every row of the table of keys.
            other => return Err(self.error(value.span().start, format!("unknown key '{other}'"))),
        }
        Ok(())
    }

    fn wrong_type(&self, name: &str, wanted: &str, found: &DeValue<'_>, at: &Spanned<DeValue<'_>>) -> Error {
        self.error(at.span().start, format!("'{name}' must be {wanted}, not {}", article(found.type_str())))
    }

    fn boolean(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<Option<bool>> {
        match value.get_ref() {
            DeValue::Boolean(value) => Ok(Some(*value)),
            other => Err(self.wrong_type(name, "true or false", other, value)),
        }
    }

    fn text<T>(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>> {
        match value.get_ref() {
            DeValue::String(text) => check(text).map(Some).map_err(|e| self.error(value.span().start, e)),
            other => Err(self.wrong_type(name, "a string", other, value)),
        }
    }

    fn duration(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<Option<Duration>> {
        match value.get_ref() {
            DeValue::String(_) => self.text(name, value, duration::parse),
            other => Err(self.wrong_type(name, "a duration such as \"24h\"", other, value)),
        }
    }

    fn list<T>(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<List<T>> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(name, "a list of strings", value.get_ref(), value));
        };
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let DeValue::String(text) = item.get_ref() else {
                return Err(self.wrong_type(name, "a list of strings", item.get_ref(), item));
            };
            let offset = item.span().start;
            list.push(At { value: check(text).map_err(|e| self.error(offset, e))?, offset });
        }
        Ok(Some(list))
    }

    /// A list that must name something: an empty one would only mean that every shadow is held.
    fn some(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        check: impl Fn(&str) -> Result<String, String>,
    ) -> Result<List<String>> {
        let list = self.list(name, value, check)?;
        if list.as_ref().is_some_and(Vec::is_empty) {
            return Err(self.error(value.span().start, format!("'{name}' must name at least one")));
        }
        Ok(list)
    }
}

fn article(kind: &str) -> String {
    let an = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{an} {kind}")
}

fn check_base(name: &str) -> Result<String, String> {
    let bad = |why: &str| Err(format!("bad base '{name}': {why}"));
    if name.starts_with("refs/") && !name.starts_with("refs/heads/") && !name.starts_with("refs/remotes/") {
        return bad("work lands on branches, below 'refs/heads/' or 'refs/remotes/'");
    }
    match gix::validate::reference::name_partial(name.into()) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => bad("not the name of a branch"),
    }
}

fn check_stale(text: &str) -> Result<bool, String> {
    match text {
        "hold" => Ok(false),
        "release" => Ok(true),
        other => Err(format!("'{other}' is neither 'hold' nor 'release'")),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
