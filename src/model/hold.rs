//! Reasons to keep a shadow. The order of [`Code::ALL`] is the order in which holds are reported.

/// What a hold keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum On {
    /// The worktree and its registration (and with them the branch).
    Worktree,
    /// The branch only.
    Branch,
    /// Both.
    Both,
}

impl On {
    /// As the JSON report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            On::Worktree => "worktree",
            On::Branch => "branch",
            On::Both => "both",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $text:literal $summary:literal,)*) => {
        /// The stable code of a hold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $summary] $variant,)* }

        impl Code {
            /// Every code, in the order in which holds are reported.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The code as users and programs see it.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// What it means, for the manual.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$variant => $summary,)* }
            }
        }
    };
}

codes! {
    Unverified "unverified" "a fact could not be read",
    Current "current" "the invoking shell is inside the worktree",
    Live "live" "its lease names a process that runs, or that cannot be shown to be dead",
    InUse "in-use" "a process works inside the worktree, or something is mounted in it",
    Locked "locked" "locked with 'git worktree lock', or just taken back by undo",
    Initializing "initializing" "still being created",
    Operation "operation" "a merge, rebase, bisect or the like is in progress",
    Dirty "dirty" "tracked files are changed",
    Untracked "untracked" "there are untracked files",
    HiddenEdits "hidden-edits" "tracked files differ in a way that git status does not see",
    Ignored "ignored" "there are ignored files that cannot be rebuilt",
    Undeletable "undeletable" "something in the worktree cannot be deleted by this user",
    NestedRepo "nested-repo" "another repository is inside the worktree",
    NestedWorktree "nested-worktree" "another registered worktree is inside the worktree",
    Submodule "submodule" "a submodule has work of its own",
    UnpushedHead "unpushed" "its commits are on no remote and have not landed",
    WorktreeRefs "worktree-refs" "refs private to the worktree reach objects nothing else keeps",
    Staged "staged" "the worktree is purged and its index holds the only copy of staged work",
    Missing "missing" "the directory is away, but not provably purged",
    Identity "identity" "the path holds something else than the registered worktree",
    Grace "grace" "too young",
    Unlanded "unlanded" "its commits are on a remote, but not in a base",
    Unpushed "unpushed" "its commits are on no remote and have not landed",
    Partial "partial" "some of its commits landed, some did not",
    Reverted "reverted" "it landed and was undone on the base",
    CheckedOut "checked-out" "a worktree that stays has the branch",
    Protected "protected" "a base, a default branch or protected by policy",
    Symref "symref" "the ref is symbolic",
    BaseUnresolved "base-unresolved" "no base can be told",
    Shallow "shallow" "history is cut off before a proof was found",
    Mirror "mirror" "a fetch would overwrite or prune the refs that keep released work",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One reason to keep a shadow; one is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Its stable code.
    pub code: Code,
    /// What it keeps.
    pub on: On,
    /// The reason in words, as git writes messages: lower case, no full stop.
    pub message: String,
    /// What would help.
    pub remedy: Option<String>,
}
