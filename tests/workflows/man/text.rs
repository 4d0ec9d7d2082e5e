//! What no table of the program says: sentences and examples. `…` is bold, *…* is italic, four spaces make an example.

pub const DESCRIPTION: &str = "
Many coding agents at once, each in a linked worktree (a *shadow*) on a branch of its own, leave worktrees, registrations and branches
behind. Ancestry does not tell which of them are done, because forges squash; `git worktree remove` and `git branch -d` do not protect
what matters.

`git shadow prune-sessions` releases every shadow whose work is provably safe: its worktree, its registration and its branch, or as many
of the three as are proved. For every other one it says why it is kept and what would help. `git shadow undo` takes back what was done.

After any run, crash or race, every byte that existed in one place only still exists. What cannot be told holds: no error is ever read
as clean, zero or gone. One predicate serves the list, the dry run, the real run and the hooks, and what a run is about to touch is
judged again right before.

Shadows are branches that match `shadows.branches` (default `aos/**`), the worktrees on them, worktrees below `shadows.roots` and those
that a lease names. Everything else is foreign: `git shadow list --all` shows it, nothing touches it. The main worktree is never a
candidate. Shadows are named by branch, short session id, registration id or path.

Work has landed when a commit of a base contains it: because the tip is reachable from there (*ancestor*), because one commit is exactly
its merge (*squash*), because each commit was replayed as it is (*rebase*), or because merging it again changes nothing (*contained*). A
base is a ref that work lands on: the default branch of each remote and its local twin, or what `base` in `shadowrc`(5) names.
";

pub const HOLDS: &str = "
One reason is enough; all of them are reported. `git shadow explain` shows the facts behind each.
";

pub const UNDO: &str = "
What is released is first renamed aside, its commits are pinned below *refs/shadow/*, and only then anything is deleted. `git shadow
undo` brings back the branch with its reflog and configuration, the registration and the files, also after `git gc`, as long as `keep`
in `shadowrc`(5) says. It replaces nothing: what is taken meanwhile stays, the rest is restored, and the exit status is 1. Ignored files
that can be rebuilt do not come back. A shadow that came back is locked, so that the next run does not take it again.
";

pub const OUTPUT: &str = "
Answers go to standard output, narration, hints and errors to standard error. `--json` prints one document, *git-shadow.report.v1*, of
the same shape for list, dry run and real run; fields are only ever added. `--porcelain` prints a label a line, an empty line ends a
record; `-z` ends lines with NUL. Unknown codes mean held. Names from the repository are made safe for the terminal. Colour, the pager
(`pager.shadow`) and hints (`GIT_ADVICE`) are as in git.
";

pub const STEPS: &str = "
What a run does, by the names that `--json`, `--porcelain` and `%(steps)` give:
";

pub const FILES: &[(&str, &str)] = &[
    (".shadowrc", "The repository's policy, `shadowrc`(5); `git shadow init` writes one."),
    ("$XDG_CONFIG_HOME/git-shadow/config.toml", "The user's policy."),
    ("<common dir>/shadow/", "The journal of operations, own leases, the lock and the cursors of a repository."),
    ("refs/shadow/", "Refs that keep the commits of what was released until it expires."),
    ("$XDG_STATE_HOME/git-shadow/", "The journal of session folders, which belong to no repository."),
];

pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "Set to anything: no colour, unless `--color` asks for it."),
    ("GIT_ADVICE", "Set to 0: no hints."),
    ("GIT_SHADOW_HOOKS", "Set to 0: the hooks do nothing."),
    ("AOS_NATIVE_STATE_DIR", "Where the leases of the aos harness are; read, never written."),
    ("AOS_NATIVE_SESSIONS_DIR", "The folder of its sessions."),
    (
        "GIT_DIR, GIT_WORK_TREE, ...",
        "Do not count, since hooks inherit them; name another repository with `-C` or `--repo`.",
    ),
];

pub const EXAMPLES: &str = "
What may go, what stays, and why; then release it, and take it back:

    git shadow list
    git shadow prune-sessions
    git shadow undo

All repositories below a folder, without asking, for a timer:

    git shadow prune-sessions --yes --fetch --under ~/projects
";

pub const LIMITS: &str = "
A process on another host or in another pid namespace cannot be seen: what a lease says of it counts as alive.

A remote-tracking ref is as old as the last fetch. Without `--fetch` a merge on the server is not seen, and the shadow is kept.

A squash or rebase that needed conflicts resolved is not provable byte for byte, and is kept.

Repositories with reftable or an extension that is not known are refused.

Nothing but Linux has been tested.
";

pub const SHADOWRC: &str = "
A TOML file. The repository's describes the project: its bases, what can be rebuilt there, which branches are sessions'. It may narrow
what is released, and never widen it: it runs nothing, names no place to delete in, shortens no grace and passes no lock. The one in the
canonical checkout counts; while that is on a shadow's branch, and in a bare repository, the one in the base's tree. Built-in values,
the user's file, the repository's and options meet in this order; `git shadow explain` shows where each value came from. An unknown key
or a bad value is fatal, with its line, its column and the nearest key.

Patterns are those of `gitignore`(5); in patterns for branches `*` stays within one level and `**` crosses levels. Durations are a
number and `s`, `m`, `h`, `d` or `w`.
";

pub const SHADOWRC_EXAMPLES: &str = "
A project whose work lands on *develop*, whose agents use branches below *agent/*, and whose *dist* can be built again:

    base = [\"origin/develop\"]
    protect = [\"release/**\"]
    [shadows]
    branches = [\"agent/**\"]
    [ignored]
    disposable = [\"dist\"]
";

/// What there is to say of a command beside its help, and how it is used.
pub fn of(command: &str) -> (&'static str, &'static str) {
    match command {
        "list" => (
            "
Lists every shadow of the repository with its tip, its age, its verdict and the first reason: *release* goes as a whole, of *partial*
only the worktree goes, *held* stays. `*` marks the worktree that the shell is in, `+` a registered worktree. Nothing is changed. Of more
than 40 rows those that are held are counted by code; `--held` and `-v` show them.",
            "
A census of all repositories below a folder, and a count for the prompt:

    git shadow list --summary --under ~/projects
    git shadow list --releasable --format='%(code)' | wc -l

Pick with *fzf* what is released:

    git shadow list --format='%(name)%09%(verdict)%09%(why)' |
        fzf --multi | cut -f1 | xargs -r git shadow release",
        ),
        "explain" => (
            "
Shows every fact that is known of a shadow, every rule with what it made of them, the proof that its work landed, the bases with the time
of their last fetch, and the policy with the file that each value came from. Without a name it is about the worktree that it runs in.",
            "
    git shadow explain
    git shadow explain aos/claude/ab45",
        ),
        "prune-sessions" => (
            "
Shows what would go and why, what stays and what would help. On a terminal it then asks, and releases what it showed; with `--yes` it
releases without asking. With neither, and no terminal, it is a dry run. Whatever moved between the plan and its execution is kept and
reported as raced.

Each run is one operation, which `git shadow undo` takes back. A killed run is finished, or put back, by the next one.",
            "
    git shadow prune-sessions -n
    git shadow prune-sessions --select
    git shadow prune-sessions --yes --fetch --under ~/projects",
        ),
        "release" => (
            "
Releases just the shadows that are named, without waiting for their grace; nothing else is waived. It also passes the mark that undo left
and a lock that names a process which is provably dead. When one of them is held nothing of it is touched, and the exit status is 1.",
            "
    git shadow release ab45
    git shadow release -n aos/claude/ab45 ../repo-cd56",
        ),
        "undo" => (
            "
Takes back the newest operation, or the one that is named, or what became of one shadow. It replaces nothing: what stands in the way is
told, and the exit status is 1.",
            "
    git shadow undo
    git shadow undo 20261130T140501Z-7f3a
    git shadow undo aos/claude/ab45",
        ),
        "log" => (
            "Lists the operations, the newest first: what each released, what is pinned for it, and until when it can be taken back.",
            "    git shadow log",
        ),
        "expire" => (
            "
Drops the pins and saved files of operations that are older than `keep` in `shadowrc`(5). A pin stays as long as something needs it: it
goes only when its commits are in a base, or the proof they were released by still holds. Real runs do the same by themselves, a little at
a time.",
            "    git shadow expire",
        ),
        "finish" => ("", "    git shadow finish\n    git shadow finish ab45"),
        "lease" => (
            "
The lease names the process that owns the worktree. While it runs, or cannot be shown to be dead, the shadow is kept. Without `--pid` it
is the nearest one above this command that is no shell and no helper; which one it is gets printed.",
            "
From the hook of a harness that starts a session, and around one without hooks:

    git shadow lease --harness claude
    git shadow lease --pid $$ && { session; git shadow finish; }",
        ),
        "init" => (
            "",
            "
    git shadow init --detect
    git shadow init --stdout",
        ),
        "doctor" => (
            "
Looks for what keeps shadows from ever being released, or could drop what undo needs. With `--fix` it does only what loses nothing, never
to a live session, and `git shadow undo` takes that back as well.",
            "
    git shadow doctor --under ~/projects
    git shadow doctor --fix",
        ),
        "hooks" => (
            "
A hook that is there is kept and called, with its input, its arguments and its exit status; `remove` puts it back byte for byte. Under
husky and lefthook, in a folder under version control and under a global *core.hooksPath* nothing is written: it prints the line to add.
With git 2.54 and newer the hooks are configured ones, beside whatever is there.

They are switched off by `hooks.post-merge` and `hooks.pre-push` in `shadowrc`(5), by *git config shadow.hooks false* and by
*GIT_SHADOW_HOOKS=0* in the environment.",
            "
    git shadow hooks install
    git shadow hooks status",
        ),
        "schedule" => (
            "",
            "
    git shadow schedule install --under ~/projects
    git shadow schedule status",
        ),
        "completion" => (
            "",
            "
    eval \"$(git shadow completion bash)\"
    git shadow completion fish | source",
        ),
        other => panic!("tests/workflows/man/text.rs has no example of 'git shadow {other}'"),
    }
}
