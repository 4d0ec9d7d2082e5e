#!/bin/sh
# Installs git-shadow for the user who runs this; --demo then shows it on a throwaway repository.
set -eu

usage() {
    cat <<'END'
usage: ./install.sh [--prefix DIR] [--demo | --uninstall]

    --prefix DIR   install to DIR/bin and DIR/share (default: ~/.local)
    --demo         then run it on a throwaway repository with a shadow of every kind
    --uninstall    instead remove what was installed there: program, manual and completions

A binary 'git-shadow' beside this script is installed as it is; else it is built with cargo.
END
}

fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=
demo=no
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -gt 1 ] || fail "'--prefix' needs a directory"
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --demo) demo=yes ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 129
        ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    [ -n "${HOME-}" ] || fail "HOME is not set" "use --prefix DIR"
    prefix=$HOME/.local
fi

if [ "$uninstall" = yes ]; then
    for file in "$prefix/bin/git-shadow" "$prefix"/share/man/man1/git-shadow.1 "$prefix"/share/man/man1/git-shadow-*.1 \
        "$prefix/share/man/man5/shadowrc.5" "$prefix/share/bash-completion/completions/git-shadow" \
        "$prefix/share/zsh/site-functions/_git-shadow" "$prefix/share/fish/vendor_completions.d/git-shadow.fish"; do
        [ -f "$file" ] || continue
        rm "$file"
        printf 'removed %s\n' "$file"
    done
    exit 0
fi

command -v git >/dev/null || fail "git is not in PATH" "git-shadow needs git 2.40 or newer"

if [ -x "$here/git-shadow" ] && [ ! -d "$here/git-shadow" ]; then
    binary=$here/git-shadow
else
    [ -f "$here/Cargo.toml" ] || fail "neither a binary nor a checkout is beside $0"
    command -v cargo >/dev/null || fail "cargo is not in PATH" "https://rustup.rs tells how to get it"
    cargo build --release --locked --manifest-path "$here/Cargo.toml"
    target=${CARGO_TARGET_DIR-"$here/target"}
    binary=$target/release/git-shadow
fi

mkdir -p "$prefix/bin"
# Beside the target first, then renamed: a running git-shadow is replaced, not overwritten.
new=$prefix/bin/.git-shadow.$$
cp "$binary" "$new"
chmod 755 "$new"
mv -f "$new" "$prefix/bin/git-shadow"
printf 'installed %s\n' "$prefix/bin/git-shadow"

# The manual, so that 'git shadow --help' shows something, and completion where the shells look for it.
for page in "$here"/man/*.[15]; do
    [ -f "$page" ] || continue
    section=$prefix/share/man/man${page##*.}
    mkdir -p "$section"
    cp "$page" "$section/"
done
completion() { # completion <shell> <directory> <file>
    mkdir -p "$prefix/share/$2"
    "$prefix/bin/git-shadow" completion "$1" >"$prefix/share/$2/$3"
}
completion bash bash-completion/completions git-shadow
completion zsh zsh/site-functions _git-shadow
completion fish fish/vendor_completions.d git-shadow.fish
printf 'installed its manual and completions below %s\n' "$prefix/share"
case :${PATH-}: in
*":$prefix/bin:"*) printf "run it as 'git shadow'\n" ;;
*) printf "hint: put it in PATH to run it as 'git shadow': export PATH=\"%s/bin:\$PATH\"\n" "$prefix" ;;
esac

[ "$demo" = yes ] || exit 0

PATH=$prefix/bin:$PATH
place=$(mktemp -d "${TMPDIR:-/tmp}/git-shadow-demo.XXXXXX")
place=$(CDPATH='' cd -- "$place" && pwd -P)
# Git's objects are read-only: without a terminal on its input rm does not ask about each.
trap 'rm -r -- "$place" </dev/null' EXIT
trap 'exit 130' INT TERM HUP

# Nothing of the user's, neither configuration nor hooks nor leases, takes part.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
HOME=$place/home
XDG_CONFIG_HOME=$HOME/.config
XDG_CACHE_HOME=$HOME/.cache
XDG_STATE_HOME=$HOME/.local/state
TMPDIR=$place/tmp
AOS_NATIVE_STATE_DIR=$place/state
AOS_NATIVE_SESSIONS_DIR=$place/sessions
GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=Sample GIT_AUTHOR_EMAIL=sample@example.com
GIT_COMMITTER_NAME=Sample GIT_COMMITTER_EMAIL=sample@example.com
export PATH HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME TMPDIR AOS_NATIVE_STATE_DIR AOS_NATIVE_SESSIONS_DIR \
    GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
mkdir -p "$HOME" "$TMPDIR" "$AOS_NATIVE_STATE_DIR/leases" "$AOS_NATIVE_SESSIONS_DIR"

long_ago=$(($(date +%s) - 9 * 86400))
stamp=$(date -u -d "@$long_ago" +%Y%m%d%H%M 2>/dev/null || date -u -r "$long_ago" +%Y%m%d%H%M)
old="@$long_ago +0000"
shadow() { # shadow <name> [<commits>]: a worktree ../<name> on aos/demo/<name>, made long ago
    GIT_COMMITTER_DATE=$old git worktree add -q -b "aos/demo/$1" "../$1" main
    n=0
    while [ "$n" -lt "${2-0}" ]; do
        n=$((n + 1))
        printf 'work %s of %s\n' "$n" "$1" >"../$1/$1-$n.txt"
        git -C "../$1" add -A
        GIT_COMMITTER_DATE=$old git -C "../$1" commit -q -m "$1: part $n"
    done
    TZ=UTC touch -t "$stamp" ".git/worktrees/$1/commondir"
}
squash() {
    git merge -q --squash "aos/demo/$1" >/dev/null
    git commit -q -m "$1 (#1)"
}
say() {
    printf '\n# %s\n' "$1"
}
show() {
    printf '$ %s\n' "$*"
    "$@"
}
everything() { # every branch, worktree and file, but for what can be rebuilt
    git for-each-ref refs/heads
    git worktree list --porcelain | grep -Ev '^(locked|prunable)'
    (cd .. && find . -path ./repo/.git -prune -o -name target -prune -o -type f -exec cksum {} + | sort)
}

git init -q -b main "$place/repo"
cd "$place/repo"
printf '.env\ntarget/\n' >.gitignore
printf 'base\n' >file
git add -A
git commit -q -m base
git init -q --bare -b main "$place/origin.git"
git remote add origin "$place/origin.git"
git push -q -u origin main
git remote set-head origin main

shadow squashed 3
squash squashed
shadow rebased 2
git cherry-pick aos/demo/rebased~2..aos/demo/rebased >/dev/null
shadow merged 2
git merge -q --no-edit aos/demo/merged
shadow purged 1
squash purged
rm -r ../purged
shadow built 1
squash built
mkdir -p ../built/target
echo object >../built/target/a.o
shadow unused
shadow pushed 1
git -C ../pushed push -q origin HEAD
shadow unpushed 2
shadow new
git -C ../new commit -q --allow-empty -m 'plan only'
shadow dirty 1
squash dirty
echo edit >>../dirty/file
shadow untracked 1
squash untracked
echo 'only here' >../untracked/notes.md
shadow ignored 1
squash ignored
echo TOKEN=1 >../ignored/.env
shadow locked 1
squash locked
git worktree lock --reason 'kept by hand' ../locked
shadow rebasing 2
squash rebasing
GIT_SEQUENCE_EDITOR='echo break >' git -C ../rebasing rebase -q -i HEAD~1 >/dev/null 2>&1
shadow live 1
squash live
git worktree add -q --detach "$AOS_NATIVE_SESSIONS_DIR/cd56"
git -C "$AOS_NATIVE_SESSIONS_DIR/cd56" commit -q --allow-empty -m 'on no branch'
git push -q origin main
git branch -q aos/demo/left-over main~1
cat >"$AOS_NATIVE_STATE_DIR/leases/ab45.json" <<END
{"format": "agentic-os.native-lease.v1", "id": "ab45", "harness": "demo", "pid": $$,
 "process_start": "$(ps -o lstart= -p $$ 2>/dev/null || :)", "original_cwd": "$place/repo",
 "session_root": "$AOS_NATIVE_SESSIONS_DIR/ab45", "session_projects": "$AOS_NATIVE_SESSIONS_DIR/ab45/projects",
 "artifacts": [{"repository": "$place/repo", "worktree": "$place/live", "branch": "aos/demo/live"}]}
END

before=$(everything)

say "a repository with a shadow of every kind: what may go, what stays, and why"
show git shadow list
say "release all that is provably safe"
show git shadow prune-sessions --yes
say "nothing is lost: what went is pinned for 30 days"
show git shadow log
say "and comes back"
show git shadow undo
cd "$place/repo"
if [ "$(everything)" = "$before" ]; then
    say "every branch, worktree and file is as it was before; only target/ is not, it can be rebuilt"
else
    fail "not everything came back as it was before"
fi
cd /
say "the throwaway repository is removed; only what was installed in $prefix stays"
