//! A page under way: headings, paragraphs, lists and examples in roff.

use roff::{Inline, Roff, bold, italic, roman};

/// Changes with the text, not with the day it is made.
const DATE: &str = "2026-11-30";

/// A page of the manual.
pub struct Sheet {
    roff: Roff,
    /// Nothing stands below the heading yet.
    fresh: bool,
}

impl Sheet {
    /// A page with its title.
    pub fn new(title: &str, section: &str) -> Sheet {
        let mut roff = Roff::new();
        let source = concat!("git-shadow ", env!("CARGO_PKG_VERSION"));
        roff.control("TH", [&title.to_uppercase(), section, DATE, source, "Git Shadow Manual"]);
        Sheet { roff, fresh: true }
    }

    pub fn heading(&mut self, text: &str) {
        self.fresh = true;
        self.roff.control("SH", [text.to_uppercase().as_str()]);
    }

    /// Paragraphs, apart by an empty line, with marks; one whose lines begin with four spaces is an example.
    pub fn prose(&mut self, text: &str) {
        self.paragraphs(text, marked);
    }

    /// The same for a text of the program, in which nothing is a mark.
    pub fn plain(&mut self, text: &str) {
        self.paragraphs(text, |text| vec![roman(text)]);
    }

    fn paragraphs(&mut self, text: &str, inlines: fn(&str) -> Vec<Inline>) {
        for paragraph in text.trim_matches('\n').split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            if !self.fresh {
                self.roff.control("PP", []);
            }
            self.fresh = false;
            if paragraph.starts_with("    ") {
                self.example(paragraph);
            } else {
                self.roff.text(inlines(&paragraph.replace('\n', " ")));
            }
        }
    }

    fn example(&mut self, text: &str) {
        self.roff.control("RS", ["4"]);
        self.roff.control("nf", []);
        for line in text.lines() {
            self.roff.text([roman(line.strip_prefix("    ").unwrap_or(line))]);
        }
        self.roff.control("fi", []);
        self.roff.control("RE", []);
    }

    /// An entry of a list: its head, and lines about it.
    pub fn entry(&mut self, head: Vec<Inline>, lines: &[Vec<Inline>]) {
        self.fresh = false;
        self.roff.control("TP", []);
        self.roff.text(head);
        for (n, line) in lines.iter().enumerate() {
            if n > 0 {
                self.roff.control("br", []);
            }
            self.roff.text(line.clone());
        }
    }

    /// A line that is not filled.
    pub fn line(&mut self, text: Vec<Inline>) {
        self.roff.text(text);
    }

    /// The page.
    pub fn finish(self) -> String {
        wrapped(&self.roff.render())
    }
}

/// Lines of the source that can be read: filled text may break at any space, but not an example or the head of an entry.
fn wrapped(page: &str) -> String {
    let (mut text, mut whole, mut after) = (String::new(), false, "");
    for line in page.lines() {
        match line {
            ".nf" => whole = true,
            ".fi" => whole = false,
            _ => {}
        }
        let breaks = !whole && !line.starts_with(['.', '\'']) && after != ".TP";
        let mut column = 0;
        for (n, word) in line.split(' ').enumerate() {
            // A word that begins so would be a command at the begin of a line.
            let fits = column + word.len() < 78 || !breaks || word.is_empty() || word.starts_with(['.', '\'']);
            if n > 0 {
                text.push(if fits { ' ' } else { '\n' });
                column = if fits { column + 1 } else { 0 };
            }
            text.push_str(word);
            column += word.len();
        }
        text.push('\n');
        after = line;
    }
    text
}

/// `…` is bold, *…* is italic.
pub fn marked(text: &str) -> Vec<Inline> {
    let mut found = Vec::new();
    for (n, part) in text.split('`').enumerate() {
        if n % 2 == 1 {
            found.push(bold(part));
            continue;
        }
        let parts = part.split('*').enumerate();
        found.extend(parts.map(|(n, part)| if n % 2 == 1 { italic(part) } else { roman(part) }));
    }
    found.retain(
        |inline| !matches!(inline, Inline::Roman(text) | Inline::Bold(text) | Inline::Italic(text) if text.is_empty()),
    );
    found
}
