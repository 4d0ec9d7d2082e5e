//! `branch.<name>.*` in the repository's configuration: saved, removed and put back, under its lock.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result, chain};
use crate::git::Repository;

fn file(repo: &Repository) -> PathBuf {
    repo.common_dir().join("config")
}

fn short(name: &BStr) -> &BStr {
    name.strip_prefix(b"refs/heads/").unwrap_or(name).as_bstr()
}

/// The sections of every branch, byte for byte, by full name.
pub(super) fn sections(repo: &Repository) -> Result<BTreeMap<BString, BString>> {
    let config = gix::config::File::from_path_no_includes(file(repo), gix::config::Source::Local)
        .map_err(|e| Error::failed("config", chain(&e)))?;
    let mut found: BTreeMap<BString, BString> = BTreeMap::new();
    for section in config.sections_by_name("branch").into_iter().flatten() {
        if let Some(name) = section.header().subsection_name() {
            found
                .entry([b"refs/heads/", name.as_bytes()].concat().into())
                .or_default()
                .extend(section.to_bstring().iter());
        }
    }
    Ok(found)
}

/// Remove the sections of these branches.
///
/// # Errors
/// When the file's lock is busy, or it cannot be written; then it is as it was.
pub(super) fn remove<'a>(repo: &Repository, names: impl IntoIterator<Item = &'a BStr>) -> Result<()> {
    let names: Vec<&BStr> = names.into_iter().map(short).collect();
    let present = sections(repo)?;
    if !names.iter().any(|name| present.keys().any(|full| short(full.as_ref()) == *name)) {
        return Ok(());
    }
    let failed = |e: &gix::Error| Error::failed("config", format!("cannot change the configuration: {}", chain(e)));
    let mut config = repo.local().config_file_mut(file(repo)).map_err(|e| failed(&e))?;
    let ids: Vec<_> = config
        .sections_and_ids_by_name("branch")
        .into_iter()
        .flatten()
        .filter(|(section, _)| section.header().subsection_name().is_some_and(|name| names.contains(&name)))
        .map(|(_, id)| id)
        .collect();
    for id in ids {
        config.remove_section_by_id(id);
    }
    config.commit().map_err(|e| failed(&e))
}

/// Put the saved sections of a branch back, unless it has some again.
pub(super) fn restore(repo: &Repository, name: &BStr, saved: &BStr) -> Result<()> {
    if saved.is_empty() || sections(repo)?.contains_key(name) {
        return Ok(());
    }
    let failed = |e: &gix::Error| Error::failed("config", format!("cannot change the configuration: {}", chain(e)));
    let mut config = repo.local().config_file_mut(file(repo)).map_err(|e| failed(&e))?;
    let saved = gix::config::File::from_bytes_no_includes(saved, config.meta_owned(), Default::default())
        .map_err(|e| Error::failed("config", chain(&e)))?;
    config.append(saved).map_err(|e| Error::failed("config", chain(&e)))?;
    config.commit().map_err(|e| failed(&e))
}
