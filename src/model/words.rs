//! Words that stand for something in reports, the manual and the help: an enum whose table says how each is written and
//! what it means.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $about:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $(#[doc = $about] $variant,)* }

        impl $name {
            /// Every one, in the order of this table.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// As users and programs see it.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// What it means, for help and manual.
            pub fn about(self) -> &'static str {
                match self { $($name::$variant => $about,)* }
            }
        }
    };
}

pub(super) use words;
