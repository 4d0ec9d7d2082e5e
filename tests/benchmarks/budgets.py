#!/usr/bin/env python3
"""The budgets of speed and memory, each a ratio beside git or a peer in the same run; fails when one is missed.

    budgets.py [--binary target/release/git-shadow] [--runs 5] [--only NAME…]

Every figure is a median over the runs, warm caches. 1.00 is the bar: a ratio above it is a miss.
Needs git and Python 3.9+, some 300 MB below the temporary directory, and a machine with nothing else to do.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAKE_FLEET = HERE.parent / "fleet" / "make_fleet.py"
# What a person would write: four questions a shadow, one process each.
LOOP = r'''
for repo in "$1"/projects/*/*; do
  git -C "$repo" worktree list --porcelain | awk '/^worktree /{w=$2} /^branch /{print $2, w}' >"$2"
  for branch in $(git -C "$repo" for-each-ref --format='%(refname)' refs/heads/aos); do
    git -C "$repo" merge-base refs/remotes/origin/main "$branch"
    git -C "$repo" rev-list --count "$branch" --not --remotes
    git -C "$repo" merge-tree --write-tree refs/remotes/origin/main "$branch"
    worktree=$(awk -v b="$branch" '$1 == b {print $2}' "$2")
    [ -d "$worktree" ] && git -C "$worktree" status --porcelain
  done
done >/dev/null 2>&1
true
'''


def fleet(root, *options):
    subprocess.run([sys.executable, MAKE_FLEET, root, *options], check=True, stdout=subprocess.DEVNULL)
    return root


def environment(root):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return dict(clean, AOS_NATIVE_STATE_DIR=f"{root}/state", AOS_NATIVE_SESSIONS_DIR=f"{root}/sessions", GIT_CONFIG_NOSYSTEM="1",
                GIT_CONFIG_GLOBAL=os.devnull, GIT_OPTIONAL_LOCKS="0", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")


def run(command, env, cwd=None):
    """Seconds and peak MiB of one process."""
    start = time.perf_counter()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, env=env, cwd=cwd)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


class Bench:
    def __init__(self, binary, runs, scratch):
        self.binary, self.runs, self.scratch, self.missed = binary, runs, scratch, []

    def median(self, measure):
        measure()
        return statistics.median(measure() for _ in range(self.runs))

    def list(self, root):
        return self.median(lambda: run([self.binary, "list", "--json", "--under", root / "projects"], environment(root))[0])

    def tell(self, what, value, bar, unit):
        ratio = value / bar
        self.missed += [what] if ratio > 1 else []
        print(f"{ratio:5.2f}  {'MISSED' if ratio > 1 else 'kept  '}  {what}: {value:.3g} {unit}, the bar is {bar:.3g}", flush=True)

    def default_fleet(self):
        root = fleet(self.scratch / "fleet")
        env = environment(root)
        truth = json.loads((root / "truth.json").read_text())
        present = [s["worktree"] for s in truth if s["worktree"] and os.path.isdir(s["worktree"])]
        # In turn, so that what else the machine does falls on all of them alike.
        ours, status, loop, peak = [], [], [], []
        for turn in range(self.runs + 1):
            seconds, memory = run([self.binary, "list", "--json", "--under", root / "projects"], env)
            each = sum(run(["git", "-C", path, "status", "--porcelain"], env)[0] for path in present)
            naive = run(["bash", "-c", LOOP, "loop", root, self.scratch / "worktrees"], env)[0] if turn < 3 else loop[-1]
            if turn:  # the first one warms the caches
                ours.append(seconds), status.append(each), loop.append(naive), peak.append(memory)
            elif not loop:
                loop.append(naive)
        ours, status, loop = map(statistics.median, (ours, status, loop))
        self.tell(f"list over {len(truth)} shadows beside git status in {len(present)} worktrees", ours / status, 0.6, "of its time")
        self.tell("the same beside a loop of four git calls a shadow", ours / loop, 1 / 20, "of its time")
        self.tell("peak memory", max(peak), 64, "MiB")

    def growth(self):
        one, ten = (fleet(self.scratch / f"by{n}", "--repos", "1", "--branches", str(40 * n), "--worktrees", "0", "--commits", str(200 * n),
                     "--shared", "9720")
                    for n in (1, 10))
        self.tell("10 times the branches on 10 times the history", self.list(ten) / self.list(one), 12, "times as long")

    def memory(self):
        few, many = (fleet(self.scratch / f"trees{n}", "--repos", "1", "--branches", str(n), "--worktrees", str(n)) for n in (10, 80))
        peak = lambda root: self.median(lambda: run([self.binary, "list", "--json", "--under", root / "projects"], environment(root))[1])
        self.tell("peak memory with 80 worktrees beside 10", peak(many) / peak(few), 1.5, "times as much")

    def ignored(self):
        root = self.scratch / "ignored"
        repo = root / "projects" / "o" / "r"
        env = environment(root)
        git = lambda *args: subprocess.run(["git", "-C", repo, *args], check=True, env=env, stdout=subprocess.DEVNULL)
        repo.mkdir(parents=True)
        git("init", "-q", "-b", "main")
        (repo / ".gitignore").write_text("target/\n")
        git("add", "-A"), git("commit", "-qm", "base")
        trees = [root / f"w{n}" for n in range(10)]
        for n, tree in enumerate(trees):
            git("worktree", "add", "-q", "-b", f"aos/s{n}", tree)
            (tree / "work").write_text(f"{n}\n")
            git("-C", tree, "add", "-A"), git("-C", tree, "commit", "-qm", "work")
            git("merge", "-q", "--squash", f"aos/s{n}"), git("commit", "-qm", f"s{n}")
            git("rm", "-q", "work"), git("commit", "-qm", "gone")
        before = self.list(root)
        for tree in trees:
            for folder in range(100):
                path = tree / "target" / f"d{folder}"
                path.mkdir(parents=True)
                for file in range(200):
                    (path / f"f{file}").write_bytes(b"built\n")
        find = self.median(lambda: run(["find", *trees], env)[0])
        self.tell("20,000 ignored files in each of ten worktrees add", (self.list(root) - before) / find, 1, "of one find")

    def hook(self):
        root = fleet(self.scratch / "hook", "--repos", "1", "--branches", "95", "--worktrees", "14")
        (repo,) = (root / "projects").glob("*/*")
        env = environment(root)
        hook = lambda: run([self.binary, "hook", "post-merge", "0"], env, repo)[0] * 1000

        def moved():
            subprocess.run(["git", "-C", repo, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=env)
            return hook()

        self.tell("a hook when a base has moved and nothing landed", self.median(moved), 30, "ms")
        self.tell("a hook when no base has moved", self.median(hook), 30, "ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [name for name in vars(Bench) if not name.startswith("_") and name not in ("median", "list", "tell")]
    parser.add_argument("--binary", type=Path, default=HERE.parents[1] / "target/release/git-shadow")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    args = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="git-shadow-bench-")).resolve()
    try:
        bench = Bench(args.binary.resolve(strict=True), args.runs, scratch)
        for name in args.only:
            getattr(bench, name)()
    finally:
        shutil.rmtree(scratch)
    sys.exit(f"{len(bench.missed)} of the budgets missed" if bench.missed else 0)


if __name__ == "__main__":
    main()
