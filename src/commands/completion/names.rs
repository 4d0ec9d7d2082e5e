//! Values that only the repository knows: shadows and operations. Nobody looks into worktrees or history for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap_complete::engine::CompletionCandidate;
use gix::bstr::ByteSlice as _;

use crate::commands::{Context, Options, fleet};
use crate::discover::discover;
use crate::error::Result;
use crate::execute::undo::{can_undo, names};
use crate::git::Repository;
use crate::journal::{Journal, Operation};
use crate::lease::Leases;
use crate::model::{Shadow, last_part, short_name};
use crate::policy;
use crate::report::fields::FIELDS;
use crate::ui::{Look, Ui};

/// Where to look.
#[derive(Debug, Clone)]
pub(super) struct Places {
    options: Options,
    dir: PathBuf,
}

impl Places {
    pub(super) fn of(options: Options, dir: &Path) -> Places {
        let mut dir = dir.to_owned();
        dir.extend(&options.directory);
        Places { options, dir }
    }

    fn repositories(&self) -> impl Iterator<Item = Repository> {
        let ui = Ui::new(Look { quiet: true, ..Look::default() });
        let context = Context { ui: &ui, options: &self.options, dir: self.dir.clone(), command: "completion" };
        fleet::repositories(&context).into_iter().filter_map(|(_, repo)| repo.ok())
    }
}

/// Names of shadows, with their places; where none begins so, the other words that mean one: the last part of the
/// branch, the registration, the session.
pub(super) fn shadows(places: &Places, typed: &str) -> Vec<CompletionCandidate> {
    let mut found = BTreeSet::new();
    let mut others = BTreeSet::new();
    for repo in places.repositories() {
        let Ok((shadows, leases)) = discovered(&repo) else { continue };
        for shadow in shadows.iter().filter(|shadow| !shadow.foreign) {
            let path = shadow.worktree.as_ref().and_then(|worktree| worktree.path.as_deref());
            let place = path.map_or("no worktree".into(), crate::ui::safe_path);
            found.extend(plain(&shadow.name).map(|name| (name, place.clone())));
            others.extend(plain(last_part(shadow.name.as_bstr())).map(|name| (name, place.clone())));
            others.extend(shadow.worktree.as_ref().and_then(|worktree| plain(&worktree.id)).map(|id| (id, place)));
        }
        others.extend(leases.into_iter().filter_map(|id| Some((plain(id.as_bytes())?, "session".into()))));
    }
    let begins = |(name, _): &(String, String)| name.starts_with(typed);
    if !found.iter().any(begins) {
        found = others;
    }
    found
        .into_iter()
        .filter(begins)
        .map(|(name, help)| CompletionCandidate::new(name).help(Some(help.into())))
        .collect()
}

fn discovered(repo: &Repository) -> Result<(Vec<Shadow>, Vec<String>)> {
    let discovery = discover(repo, &repo.local(), &policy::load(repo)?, &Leases::read())?;
    let own = discovery.leases.all().filter(|lease| {
        let names = |shadow: &&Shadow| {
            let branch = shadow.branch.as_ref().map(|branch| short_name(branch.name.as_bstr()));
            lease.branches.iter().any(|named| Some(short_name(named.as_bstr())) == branch)
        };
        discovery.shadows.iter().any(|shadow| names(&shadow))
    });
    let ids = own.map(|lease| lease.id.clone()).collect();
    Ok((discovery.shadows, ids))
}

/// Operations that can be taken back, the newest first; where none begins so, the shadows that they released.
pub(super) fn operations(places: &Places, typed: &str) -> Vec<CompletionCandidate> {
    let mut operations: Vec<Operation> =
        places.repositories().flat_map(|repo| Journal::of(&repo).load().unwrap_or_default()).collect();
    operations.sort_by_key(|operation| std::cmp::Reverse(operation.header.started));
    let open = |operation: &Operation| operation.items.iter().filter(|item| can_undo(item, None)).count();
    let ids: Vec<(String, String)> = operations
        .iter()
        .filter(|operation| open(operation) > 0)
        .map(|operation| {
            let more = if open(operation) == 1 { "" } else { "s" };
            (
                operation.header.operation.clone(),
                format!("{}, {} item{more}", operation.header.command, open(operation)),
            )
        })
        .collect();
    let shadows = || {
        let items = operations.iter().flat_map(|operation| &operation.items).filter(|item| can_undo(item, None));
        let words: BTreeSet<String> = items.flat_map(names).filter_map(|name| plain(&name)).collect();
        words.into_iter().filter(|word| !word.starts_with('/') && !word.starts_with("refs/"))
    };
    let mut found: Vec<_> = ids.into_iter().filter(|(id, _)| id.starts_with(typed)).collect();
    if found.is_empty() {
        found = shadows().filter(|name| name.starts_with(typed)).map(|name| (name, "released".to_owned())).collect();
    }
    found.dedup_by(|a, b| a.0 == b.0);
    let numbered = found.into_iter().enumerate();
    numbered
        .map(|(n, (name, help))| CompletionCandidate::new(name).help(Some(help.into())).display_order(Some(n)))
        .collect()
}

/// The field under way in a template.
pub(super) fn fields(_: &Places, typed: &str) -> Vec<CompletionCandidate> {
    let (before, begun) = match typed.rsplit_once("%(") {
        Some((before, begun)) if !begun.contains(')') => (before, begun),
        Some(_) | None => (typed.strip_suffix('%').unwrap_or(typed), ""),
    };
    let fields = FIELDS.iter().filter(|field| field.name.starts_with(begun)).enumerate();
    fields
        .map(|(n, field)| {
            let candidate = CompletionCandidate::new(format!("{before}%({})", field.name));
            candidate.help(Some(field.about.into())).display_order(Some(n))
        })
        .collect()
}

/// A name that means nothing to any shell; of another one, nobody wants to see what a shell makes of it.
fn plain(name: &[u8]) -> Option<String> {
    let name = name.to_str().ok()?;
    let harmless = |c: char| c.is_alphanumeric() || "._/+@%,-".contains(c);
    (!name.is_empty() && !name.starts_with('-') && name.chars().all(harmless)).then(|| name.to_owned())
}
