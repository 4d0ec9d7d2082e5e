//! What `doctor --fix` sets right: data with an inverse, so that undo takes it back.

use gix::ObjectId;
use gix::bstr::BString;
use serde::{Deserialize, Serialize};

use super::text;
use crate::model::{StepKind, bytes};

/// One thing that is set right. Nothing is lost by it, and the files of no worktree are touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Repair {
    /// HEAD of a linked worktree says its commit instead of its branch; taken back, it says the branch again.
    DetachHead {
        /// The registration's id.
        #[serde(with = "bytes")]
        id: BString,
        /// The full name of the branch.
        #[serde(with = "bytes")]
        branch: BString,
        /// The commit that both are at.
        #[serde(with = "text::oid")]
        at: ObjectId,
    },
    /// A branch follows another ref.
    SetUpstream {
        /// The values that change.
        changes: Vec<ConfigChange>,
    },
    /// A remote fetches nothing into the pins.
    ExcludePins {
        /// The values that change.
        changes: Vec<ConfigChange>,
    },
}

/// One value in the repository's own configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// `branch`, `remote`
    pub section: String,
    /// Whose.
    #[serde(with = "bytes")]
    pub subsection: BString,
    /// `merge`, `fetch`
    pub key: String,
    /// The value as it was; `None`: it is added.
    #[serde(with = "text::maybe")]
    pub before: Option<BString>,
    /// The value as it becomes; `None`: it is removed.
    #[serde(with = "text::maybe")]
    pub after: Option<BString>,
}

impl ConfigChange {
    /// What takes it back.
    #[must_use]
    pub fn inverse(&self) -> ConfigChange {
        ConfigChange { before: self.after.clone(), after: self.before.clone(), ..self.clone() }
    }
}

impl Repair {
    /// As reports have it.
    pub fn step(&self) -> StepKind {
        match self {
            Repair::DetachHead { .. } => StepKind::DetachHead,
            Repair::SetUpstream { .. } => StepKind::SetUpstream,
            Repair::ExcludePins { .. } => StepKind::ExcludePins,
        }
    }
}
