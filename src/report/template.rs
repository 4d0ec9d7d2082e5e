//! `list --format`: a template a shadow, as `git for-each-ref --format` has it.
//!
//! `%(field)` is a field, `%%` a percent sign, `%xx` the byte with that hexadecimal number; any other `%` is itself.

use super::fields::{Cost, FIELDS, Field, Row};
use super::{Report, View};
use crate::error::{Error, Result};
use crate::ui::safe;

/// A template that was understood.
#[derive(Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Field(&'static Field),
}

/// How rows are written.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    /// They end with NUL instead of a line feed.
    pub nul: bool,
    /// Somebody looks at them on a terminal: names are made safe for it.
    pub watched: bool,
}

impl Template {
    /// Read a template.
    ///
    /// # Errors
    /// 128, as git has it, for a field that is not there (with the nearest one) or that does not end.
    pub fn parse(text: &str) -> Result<Template> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            let after = &rest[at + 1..];
            if let Some(inner) = after.strip_prefix('(') {
                let Some((name, behind)) = inner.split_once(')') else {
                    return Err(Error::fatal("bad-format", format!("malformed format string {}", &rest[at..])));
                };
                parts.push(Part::Text(std::mem::take(&mut literal)));
                parts.push(Part::Field(field(name)?));
                rest = behind;
            } else if let Some(behind) = after.strip_prefix('%') {
                literal.push(b'%');
                rest = behind;
            } else if let Some(byte) = after.get(..2).filter(is_hex).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                literal.push(byte);
                rest = &after[2..];
            } else {
                literal.push(b'%');
                rest = after;
            }
        }
        literal.extend_from_slice(rest.as_bytes());
        parts.push(Part::Text(literal));
        Ok(Template { parts })
    }

    /// The names of shadows and where they are is all it asks for.
    pub fn is_cheap(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(_) => true,
            Part::Field(field) => field.cost == Cost::Named,
        })
    }

    /// A row a shadow.
    pub fn render(&self, report: &Report, view: &View, writing: Writing) -> Vec<u8> {
        let mut rows = Vec::new();
        for repository in &report.repositories {
            for shadow in repository.shadows.iter().filter(|shadow| view.shows(shadow)) {
                let row = Row { repository, shadow, now: report.generated_at };
                for part in &self.parts {
                    match part {
                        Part::Text(text) => rows.extend_from_slice(text),
                        Part::Field(field) if writing.watched => rows.extend(safe(&(field.value)(&row)).into_bytes()),
                        Part::Field(field) => rows.extend((field.value)(&row)),
                    }
                }
                rows.push(if writing.nul { 0 } else { b'\n' });
            }
        }
        rows
    }
}

/// A sign before a number would be one to Rust.
fn is_hex(text: &&str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn field(name: &str) -> Result<&'static Field> {
    FIELDS.iter().find(|field| field.name == name).ok_or_else(|| {
        let error = Error::fatal("unknown-field", format!("unknown field name: {name}"));
        let likeness = |field: &&Field| strsim::jaro_winkler(field.name, name);
        let nearest = FIELDS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        match nearest.filter(|field| likeness(field) > 0.75) {
            Some(nearest) => error.hint(format!("did you mean '{}'?", nearest.name)),
            None => error.hint("'git shadow list --help' names every field"),
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{FIELDS, Part, Template};

    fn read(text: &str) -> String {
        let parts = Template::parse(text).unwrap().parts.into_iter().map(|part| match part {
            Part::Text(text) => String::from_utf8(text).unwrap(),
            Part::Field(field) => format!("<{}>", field.name),
        });
        parts.collect()
    }

    #[test]
    fn a_template_is_read_as_git_reads_it() {
        assert_eq!(read("%(name) %% %41%0a%"), "<name> % A\n%");
        assert_eq!(read("100%é %+1 %4"), "100%é %+1 %4");
        assert_eq!(read("%%(name)"), "%(name)");
        assert_eq!(read("%(landed:how)%(tip:short)"), "<landed:how><tip:short>");
        assert_eq!(read(""), "");
    }

    #[test]
    fn what_cannot_be_read_is_fatal_with_the_nearest_field() {
        let error = |text: &str| Template::parse(text).unwrap_err();
        let near = error("%(verdit)");
        assert_eq!((near.message.as_str(), near.exit.code()), ("unknown field name: verdit", 128));
        assert_eq!(near.hint.unwrap(), "did you mean 'verdict'?");
        assert_eq!(error("%(zzz)").hint.unwrap(), "'git shadow list --help' names every field");
        assert_eq!(error("a %(name").message, "malformed format string %(name");
    }

    #[test]
    fn names_alone_are_cheap() {
        assert!(Template::parse("%(name)%00%(path)").unwrap().is_cheap());
        assert!(!Template::parse("%(name)%(code)").unwrap().is_cheap());
    }

    #[test]
    fn each_field_is_there_once() {
        for (n, field) in FIELDS.iter().enumerate() {
            assert!(FIELDS[..n].iter().all(|other| other.name != field.name), "{}", field.name);
        }
    }
}
