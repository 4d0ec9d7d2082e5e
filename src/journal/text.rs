//! How names, object ids and paths stand in the journal's JSON.

use gix::ObjectId;
use gix::bstr::BString;
use serde::{Deserialize, Serialize};

use crate::model::bytes;

/// A name that may be absent; for `#[serde(with = …)]`.
pub(super) mod maybe {
    use gix::bstr::BString;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    use crate::model::bytes;

    pub(crate) fn serialize<S: Serializer>(name: &Option<BString>, serializer: S) -> Result<S::Ok, S::Error> {
        name.as_ref().map(|name| bytes::encode(name)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BString>, D::Error> {
        Option::<String>::deserialize(deserializer)?
            .map(|text| bytes::decode(&text).ok_or_else(|| D::Error::custom(format!("bad escape in '{text}'"))))
            .transpose()
    }
}

/// An object id; for `#[serde(with = …)]`.
pub(super) mod oid {
    use gix::ObjectId;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&id.to_string())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectId, D::Error> {
        let text = String::deserialize(deserializer)?;
        ObjectId::from_hex(text.as_bytes()).map_err(|e| D::Error::custom(format!("bad object id '{text}': {e}")))
    }
}

/// A ref and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedRef {
    /// The full name.
    #[serde(with = "bytes")]
    pub name: BString,
    /// Its value.
    #[serde(with = "oid")]
    pub at: ObjectId,
}
