#!/bin/sh
# Installs git-shadow for the user who runs this, or takes it out again; --demo shows it on a throwaway repository.
set -eu

usage() {
    cat <<'END'
usage: ./install.sh [--prefix DIR] [--hooks] [--demo]
       ./install.sh [--prefix DIR] --uninstall

    --prefix DIR   install to DIR/bin and DIR/share (default: ~/.local)
    --hooks        then have git call it in the repository at hand, after a merge, a pull or a push
    --demo         then run it on a throwaway repository with a shadow of every kind
    --uninstall    remove what this script put there, and nothing else
    -h, --help     print this

A binary 'git-shadow' beside this script is installed as it is; else it is built with cargo.
END
}

fail() { # fail <message> [<hint>]
    printf 'error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

misused() {
    printf 'error: %s\n' "$1" >&2
    usage >&2
    exit 129
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=
hooks=no
demo=no
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -gt 1 ] || misused "'--prefix' needs a directory"
        prefix=$2
        shift
        [ -n "$prefix" ] || misused "'--prefix' needs a directory"
        ;;
    --prefix=?*) prefix=${1#--prefix=} ;;
    --hooks) hooks=yes ;;
    --demo) demo=yes ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) misused "unknown option '$1'" ;;
    esac
    shift
done
case $uninstall$hooks$demo in yes*yes*) misused "'--uninstall' goes with no option but '--prefix'" ;; esac
if [ -z "$prefix" ]; then
    [ -n "${HOME-}" ] || fail "HOME is not set" "use --prefix DIR"
    prefix=$HOME/.local
fi
case $prefix in
*'
'*) fail "the name of the prefix has a line feed" ;;
'~'*) fail "the shell did not expand '$prefix'" "use --prefix \"\$HOME${prefix#'~'}\"" ;;
/*) ;;
*) prefix=$PWD/$prefix ;;
esac
prefix=${prefix%/}
program=$prefix/bin/git-shadow
# What was put there: lines 'dir <path>', 'file <checksum> <path>' and 'hooks <repository>'.
record=$prefix/share/git-shadow/installed
# bash and fish look for a user's completions there.
data=$prefix/share
case ${XDG_DATA_HOME-} in /*) [ "$prefix" != "${HOME-}/.local" ] || data=$XDG_DATA_HOME ;; esac

work=$(mktemp -d "${TMPDIR:-/tmp}/git-shadow-install.XXXXXX") || fail "no temporary directory can be made"
work=$(CDPATH='' cd -- "$work" && pwd -P)
finished=no
clean_up() {
    if [ -f "$work/staged" ]; then while IFS= read -r file; do rm -f -- "$file"; done <"$work/staged"; fi
    if [ "$finished" = no ] && [ -f "$work/made" ]; then remove_directories "$work/made"; fi
    rm -rf -- "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

remove_directories() { # those of the lines 'dir <path>' that are empty, the inner ones first
    sed -n 's/^dir //p' "$1" | LC_ALL=C sort -r | while IFS= read -r dir; do
        rmdir -- "$dir" 2>/dev/null || :
    done
}

fingerprint() {
    cksum <"$1" | tr ' ' :
}

ours() { # whether the file is as this script put it there
    [ -f "$record" ] && [ -f "$1" ] && [ ! -L "$1" ] && grep -qxF -- "file $(fingerprint "$1") $1" "$record"
}

beside() { # the name that a file has until all of them are written
    printf '%s/.%s.git-shadow-new\n' "${1%/*}" "${1##*/}"
}

remove_files() { # those of the lines 'file <checksum> <path>' that are as they were put there
    sed -n 's/^file [^ ]* //p' "$1" | LC_ALL=C sort -u >"$work/files"
    pages=0
    while IFS= read -r file; do
        # Of a run that was killed.
        rm -f -- "$(beside "$file")" || :
        if ours "$file"; then
            rm -f -- "$file" || fail "'$file' cannot be removed"
            case $file in
            */man/man?/*) pages=$((pages + 1)) ;;
            *) printf 'removed %s\n' "$file" ;;
            esac
        elif [ -e "$file" ] || [ -L "$file" ]; then
            printf 'stays: %s, it is not as it was installed\n' "$file"
        fi
    done <"$work/files"
    [ "$pages" = 0 ] || printf 'removed %s manual pages\n' "$pages"
}

if [ "$uninstall" = yes ]; then
    [ -f "$record" ] || fail "nothing in '$prefix' was installed by this script" \
        "if it was installed elsewhere, say so with --prefix"
    # As long as there is a program that can do it.
    sed -n 's/^hooks //p' "$record" >"$work/hooks"
    while IFS= read -r repository; do
        if "$program" --repo "$repository" hooks remove >/dev/null 2>&1; then
            printf 'removed the hooks of %s\n' "$repository"
        elif [ -e "$repository" ]; then
            printf 'stays: the hooks of %s; without git-shadow they do nothing\n' "$repository"
        fi
    done <"$work/hooks"
    timer=$("$program" schedule status 2>/dev/null | grep -v absent) || timer=
    remove_files "$record"
    cp "$record" "$work/made"
    rm -f -- "$record" || fail "'$record' cannot be removed"
    remove_directories "$work/made"
    finished=yes
    [ -z "$timer" ] || printf 'stays: the timer that calls it: %s\n' "$timer"
    settings=${XDG_CONFIG_HOME:-${HOME-}/.config}/git-shadow
    [ ! -d "$settings" ] || printf 'stays: %s, your settings\n' "$settings"
    printf "stays: in your repositories, hooks that do nothing without git-shadow, and what 'git shadow undo' needs:\n"
    printf '       refs/shadow/kept and .git/shadow\n'
    state=${XDG_STATE_HOME:-${HOME-}/.local/state}/git-shadow
    [ ! -d "$state" ] || printf "stays: %s, what 'git shadow undo' needs of sessions' folders\n" "$state"
    exit 0
fi

command -v git >/dev/null || fail "git is not in PATH" "git-shadow needs git 2.40 or newer"
version=$(git version | sed 's/^[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
case $version in
[2-9]' '[4-9][0-9] | [2-9]' '[1-9][0-9][0-9] | [3-9]' '*) ;;
*) fail "$(git version) is too old" "git-shadow needs git 2.40 or newer" ;;
esac
[ "$hooks" = no ] || git rev-parse --git-dir >/dev/null 2>&1 ||
    fail "there is no repository here that hooks could be installed in" "start it inside of one, or leave out --hooks"

if [ -f "$here/git-shadow" ]; then
    binary=$here/git-shadow
    [ -x "$binary" ] || fail "'$binary' may not be run" "chmod +x it"
else
    [ -f "$here/Cargo.toml" ] || fail "neither a binary 'git-shadow' nor a checkout is beside '$0'"
    command -v cargo >/dev/null || fail "cargo is not in PATH, and no binary 'git-shadow' is beside '$0'" \
        "https://rustup.rs tells how to get it"
    command -v cc >/dev/null || fail "cc is not in PATH, and cargo links with it" "install a C compiler"
    cargo build --release --locked --manifest-path "$here/Cargo.toml"
    target=${CARGO_TARGET_DIR-"$here/target"}
    binary=$target/release/git-shadow
fi

folder() { # make the directory, and note what was made
    [ ! -d "${1:-/}" ] || return 0
    folder "${1%/*}"
    mkdir -m 755 -- "$1" || fail "'$1' cannot be made" "use --prefix DIR for another place"
    printf 'dir %s\n' "$1" >>"$work/made"
}

put() { # put <mode> <source> <target>: beside the target for now
    folder "${3%/*}"
    beside "$3" >>"$work/staged"
    new=$(beside "$3")
    { cp -- "$2" "$new" && chmod "$1" "$new"; } || fail "'$3' cannot be written; nothing was installed"
}

settle() { # settle <target>: rename what was put beside it; a program that runs is replaced, not overwritten
    mv -f -- "$(beside "$1")" "$1"
}

stage() { # stage <mode> <source> <target>
    if [ -f "$3" ] && cmp -s "$2" "$3"; then
        # Somebody else put the same there: it stays theirs.
        ours "$3" || return 0
    elif ours "$3" || { [ ! -e "$3" ] && [ ! -L "$3" ]; }; then
        put "$@"
        printf '%s\n' "$3" >>"$work/targets"
    else
        printf '%s\n' "$3" >>"$work/foreign"
    fi
    printf 'file %s %s\n' "$(fingerprint "$2")" "$3" >>"$work/new"
}

: >"$work/made"
: >"$work/targets"
printf "# What install.sh put here, of all versions; 'install.sh --uninstall' reads it.\n" >"$work/new"
stage 755 "$binary" "$program"
for page in "$here"/man/*.[15]; do
    [ ! -f "$page" ] || stage 644 "$page" "$prefix/share/man/man${page##*.}/${page##*/}"
done
completion() { # completion <shell> <target>
    "$binary" completion "$1" >"$work/$1" || fail "'$binary' does not run here; nothing was installed"
    stage 644 "$work/$1" "$2"
}
completion bash "$data/bash-completion/completions/git-shadow"
completion zsh "$prefix/share/zsh/site-functions/_git-shadow"
completion fish "$data/fish/vendor_completions.d/git-shadow.fish"
if [ -s "$work/foreign" ]; then
    while IFS= read -r file; do printf "error: '%s' is there, and not from this script\n" "$file" >&2; done <"$work/foreign"
    fail "nothing was installed" "move it away, or use --prefix DIR for another place"
fi

# The record first, with what was there before: whatever happens from here on, it names all that is there.
folder "${record%/*}"
[ ! -f "$record" ] || cat "$record" >>"$work/new"
LC_ALL=C sort -u "$work/new" "$work/made" >"$work/record"
if ! cmp -s "$work/record" "$record"; then
    put 644 "$work/record" "$record"
    settle "$record"
fi
pages=0
while IFS= read -r file; do
    settle "$file"
    case $file in
    */man/man?/*) pages=$((pages + 1)) ;;
    *) printf 'installed %s\n' "$file" ;;
    esac
done <"$work/targets"
finished=yes
[ "$pages" = 0 ] || printf 'installed %s manual pages in %s\n' "$pages" "$prefix/share/man"
[ -s "$work/targets" ] || printf 'everything is installed already in %s\n' "$prefix"
# Pages of older versions.
sed -n 's/^file [^ ]* //p' "$work/record" | while IFS= read -r file; do
    case $file in
    */man/man?/*) [ -f "$here/man/${file##*/}" ] || printf 'file - %s\n' "$file" ;;
    esac
done >"$work/obsolete"
remove_files "$work/obsolete"

hint() {
    printf 'hint: %s\n' "$1"
}
case :${PATH-}: in
*":$prefix/bin:"*)
    first=$(command -v git-shadow) || first=
    if cmp -s "$first" "$program"; then
        printf "run it as 'git shadow'\n"
    else
        hint "another one comes first in PATH: $first"
    fi
    ;;
*) hint "put it in PATH to run it as 'git shadow', in ~/.profile for good: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
if command -v man >/dev/null && [ -f "$prefix/share/man/man1/git-shadow.1" ]; then
    PATH=$prefix/bin:$PATH man -w git-shadow >/dev/null 2>&1 ||
        hint "for 'git shadow --help': export MANPATH=\"$prefix/share/man:\${MANPATH-}\""
fi
# shellcheck disable=SC2016
dirs='${XDG_DATA_DIRS:-/usr/local/share:/usr/share}'
case :${XDG_DATA_HOME:-${HOME-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}: in
*":$data:"*) ;;
*) hint "for completion in bash and fish: export XDG_DATA_DIRS=\"$data:$dirs\"" ;;
esac
site=$prefix/share/zsh/site-functions
# shellcheck disable=SC2016
if command -v zsh >/dev/null && ! zsh -fc 'print -rl -- $fpath' | grep -qxF -- "$site" &&
    ! grep -qsF -- "$site" "${ZDOTDIR:-${HOME-}}/.zshrc"; then
    hint "for completion in zsh, in ~/.zshrc before compinit: fpath=(\"$site\" \$fpath)"
fi

if [ "$hooks" = yes ]; then
    "$program" hooks install
    repository=$(git rev-parse --path-format=absolute --git-common-dir)
    if ! grep -qxF -- "hooks $repository" "$record"; then
        printf 'hooks %s\n' "$repository" >>"$work/record"
        put 644 "$work/record" "$record"
        settle "$record"
    fi
fi

[ "$demo" = yes ] || exit 0

PATH=$prefix/bin:$PATH
place=$work/demo
mkdir "$place"

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
