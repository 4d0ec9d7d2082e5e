//! Names are bytes; in JSON of our own they are text that can be read back without loss: `%` and what is not UTF-8
//! become `%XX`. For `#[serde(with = "crate::model::bytes")]`.

use gix::bstr::{BString, ByteSlice as _};
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

/// Write a name.
pub fn serialize<S: Serializer>(name: &BString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(name))
}

/// Read a name back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BString, D::Error> {
    let text = String::deserialize(deserializer)?;
    decode(&text).ok_or_else(|| D::Error::custom(format!("bad escape in '{text}'")))
}

/// The text of a name.
pub fn encode(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The name of a text; `None` for a bad escape.
pub fn decode(text: &str) -> Option<BString> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(at) = rest.find_byte(b'%') {
        name.extend_from_slice(&rest[..at]);
        let digits = std::str::from_utf8(rest.get(at + 1..at + 3)?).ok()?;
        name.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[at + 3..];
    }
    name.extend_from_slice(rest);
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn every_name_comes_back() {
        for name in [&b"plain/name"[..], b"100%", b"\xff\xfe", "über".as_bytes(), b"%41", b""] {
            assert_eq!(decode(&encode(name)).as_ref().map(|n| n.as_slice()), Some(name));
        }
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%zz"), None);
    }
}
