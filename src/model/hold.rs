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
    ($($variant:ident $text:literal $summary:literal $helps:literal,)*) => {
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

            /// What helps, for the manual; a hold itself often knows better.
            pub fn helps(self) -> &'static str {
                match self { $(Code::$variant => $helps,)* }
            }
        }
    };
}

codes! {
    Unverified "unverified" "a fact could not be read"
        "'git shadow explain' names the fact and the error",
    Current "current" "the invoking shell is inside the worktree"
        "leave its directory first",
    Live "live" "its lease names a process that runs, or that cannot be shown to be dead"
        "end the session; 'git shadow finish' says that it is done",
    InUse "in-use" "a process works inside the worktree, or something is mounted in it"
        "end the process, or unmount it",
    Locked "locked" "locked with 'git worktree lock', or just taken back by undo"
        "'git worktree unlock', when whoever locked it agrees; 'git shadow release' for what undo took back",
    Initializing "initializing" "still being created"
        "wait a minute for 'git worktree add', or unlock it if that was killed",
    Operation "operation" "a merge, rebase, bisect or the like is in progress"
        "finish or abort it",
    Dirty "dirty" "tracked files are changed"
        "commit or discard them",
    Untracked "untracked" "there are untracked files"
        "commit, move or delete them",
    HiddenEdits "hidden-edits" "tracked files differ in a way that git status does not see"
        "'git update-index --no-assume-unchanged --no-skip-worktree', or check the file's filter",
    Ignored "ignored" "there are ignored files that cannot be rebuilt"
        "move them away, or list what can be rebuilt as 'ignored.disposable' in .shadowrc",
    Undeletable "undeletable" "something in the worktree cannot be deleted by this user"
        "have their owner delete them",
    NestedRepo "nested-repo" "another repository is inside the worktree"
        "move it out",
    NestedWorktree "nested-worktree" "another registered worktree is inside the worktree"
        "release that one first",
    Submodule "submodule" "a submodule has work of its own"
        "commit and push inside the submodule",
    UnpushedHead "unpushed" "its commits are on no remote and have not landed"
        "push or merge them",
    WorktreeRefs "worktree-refs" "refs private to the worktree reach objects nothing else keeps"
        "give what they reach a branch, or delete them",
    Staged "staged" "the worktree is purged and its index holds the only copy of staged work"
        "write them to DIR with 'git --git-dir=<registration> --work-tree=DIR checkout-index -a', then 'git worktree remove'",
    Missing "missing" "the directory is away, but not provably purged"
        "bring it back (mount it, undo the move), or 'git worktree repair'",
    Identity "identity" "the path holds something else than the registered worktree"
        "'git worktree repair', or move away what is there",
    Grace "grace" "too young"
        "wait, or 'git shadow release <shadow>'",
    Unlanded "unlanded" "its commits are on a remote, but not in a base"
        "merge it; if it was merged, 'git shadow prune-sessions --fetch' sees it",
    Unpushed "unpushed" "its commits are on no remote and have not landed"
        "push or merge them",
    Partial "partial" "some of its commits landed, some did not"
        "land the rest, or delete the branch yourself",
    Reverted "reverted" "it landed and was undone on the base"
        "land it again, or delete the branch yourself",
    CheckedOut "checked-out" "a worktree that stays has the branch"
        "switch that worktree to another branch",
    Protected "protected" "a base, a default branch or protected by policy"
        "it is not meant to go",
    Symref "symref" "the ref is symbolic"
        "'git symbolic-ref --delete', if nothing needs it",
    BaseUnresolved "base-unresolved" "no base can be told"
        "'git remote set-head <remote> --auto', or 'base' in .shadowrc",
    Shallow "shallow" "history is cut off before a proof was found"
        "'git fetch --unshallow'",
    Mirror "mirror" "a fetch would overwrite or prune the refs that keep released work"
        "'git config --add remote.<remote>.fetch ^refs/shadow/*'",
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
