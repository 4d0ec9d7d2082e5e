//! Installing and removing the hooks of one repository, and how they stand: `install` and `remove` act on what `look`
//! found, and look again.

use std::path::{Path, PathBuf};

use super::configured::{Configured, supported};
use super::managers::{add, calls_ours, is_pre_commit, manager, needs_its_name};
use super::place::Place;
use super::script;
use super::slot::{Slot, There};
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::model::{Change, Event, Hook, HookState, Way};

/// A repository, and where git looks for its hooks.
#[derive(Debug)]
pub struct Site<'a> {
    repo: &'a Repository,
    place: Place,
    program: PathBuf,
    /// The way that is asked for.
    via: Option<Way>,
    /// Hooks are to be configured, where git can run those.
    configured: bool,
    /// git's version.
    version: String,
}

impl<'a> Site<'a> {
    /// The hooks of a repository, as git finds them when it runs in `start`.
    ///
    /// # Errors
    /// When git does not tell, or cannot do what is asked for.
    pub fn of(repo: &'a Repository, start: &Path, via: Option<Way>) -> Result<Self> {
        let (supported, version) = supported(repo)?;
        if via == Some(Way::Config) && !supported {
            return Err(Error::failed("hooks", format!("git {version} knows no configured hooks"))
                .hint("git 2.54 is the first that does"));
        }
        let (place, program) = (Place::find(repo, start)?, script::program()?);
        Ok(Site { repo, place, program, via, configured: supported && via != Some(Way::File), version })
    }

    /// Where git looks for hooks, and which configuration says so.
    pub fn place(&self) -> (&Path, Option<&str>) {
        (&self.place.dir, self.place.scope.as_deref())
    }

    /// Where the hook waits that was there before ours.
    pub fn kept(&self, event: Event) -> PathBuf {
        Slot::new(&self.place.dir, event, false).kept
    }

    /// How a hook stands.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn look(&self, event: Event) -> Result<Hook> {
        let ours = script::render(event, &self.program)?;
        let slot = self.slot(event, &ours)?;
        let there = slot.look(&ours)?;
        let hook = Hook {
            event,
            state: HookState::Absent,
            change: None,
            way: Some(Way::File),
            path: Some(slot.file.clone()),
            chained: None,
            why: None,
            remedy: None,
            off: None,
            failed: None,
        };
        if let There::Ours { intact, current, runs } = there {
            let state = match (intact, current, runs) {
                (false, _, _) => HookState::Edited,
                (true, _, false) => HookState::Bypassed,
                (true, false, true) => HookState::Outdated,
                (true, true, true) => HookState::Installed,
            };
            let chained = slot.chained()?;
            let why = (state == HookState::Bypassed).then(|| "it is not executable".to_owned());
            return Ok(explained(Hook { state, chained, why, ..hook }));
        }
        let configured = Configured::new(self.repo, event);
        if let Some(entry) = configured.look(&ours)? {
            let at = Hook { way: Some(Way::Config), path: Some(configured.script), off: entry.off, ..hook.clone() };
            let state = match (entry.intact, entry.current) {
                (false, _) => HookState::Edited,
                (true, false) => HookState::Outdated,
                (true, true) => HookState::Installed,
            };
            if self.configured || state == HookState::Edited {
                return Ok(explained(Hook { state, ..at }));
            }
            let why = match self.via {
                Some(_) => "it is configured, not a file".to_owned(),
                None => format!("git {} knows no configured hooks", self.version),
            };
            return self.bypassed(why, at, hook, &slot, &there);
        }
        let inner = self.inner(event);
        if inner != slot && matches!(inner.look(&ours)?, There::Ours { .. }) {
            let why = format!("git looks in '{}' (core.hooksPath)", self.place.dir.display());
            let at = Hook { path: Some(inner.file), ..hook.clone() };
            return self.bypassed(why, at, hook, &slot, &there);
        }
        self.without_ours(hook, &slot, &there)
    }

    /// Ours is somewhere where git does not call it: the state, if it could be put where git does.
    fn bypassed(&self, why: String, at: Hook, hook: Hook, slot: &Slot, there: &There) -> Result<Hook> {
        let hook = self.without_ours(hook, slot, there)?;
        let movable = hook.state == HookState::Absent;
        Ok(if movable { explained(Hook { state: HookState::Bypassed, why: Some(why), ..at }) } else { hook })
    }

    /// The place for hooks inside the repository.
    fn inner(&self, event: Event) -> Slot {
        Slot::new(&self.repo.common_dir().join("hooks"), event, false)
    }

    /// How a hook stands that is not there.
    fn without_ours(&self, hook: Hook, slot: &Slot, there: &There) -> Result<Hook> {
        let event = hook.event;
        let text: &[u8] = if let There::Other(text) = there { text } else { &[] };
        let manager = manager(self.repo.work_dir(), &self.place.dir, event, text);
        let calls = |file: &&PathBuf| fs_err::read(file).is_ok_and(|text| calls_ours(&text, event));
        let files = manager.as_ref().map(|manager| manager.files.as_slice()).unwrap_or_default();
        if let Some(file) = files.iter().chain([&slot.file]).find(calls).cloned() {
            let why = Some("a line in it calls git-shadow".to_owned());
            return Ok(Hook { state: HookState::Installed, path: Some(file), why, ..hook });
        }
        let absent = Hook { way: None, path: None, ..hook.clone() };
        if self.is_needless(event)? {
            let why = Some("a push from here moves no remote-tracking ref".to_owned());
            return Ok(Hook { state: HookState::Needless, why, ..absent });
        }
        let absent = explained(absent);
        if self.configured {
            return Ok(absent);
        }
        let managed = |why: String, remedy: String| Hook {
            state: HookState::Managed,
            why: Some(why),
            remedy: Some(remedy),
            ..absent.clone()
        };
        if let Some(manager) = manager {
            return Ok(managed(format!("{} manages the hooks here", manager.name), manager.remedy));
        }
        let add = || add(&slot.file, event);
        if let Some(why) = self.place.unfit() {
            let remedy = if self.place.dir.exists() && !self.place.dir.is_dir() {
                "unset core.hooksPath, or name a directory with it".to_owned()
            } else {
                add()
            };
            return Ok(managed(why, remedy));
        }
        if slot.chained()?.is_some() && !matches!(there, There::Nothing) && !slot.is_half_done()? {
            let (file, kept) = (slot.file.display(), slot.kept.display());
            let why = Some(format!("another hook has been written over it; the one before is '{kept}'"));
            let remedy = Some(format!("make one hook of '{file}' and '{kept}', then remove the latter"));
            return Ok(Hook { state: HookState::Replaced, why, remedy, ..hook });
        }
        if needs_its_name(text) || slot.is_one_of_many() {
            return Ok(managed(format!("'{}' may work under its own name only", slot.file.display()), add()));
        }
        Ok(absent)
    }

    /// Where a hook of ours is, or would be put: pre-commit calls the one that it found from another place.
    fn slot(&self, event: Event, ours: &[u8]) -> Result<Slot> {
        let slot = Slot::new(&self.place.dir, event, false);
        Ok(match slot.look(ours)? {
            There::Other(text) if is_pre_commit(&text) => Slot::new(&self.place.dir, event, true),
            There::Other(_) | There::Ours { .. } | There::Nothing => slot,
        })
    }

    /// A bare repository that follows no remote learns nothing from a push.
    fn is_needless(&self, event: Event) -> Result<bool> {
        let refs = ["for-each-ref", "--count=1", "refs/remotes/"];
        Ok(event == Event::PrePush && self.repo.is_bare() && self.repo.git(refs).run()?.is_empty())
    }

    /// Put a hook where git calls it, unless it is there or may not be: its state tells. With `really` unset nothing is
    /// done.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn install(&self, event: Event, really: bool) -> Result<Hook> {
        let hook = self.look(event)?;
        let moves = self.via.is_some_and(|via| hook.way != Some(via)) && hook.why.is_none();
        let change = match hook.state {
            HookState::Absent => Change::Installed,
            HookState::Installed if moves => Change::Updated,
            HookState::Outdated | HookState::Bypassed => Change::Updated,
            HookState::Installed
            | HookState::Edited
            | HookState::Replaced
            | HookState::Needless
            | HookState::Managed => return Ok(hook),
        };
        let change = Some(change);
        if !really {
            return Ok(Hook { change, ..hook });
        }
        let ours = script::render(event, &self.program)?;
        let configured = Configured::new(self.repo, event);
        let slot = self.slot(event, &ours)?;
        let filed = matches!(slot.look(&ours)?, There::Ours { .. });
        if self.configured && (!filed || self.via.is_some()) {
            configured.put(&ours)?;
            if filed {
                slot.take()?;
            }
        } else {
            slot.put(&ours)?;
            if configured.look(&ours)?.is_some_and(|entry| entry.intact) {
                configured.take()?;
            }
        }
        let inner = self.inner(event);
        if inner != slot && matches!(inner.look(&ours)?, There::Ours { intact: true, .. }) {
            inner.take()?;
        }
        Ok(Hook { change, ..self.look(event)? })
    }

    /// Take a hook out wherever it is, and put back what was there before. One that somebody has changed or replaced
    /// stays: its state tells. With `really` unset nothing is done.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn remove(&self, event: Event, really: bool) -> Result<Hook> {
        let dirs = [self.place.dir.clone(), self.repo.common_dir().join("hooks")];
        let slots = dirs.iter().flat_map(|dir| [false, true].map(|legacy| Slot::new(dir, event, legacy)));
        let mut removed = false;
        for slot in slots {
            let ours = matches!(slot.look(&[])?, There::Ours { intact: true, .. });
            // Both places have one name for the old hook; where ours is gone, it belongs to git's own.
            let gone = slot.is_gits() && slot.chained()?.is_some() && slot.look(&[])? == There::Nothing;
            let left = gone || slot.is_half_done()?;
            if ours || left {
                removed |= if really { slot.take()? } else { true };
            }
        }
        let configured = Configured::new(self.repo, event);
        if configured.look(&[])?.is_some_and(|entry| entry.intact) {
            removed = true;
            if really {
                configured.take()?;
            }
        }
        Ok(Hook { change: removed.then_some(Change::Removed), ..self.look(event)? })
    }
}

/// With what would help.
fn explained(hook: Hook) -> Hook {
    let remedy = match hook.state {
        HookState::Edited => {
            let shown = hook.path.as_deref().unwrap_or(Path::new("")).display();
            Some(format!("somebody has changed '{shown}': move it aside, then install again"))
        }
        HookState::Absent | HookState::Outdated | HookState::Bypassed => {
            Some("'git shadow hooks install' puts it there".to_owned())
        }
        HookState::Installed | HookState::Replaced | HookState::Needless | HookState::Managed => None,
    };
    Hook { remedy, ..hook }
}
