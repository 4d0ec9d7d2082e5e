//! What became of a branch's work on a base.

use gix::ObjectId;
use gix::bstr::BString;

/// Which proof showed that the work landed (DESIGN: the four proofs, cheapest first).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum How {
    /// The tip is reachable from the base.
    Ancestor,
    /// One commit of the base is exactly the merge of the tip into its parent.
    Squash,
    /// Every commit was replayed as it is.
    Rebase,
    /// Merging the tip into a commit of the base changes nothing.
    Contained,
}

impl How {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            How::Ancestor => "ancestor",
            How::Squash => "squash",
            How::Rebase => "rebase",
            How::Contained => "contained",
        }
    }
}

/// A proof of landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// Which proof.
    pub how: How,
    /// The commit of the base that the proof names.
    pub commit: ObjectId,
    /// The full name of the base.
    pub base: BString,
}

/// What the proofs say of a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// All of it is in the history of a base.
    Landed(Landed),
    /// Some commits landed (each with the base's commit), some did not.
    Partial {
        /// Own commits that are in the base.
        landed: Vec<ObjectId>,
        /// Own commits that are not.
        missing: Vec<ObjectId>,
    },
    /// It landed, then was undone on the base and did not land again.
    Reverted {
        /// The landing.
        landed: Landed,
        /// The commit that undid it, where one says so.
        by: Option<ObjectId>,
    },
    /// No proof was found.
    Unproven,
    /// History is cut off (a shallow clone) before a proof was found.
    CutOff,
}
