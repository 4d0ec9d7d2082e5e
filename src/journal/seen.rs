//! When a real run first saw a ref at its tip: the age of a shadow that shows no other sign of it.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::BStr;
use serde::{Deserialize, Serialize};

use super::files;
use crate::error::Result;
use crate::git::Repository;
use crate::model::{Timestamp, bytes};

/// `<common dir>/shadow/seen`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    refs: BTreeMap<String, (String, Timestamp)>,
}

impl Seen {
    /// What was seen so far.
    ///
    /// # Errors
    /// `corrupt-journal` (128) when the file cannot be understood.
    pub fn read(repo: &Repository) -> Result<Seen> {
        let read = files::read_json(&repo.shadow_dir().join("seen"));
        let hint = "move that file aside; ages that nothing else tells then count from the next run";
        Ok(read.map_err(|error| error.hint(hint))?.unwrap_or_default())
    }

    /// When the ref was first seen at this tip.
    pub fn first(&self, name: &BStr, tip: &ObjectId) -> Option<Timestamp> {
        let (at, when) = self.refs.get(&bytes::encode(name))?;
        (*at == *tip.to_string()).then_some(*when)
    }

    /// What a real run sees now: refs that are new or moved are seen from now on, those that went are forgotten.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn record<'a>(
        &self,
        repo: &Repository,
        refs: impl IntoIterator<Item = (&'a BStr, ObjectId)>,
        now: Timestamp,
    ) -> Result<()> {
        let refs = refs.into_iter().map(|(name, tip)| {
            let first = self.first(name, &tip).unwrap_or(now);
            (bytes::encode(name), (tip.to_string(), first))
        });
        let seen = Seen { refs: refs.collect() };
        if seen == *self {
            return Ok(());
        }
        fs_err::create_dir_all(repo.shadow_dir())?;
        files::write_json(&repo.shadow_dir().join("seen"), &seen)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use gix::ObjectId;

    use super::Seen;
    use crate::model::Timestamp;

    #[test]
    fn a_ref_is_as_old_as_its_tip() {
        let tip = ObjectId::from_hex(&[b'1'; 40]).unwrap();
        let other = ObjectId::from_hex(&[b'2'; 40]).unwrap();
        let name = "refs/heads/aos/a";
        let seen = Seen { refs: [(name.to_owned(), (tip.to_string(), Timestamp::UNIX_EPOCH))].into() };
        assert_eq!(seen.first(name.into(), &tip), Some(Timestamp::UNIX_EPOCH));
        assert_eq!(seen.first(name.into(), &other), None);
        assert_eq!(seen.first("refs/heads/aos/b".into(), &tip), None);
    }
}
