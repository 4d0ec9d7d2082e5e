//! The repository's configuration: `branch.<name>.*` saved, removed and put back, single values changed, under its lock.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{Error, Result, chain};
use crate::git::Repository;
use crate::journal::ConfigChange;

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
    let mut config = repo.local().config_file_mut(file(repo)).map_err(|e| unchanged(&e))?;
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
    config.commit().map_err(|e| unchanged(&e))
}

/// Put the saved sections of a branch back, unless it has some again.
pub(super) fn restore(repo: &Repository, name: &BStr, saved: &BStr) -> Result<()> {
    if saved.is_empty() || sections(repo)?.contains_key(name) {
        return Ok(());
    }
    let mut config = repo.local().config_file_mut(file(repo)).map_err(|e| unchanged(&e))?;
    let saved = gix::config::File::from_bytes_no_includes(saved, config.meta_owned(), Default::default())
        .map_err(|e| Error::failed("config", chain(&e)))?;
    config.append(saved).map_err(|e| Error::failed("config", chain(&e)))?;
    config.commit().map_err(|e| unchanged(&e))
}

/// Change values, all of them or none.
///
/// # Errors
/// `raced` when one is not what it was, or when the file's lock is busy or it cannot be written.
pub(super) fn change(repo: &Repository, changes: &[ConfigChange]) -> Result<()> {
    let mut config = repo.local().config_file_mut(file(repo)).map_err(|e| unchanged(&e))?;
    for change in changes {
        let key = format!("{}.{}.{}", change.section, change.subsection, change.key);
        let Some(id) = section_for(&config, change) else {
            return Err(Error::failed("raced", format!("'{key}' is no longer what it was")));
        };
        let bad = |e: gix::Error| unchanged(&e);
        let mut section = match id {
            Some(id) => config.section_mut_by_id(id),
            None => Some(config.new_section(&change.section, change.subsection.clone()).map_err(bad)?),
        };
        let Some(section) = &mut section else { continue };
        match &change.after {
            Some(after) if change.before.is_some() => {
                section.set(&change.key, after.as_bstr()).map(|_| ()).map_err(bad)?
            }
            Some(after) => section.push(&change.key, after.as_bstr()).map(|_| ()).map_err(bad)?,
            None => {
                section.remove(&change.key);
                let (id, is_void) = (section.id(), section.is_void());
                // One that was only made for it.
                if is_void {
                    config.remove_section_by_id(id);
                }
            }
        }
    }
    config.commit().map_err(|e| unchanged(&e))
}

/// Whether every value is what it must be for these changes.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn can_change(repo: &Repository, changes: &[ConfigChange]) -> Result<bool> {
    let config = gix::config::File::from_path_no_includes(file(repo), gix::config::Source::Local)
        .map_err(|e| Error::failed("config", chain(&e)))?;
    Ok(changes.iter().all(|change| section_for(&config, change).is_some()))
}

/// The section to change: the last one whose last value of this key is the one that must be there; for a value that is
/// added, the last section of this name (`Some(None)`: there is none yet), if it is in none.
fn section_for(config: &gix::config::File, change: &ConfigChange) -> Option<Option<gix::config::file::SectionId>> {
    let sections: Vec<_> = config
        .sections_and_ids_by_name(&change.section)
        .into_iter()
        .flatten()
        .filter(|(section, _)| section.header().subsection_name() == Some(change.subsection.as_bstr()))
        .collect();
    match &change.before {
        Some(before) => {
            let has = |section: &gix::config::file::SectionRef<'_>| section.values(&change.key).last() == Some(before);
            sections.iter().rev().find(|(section, _)| has(section)).map(|(_, id)| Some(*id))
        }
        None => {
            let there = |section: &gix::config::file::SectionRef<'_>| {
                section.values(&change.key).iter().any(|value| Some(value) == change.after.as_ref())
            };
            (!sections.iter().any(|(section, _)| there(section))).then(|| sections.last().map(|(_, id)| *id))
        }
    }
}

fn unchanged(error: &gix::Error) -> Error {
    Error::failed("config", format!("cannot change the configuration: {}", chain(error)))
}
