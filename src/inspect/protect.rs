//! Branches and worktrees that are never released, whatever they track and whatever has landed.

use std::collections::HashMap;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::git::Repository;
use crate::git::bases::{Followed, branch_of, default_names, follow, heads, local_twin};
use crate::model::{Base, Fact, short_name};
use crate::policy::Policy;

/// The branches of a repository that are protected by what they are, read once for all branches.
#[derive(Debug)]
pub struct Protection {
    names: HashMap<BString, String>,
    /// What could not be read: then any branch may be one.
    unread: Option<String>,
}

impl Protection {
    /// Bases, their local twins and namesakes, and every default branch: the usual names, what the HEAD of any remote
    /// points at (existing or not), and HEAD of a bare repository.
    pub fn read(repo: &Repository, policy: &Policy, bases: &[Base]) -> Protection {
        let mut protection = Protection { names: HashMap::new(), unread: None };
        if let Err(error) = protection.fill(repo, policy, bases) {
            protection.unread = Some(error);
        }
        protection
    }

    fn fill(&mut self, repo: &Repository, policy: &Policy, bases: &[Base]) -> Result<(), String> {
        let gix = repo.local();
        for base in bases {
            self.add(base.name.clone(), "it is a base".to_owned());
        }
        for base in bases {
            let why = format!("it is the local branch of the base '{}'", short_name(base.name.as_ref()));
            if let Some((twin, _)) = local_twin(&gix, policy, base.name.as_ref())? {
                self.add(twin, why.clone());
            }
            self.add(heads(branch_of(&gix, base.name.as_ref())), why);
        }
        for name in default_names(&gix) {
            self.add(heads(name), "it has the name of a default branch".to_owned());
        }
        for remote in gix.remote_names() {
            let head = format!("refs/remotes/{remote}/HEAD");
            match follow(&gix, head.as_str().into())? {
                Followed::Found(target, _) | Followed::Dangling(target) if target != head.as_str() => {
                    let why = format!("it is the default branch of '{remote}'");
                    self.add(heads(branch_of(&gix, target.as_ref())), why);
                }
                Followed::Found(..) | Followed::Dangling(_) | Followed::Absent => {}
            }
        }
        if repo.is_bare() {
            let head = gix.head_name().map_err(|e| format!("cannot read HEAD: {}", crate::error::chain(&e)))?;
            if let Some(head) = head {
                self.add(head.as_bstr().to_owned(), "it is the default branch of the repository".to_owned());
            }
        }
        Ok(())
    }

    fn add(&mut self, name: BString, why: String) {
        self.names.entry(name).or_insert(why);
    }

    /// Why a branch (its full name) is protected. Where that cannot be told it is.
    pub fn of(&self, policy: &Policy, branch: &BStr) -> Option<String> {
        let by_policy = || policy.is_protected_name(branch).map(|p| format!("policy protects '{p}'"));
        let by_doubt = || self.unread.as_ref().map(|why| format!("it cannot be told whether it is a base: {why}"));
        self.names.get(branch).cloned().or_else(by_policy).or_else(by_doubt)
    }
}

/// In a bare layout, where no worktree is the main one: the base that the linked worktree at `path` is named after.
/// Where the bases cannot be told, any usual default branch counts.
pub fn primary(repo: &Repository, bases: &Fact<Vec<Base>>, path: &Path) -> Option<BString> {
    if !repo.is_bare() {
        return None;
    }
    let gix = repo.local();
    let names = match bases.known() {
        Some(bases) => bases.iter().map(|base| base.name.clone()).collect(),
        None => default_names(&gix).iter().map(heads).collect::<Vec<_>>(),
    };
    names.into_iter().find(|name| {
        let branch = branch_of(&gix, name.as_bstr());
        gix::path::from_bstr(branch.as_bstr()).is_ok_and(|branch| path.ends_with(branch))
    })
}
