//! Choosing several of many with the keyboard.

use inquire::ui::RenderConfig;
use inquire::{InquireError, MultiSelect};

use super::{Ui, cut, safe_lossy, terminal};
use crate::error::{Error, Result};
use crate::sys::interrupt;

/// Columns that stand before a choice: the cursor and its box; and one that stays free.
const BEFORE: usize = 7;

/// What ends that a terminal brackets what is pasted, and shows the cursor; on a line of its own.
const FAREWELL: &[u8] = b"\x1b[?2004l\x1b[?25h\r\n";

/// Lines that are not for choices: the question, the help, and some of what stood there before.
const AROUND: usize = 5;

impl Ui {
    /// Whether someone can choose: what is typed and shown goes to a terminal that can move its cursor.
    pub fn can_choose(&self) -> bool {
        self.can_ask() && !terminal::dumb()
    }

    /// Which of these, by their numbers; none when the user leaves it (Esc); Ctrl-C ends this process. The terminal is as
    /// before in any case.
    ///
    /// # Errors
    /// When the terminal fails.
    pub fn choose(&self, question: &str, choices: &[String]) -> Result<Vec<usize>> {
        let (columns, rows) = terminal::size_of_errors();
        let room = columns.saturating_sub(BEFORE);
        let choices = choices.iter().map(|choice| cut(&safe_lossy(choice), room)).collect();
        let colours = if self.colour_errors { RenderConfig::default_colored() } else { RenderConfig::empty() };
        let help = "space marks, enter releases the marked, esc nothing; right all, left none";
        let kept = interrupt::keep_terminal(FAREWELL);
        let answer = MultiSelect::new(question, choices)
            .with_render_config(colours)
            .with_help_message(&cut(help, columns.saturating_sub(3)))
            .with_page_size(rows.saturating_sub(AROUND).max(1))
            .with_formatter(&|chosen| format!("{} chosen", chosen.len()))
            .without_filtering()
            .raw_prompt();
        drop(kept);
        match answer {
            Ok(chosen) => Ok(chosen.into_iter().map(|choice| choice.index).collect()),
            Err(InquireError::OperationCanceled) => Ok(Vec::new()),
            Err(InquireError::OperationInterrupted) => {
                interrupt::by_key();
                Ok(Vec::new())
            }
            Err(error) => Err(Error::failed("terminal", format!("cannot ask on the terminal: {error}"))),
        }
    }
}
