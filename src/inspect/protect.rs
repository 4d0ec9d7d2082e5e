//! Branches and worktrees that are never released.

use gix::bstr::BStr;

use crate::git::Repository;
use crate::model::Base;
use crate::policy::Policy;

/// Why a branch is protected.
pub fn protected(_repo: &Repository, _policy: &Policy, bases: &[Base], branch: &BStr) -> Option<String> {
    bases.iter().any(|base| base.name == branch).then(|| "it is a base".to_owned())
}
