//! Small random histories, every answer compared with what git itself says of every commit of the base.
//!
//! `GIT_SHADOW_SEEDS=from..to` runs other seeds than the usual few.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_shadow::git::Repository;
use git_shadow::landing::{Range, prove};
use git_shadow::model::{Base, Fact, How, Landing};
use gix::ObjectId;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// The files of a tree: mode and lines.
type Files = BTreeMap<String, (u32, Vec<String>)>;

struct History {
    dir: PathBuf,
    random: Random,
    clock: u64,
    /// Every commit with its parents and tree.
    commits: BTreeMap<String, (Vec<String>, String)>,
    /// What is in each tree that was read or made.
    trees: BTreeMap<String, Files>,
}

impl History {
    fn git(&self, args: &[&str], input: &[u8]) -> (bool, Vec<u8>) {
        let mut child = Command::new("git")
            .args(["-c", "merge.directoryRenames=false"])
            .args(args)
            .current_dir(&self.dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || pipe.write_all(input));
            let output = child.wait_with_output().unwrap();
            (output.status.success(), output.stdout)
        })
    }

    fn line(&self, args: &[&str]) -> String {
        let (ok, out) = self.git(args, b"");
        assert!(ok, "git {args:?}");
        String::from_utf8(out).unwrap().trim().to_owned()
    }

    fn commit(&mut self, parents: &[&str], files: &Files, message: &str) -> String {
        self.clock += 60;
        let who = format!("A <a@b> {} +0000", self.clock);
        let mut text = format!("commit refs/tmp/t\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n", message.len());
        for (number, parent) in parents.iter().enumerate() {
            text.push_str(&format!("{} {parent}\n", if number == 0 { "from" } else { "merge" }));
        }
        text.push_str("deleteall\n");
        for (path, (mode, lines)) in files {
            let content = lines.concat();
            text.push_str(&format!("M {mode:o} inline {path}\ndata {}\n{content}\n", content.len()));
        }
        text.push_str("get-mark :1\n");
        let text = text.replacen("author", "mark :1\nauthor", 1);
        let (ok, out) = self.git(&["fast-import", "--quiet", "--force", "--cat-blob-fd=1"], text.as_bytes());
        assert!(ok, "{text}");
        let id = String::from_utf8(out).unwrap().trim().to_owned();
        let tree = self.line(&["rev-parse", &format!("{id}^{{tree}}")]);
        self.trees.insert(tree.clone(), files.clone());
        self.commits.insert(id.clone(), (parents.iter().map(|p| (*p).to_owned()).collect(), tree));
        id
    }

    fn files(&mut self, tree: &str) -> Files {
        if let Some(files) = self.trees.get(tree) {
            return files.clone();
        }
        let listed = self.line(&["ls-tree", "-r", tree]);
        let entries: Vec<(&str, &str)> = listed.lines().map(|l| l.split_once('\t').unwrap()).collect();
        let asked: String = entries.iter().map(|(head, _)| format!("{}\n", head.split(' ').nth(2).unwrap())).collect();
        let (_, out) = self.git(&["cat-file", "--batch"], asked.as_bytes());
        let mut rest = String::from_utf8(out).unwrap();
        let mut files = Files::new();
        for (head, path) in entries {
            let (said, content) = rest.split_once('\n').unwrap();
            let (content, more) = content.split_at(said.rsplit(' ').next().unwrap().parse().unwrap());
            let mode = u32::from_str_radix(head.split(' ').next().unwrap(), 8).unwrap();
            files.insert(path.to_owned(), (mode, content.split_inclusive('\n').map(str::to_owned).collect()));
            rest = more[1..].to_owned();
        }
        self.trees.insert(tree.to_owned(), files.clone());
        files
    }

    /// git's merge of two commits, with a base or one that git finds; `None`: conflicts.
    fn merges(&self, asked: &[(Option<&str>, &str, &str)]) -> Vec<Option<String>> {
        let line = |(base, ours, theirs): &(Option<&str>, &str, &str)| match base {
            Some(base) => format!("{base} -- {ours} {theirs}\n"),
            None => format!("{ours} {theirs}\n"),
        };
        let input: String = asked.iter().map(line).collect();
        let args = ["merge-tree", "--write-tree", "--allow-unrelated-histories", "--stdin", "-z", "--no-messages"];
        let (ok, out) = self.git(&args, input.as_bytes());
        assert!(ok);
        let mut fields = out.split(|b| *b == 0);
        let mut answers = Vec::new();
        for _ in asked {
            let clean = fields.next().unwrap() == b"1";
            let tree = String::from_utf8(fields.next().unwrap().to_vec()).unwrap();
            while !fields.next().unwrap().is_empty() {}
            answers.push(clean.then_some(tree));
        }
        answers
    }

    fn edit(&mut self, files: &mut Files) {
        const NAMES: [&str; 6] = ["a", "b", "d/c", "d/e", "f", "d/g"];
        let names: Vec<String> = files.keys().cloned().collect();
        let name = names.get(self.random.below(names.len().max(1))).cloned().unwrap_or_else(|| "a".to_owned());
        // Lines that are there again and again, and lines that are nowhere else.
        let word = match self.random.below(12) {
            n @ 0..6 => format!("{}\n", ["x", "y", "z", "w", "}", "x y"][n]),
            _ => format!("line {}\n", self.clock + self.random.below(40) as u64),
        };
        let new = (*self.random.pick(&NAMES)).to_owned();
        let op = self.random.below(16);
        let Some((mode, lines)) = files.get_mut(&name) else {
            files.insert(new, (0o100_644, vec![word]));
            return;
        };
        let at = self.random.below(lines.len().max(1));
        match op {
            0..=5 if !lines.is_empty() => lines[at] = word,
            6..=8 => lines.insert(at, word),
            9 | 10 if !lines.is_empty() => drop(lines.remove(at)),
            11 => *mode ^= 0o111,
            12 => drop(files.remove(&name)),
            13 => {
                let file = files.remove(&name).unwrap();
                files.insert(new, file);
            }
            14 => lines.iter_mut().for_each(|l| *l = l.replace('\n', "\r\n").replace("\r\r", "\r")),
            _ => drop(files.insert(new, (0o100_644, vec![word, "tail\n".to_owned()]))),
        }
    }

    fn tree(&self, commit: &str) -> String {
        self.commits[commit].1.clone()
    }

    fn parents(&self, commit: &str) -> &[String] {
        &self.commits[commit].0
    }

    fn reachable(&self, from: &str) -> BTreeSet<String> {
        let (mut seen, mut stack) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(commit) = stack.pop() {
            if seen.insert(commit.clone()) {
                stack.extend(self.parents(&commit).iter().cloned());
            }
        }
        seen
    }

    /// One commit more on `main`: work of its own, or some way of landing a branch.
    fn advance(&mut self, main: &str, branches: &[String]) -> String {
        let branch = self.random.pick(branches).clone();
        let op = self.random.below(12);
        let mut files = self.files(&self.tree(main));
        match op {
            0..=2 => {
                for _ in 0..=self.random.below(2) {
                    self.edit(&mut files);
                }
                self.commit(&[main], &files, "own")
            }
            3..=6 => {
                let Some(tree) = self.merges(&[(None, main, &branch)])[0].clone() else { return main.to_owned() };
                files = self.files(&tree);
                if self.random.below(4) == 0 {
                    self.edit(&mut files);
                }
                self.commit(&[main], &files, "squash")
            }
            7 | 8 => {
                let Some(parent) = self.parents(&branch).first().cloned() else { return main.to_owned() };
                let pick = if self.random.below(2) == 0 { branch.clone() } else { parent };
                let Some(before) = self.parents(&pick).first().cloned() else { return main.to_owned() };
                let tree = self.merges(&[(Some(&before), main, &pick)])[0].clone();
                let Some(tree) = tree else { return main.to_owned() };
                files = self.files(&tree);
                self.commit(&[main], &files, "pick")
            }
            9 => {
                let Some(tree) = self.merges(&[(None, main, &branch)])[0].clone() else { return main.to_owned() };
                files = self.files(&tree);
                self.commit(&[main, &branch], &files, "merge")
            }
            10 => {
                let Some(before) = self.parents(main).first().cloned() else { return main.to_owned() };
                files = self.files(&self.tree(&before));
                self.commit(&[main], &files, &format!("This reverts commit {main}."))
            }
            _ => {
                let theirs = self.files(&self.tree(&branch));
                for (path, file) in theirs {
                    if self.random.below(2) == 0 {
                        files.insert(path, file);
                    }
                }
                self.commit(&[main], &files, "by hand")
            }
        }
    }

    /// A base and branches that left it, or each other, here and there.
    fn grow(&mut self) -> (String, Vec<String>) {
        let mut files = Files::new();
        for name in ["a", "b", "d/c"] {
            let lines = (0..6 + self.random.below(6)).map(|n| format!("{name} {n}\n")).collect();
            files.insert(name.to_owned(), (0o100_644, lines));
        }
        let mut main = self.commit(&[], &files, "start");
        let mut branches: Vec<String> = Vec::new();
        for step in 0..16 {
            if step < 9 && (branches.is_empty() || self.random.below(3) == 0) {
                let mut tip = match branches.last() {
                    Some(last) if self.random.below(4) == 0 => last.clone(),
                    _ => main.clone(),
                };
                for _ in 0..=self.random.below(3) {
                    tip = self.work(&tip);
                }
                branches.push(tip);
            } else if step > 3 && self.random.below(6) == 0 {
                let at = self.random.below(branches.len());
                let tip = branches[at].clone();
                branches[at] = self.update(&tip, &main);
            } else {
                main = self.advance(&main, &branches);
            }
        }
        (main, branches)
    }

    fn work(&mut self, tip: &str) -> String {
        let mut files = self.files(&self.tree(tip));
        for _ in 0..=self.random.below(2) {
            self.edit(&mut files);
        }
        self.commit(&[tip], &files, "work")
    }

    /// Merge the base into a branch, or go on with it.
    fn update(&mut self, tip: &str, main: &str) -> String {
        if self.random.below(2) == 0 || self.reachable(tip).contains(main) || self.reachable(main).contains(tip) {
            return self.work(tip);
        }
        let Some(tree) = self.merges(&[(None, tip, main)])[0].clone() else { return self.work(tip) };
        let mut files = self.files(&tree);
        if self.random.below(4) == 0 {
            self.edit(&mut files);
        }
        self.commit(&[tip, main], &files, "update")
    }
}

/// What git says of a tip, commit by commit.
struct Oracle {
    tip: String,
    /// The base's own line, oldest first.
    line: Vec<String>,
    in_base: bool,
    squash: Vec<String>,
    contained: Vec<String>,
    rebase: bool,
}

fn oracle(history: &History, main: &str, tip: &str) -> Oracle {
    let base = history.reachable(main);
    let mut tip = tip.to_owned();
    while let [first, second] = history.parents(&tip)
        && !base.contains(&tip)
        && base.contains(second)
        && history.merges(&[(None, first, second)])[0].as_ref() == Some(&history.tree(&tip))
    {
        tip = first.clone();
    }
    let mut found = Oracle {
        tip: tip.clone(),
        line: vec![],
        in_base: base.contains(&tip),
        squash: vec![],
        contained: vec![],
        rebase: false,
    };
    let bases = history.line(&["merge-base", "--all", main, &tip]);
    let bases: Vec<&str> = bases.lines().collect();
    if found.in_base || bases.iter().any(|m| history.tree(m) == history.tree(&tip)) {
        return found;
    }
    let mut line = vec![main.to_owned()];
    while let Some(parent) = history.parents(&line[line.len() - 1]).first() {
        line.push(parent.clone());
    }
    line.reverse();
    found.line = line.clone();
    let after = |commit: &str| bases.iter().all(|m| history.reachable(commit).contains(*m));
    let pairs: Vec<(&str, &str)> = line.windows(2).map(|w| (w[0].as_str(), w[1].as_str())).collect();
    let squashes: Vec<_> = pairs.iter().filter(|(parent, _)| after(parent)).copied().collect();
    let asked: Vec<_> = squashes.iter().map(|(parent, _)| (None, *parent, tip.as_str())).collect();
    for ((parent, commit), merged) in squashes.iter().zip(history.merges(&asked)) {
        if merged == Some(history.tree(commit)) && history.tree(commit) != history.tree(parent) {
            found.squash.push((*commit).to_owned());
        }
    }
    let contains: Vec<&str> = line.iter().map(String::as_str).filter(|x| after(x) && !bases.contains(x)).collect();
    let asked: Vec<_> = contains.iter().map(|commit| (None, *commit, tip.as_str())).collect();
    for (commit, merged) in contains.iter().zip(history.merges(&asked)) {
        if merged == Some(history.tree(commit)) {
            found.contained.push((*commit).to_owned());
        }
    }
    let mut own: Vec<String> = history.reachable(&tip).difference(&base).cloned().collect();
    if own.iter().all(|c| history.parents(c).len() == 1) {
        own.sort_by_key(|c| history.reachable(c).len());
        own.retain(|c| history.tree(c) != history.tree(&history.parents(c)[0]));
        let mut rest = squashes.as_slice();
        found.rebase = own.iter().all(|c| {
            let before = history.parents(c)[0].as_str();
            let asked: Vec<_> = rest.iter().map(|(parent, _)| (Some(before), *parent, c.as_str())).collect();
            let merged = history.merges(&asked);
            let changes = |at: &usize| history.tree(rest[*at].0) != history.tree(rest[*at].1);
            let at = (0..rest.len()).filter(changes).find(|&at| merged[at] == Some(history.tree(rest[at].1)));
            rest = &rest[at.map_or(rest.len(), |at| at + 1)..];
            at.is_some()
        });
    }
    found
}

/// Whether a commit between two of the line has all that the first one changed as it was before.
fn undone_between(history: &mut History, line: &[String], first: &str, later: &str) -> bool {
    let at = |commit: &str| line.iter().position(|c| c == commit).unwrap();
    let (from, to) = (at(first), at(later));
    let trees: Vec<Files> = line.iter().map(|c| history.files(&history.tree(c))).collect();
    let (before, after) = (&trees[from - 1], &trees[from]);
    let paths: BTreeSet<&String> =
        before.keys().chain(after.keys()).filter(|p| before.get(*p) != after.get(*p)).collect();
    (from + 1..to).any(|middle| paths.iter().all(|p| trees[middle].get(*p) == before.get(*p)))
}

/// What is wrong with an answer.
fn fault(history: &mut History, oracle: &Oracle, found: &Fact<Landing>) -> Option<String> {
    let Fact::Known(landing) = found else { return Some("unknown".into()) };
    let landed = match landing {
        Landing::Landed(landed) | Landing::Reverted { landed, .. } => landed,
        Landing::Partial { .. } | Landing::Unproven if oracle.in_base => return Some("not an ancestor".into()),
        Landing::Partial { .. } | Landing::Unproven => {
            let proved = !oracle.squash.is_empty() || !oracle.contained.is_empty() || oracle.rebase;
            return proved.then(|| "not proved".into());
        }
        Landing::CutOff => return Some("cut off".into()),
    };
    if oracle.in_base {
        return (landed.how != How::Ancestor).then(|| "not an ancestor".into());
    }
    let commit = landed.commit.to_string();
    // After a landing that was undone a later one is named.
    let earlier = oracle.squash.iter().chain(&oracle.contained).find(|c| **c != commit);
    let at = |commit: &str| oracle.line.iter().position(|c| c == commit);
    let again =
        earlier.is_some_and(|first| at(first) < at(&commit) && undone_between(history, &oracle.line, first, &commit));
    let first = |all: &[String]| all.first() == Some(&commit) || again && all.contains(&commit);
    let right = match landed.how {
        How::Ancestor => false,
        How::Squash => first(&oracle.squash),
        How::Rebase => oracle.rebase && (again || oracle.squash.first().is_none_or(|s| at(s) >= at(&commit))),
        How::Contained => first(&oracle.contained) && (again || oracle.squash.is_empty() && !oracle.rebase),
    };
    (!right).then(|| "wrong".into())
}

fn check(dir: &Path, seed: u64, tally: &mut BTreeMap<String, usize>) -> Vec<String> {
    let mut history = History {
        dir: dir.to_owned(),
        random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
        clock: 1_700_000_000,
        commits: BTreeMap::new(),
        trees: BTreeMap::new(),
    };
    history.line(&["init", "-q", "-b", "main", "."]);
    let (main, branches) = history.grow();
    let oid = |id: &str| ObjectId::from_hex(id.as_bytes()).unwrap();
    let repo = Repository::discover(dir).unwrap();
    let tips: Vec<ObjectId> = branches.iter().map(|b| oid(b)).collect();
    let bases = [Base { name: "refs/heads/main".into(), tip: oid(&main), fetched_at: None }];
    let mut faults = Vec::new();
    for (branch, found) in branches.iter().zip(prove(&repo.local(), &bases, &tips, &Range::default())) {
        let oracle = oracle(&history, &main, branch);
        if let Fact::Known(landing) = &found {
            let name = format!("{landing:?}").split([' ', '(', '{']).next().unwrap().to_owned();
            let how = if let Landing::Landed(l) = landing { l.how.as_str() } else { "" };
            *tally.entry(format!("{name} {how}")).or_default() += 1;
        }
        if let Some(fault) = fault(&mut history, &oracle, &found) {
            let Oracle { tip, squash, contained, rebase, .. } = oracle;
            faults.push(format!(
                "seed {seed}: {fault}: {branch} (as {tip}) of {main}: {found:?}, git: squash {squash:?} contained {contained:?} rebase {rebase}"
            ));
        }
    }
    faults
}

#[test]
fn random_histories_are_proved_as_git_says() {
    let seeds = std::env::var("GIT_SHADOW_SEEDS").unwrap_or_else(|_| "1..5".to_owned());
    let (from, to) = seeds.split_once("..").unwrap();
    let (mut faults, mut tally) = (Vec::new(), BTreeMap::new());
    let seeds = from.parse::<u64>().unwrap()..to.parse().unwrap();
    let many = seeds.clone().count() > 3;
    for seed in seeds {
        let dir = tempfile::tempdir().unwrap();
        let found = check(dir.path(), seed, &mut tally);
        if !found.is_empty() && std::env::var_os("GIT_SHADOW_KEEP").is_some() {
            eprintln!("kept {:?}", dir.keep());
        }
        faults.extend(found);
    }
    eprintln!("{tally:?}");
    assert!(tally.len() >= 4 || !many, "the histories are too alike: {tally:?}");
    assert!(faults.is_empty(), "{}\n{tally:?}", faults.join("\n"));
}
