//! What is known of one thing, and how far.

/// A fact about a shadow. Unknown is a hold: no error is ever read as clean, zero or gone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fact<T> {
    /// It was read.
    Known(T),
    /// It could not be read; the text says what failed, without the fact's name.
    Unknown(String),
    /// The question does not arise, for instance the status of a purged worktree.
    NotApplicable,
    /// It was too costly to ask, because something cheaper holds already.
    #[default]
    NotAsked,
}

impl<T> Fact<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) | Fact::NotApplicable | Fact::NotAsked => None,
        }
    }

    /// Why it could not be read.
    pub fn error(&self) -> Option<&str> {
        match self {
            Fact::Unknown(error) => Some(error),
            Fact::Known(_) | Fact::NotApplicable | Fact::NotAsked => None,
        }
    }

    /// What `f` makes of the value, the fact itself kept.
    pub fn clone_map<U>(&self, f: impl FnOnce(&T) -> U) -> Fact<U> {
        match self {
            Fact::Known(value) => Fact::Known(f(value)),
            Fact::Unknown(error) => Fact::Unknown(error.clone()),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::NotAsked => Fact::NotAsked,
        }
    }

    /// The same fact seen through `f`.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::Known(value) => Fact::Known(f(value)),
            Fact::Unknown(error) => Fact::Unknown(error),
            Fact::NotApplicable => Fact::NotApplicable,
            Fact::NotAsked => Fact::NotAsked,
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Fact<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Fact::Known(value),
            Err(error) => Fact::Unknown(error.to_string()),
        }
    }
}
