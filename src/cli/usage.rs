//! Help, version and bad usage, as git words them.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::{Error, Exit};
use crate::ui::{Look, Ui};

/// Print what the parser has to say; help and version are answers, all else is bad usage.
pub(super) fn report(error: &clap::Error) -> Exit {
    let ui = Ui::new(Look::default());
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            ui.answer(if ui.colour() { text.ansi().to_string() } else { text.to_string() });
            return ui.close(Exit::Done);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ui.raw(text.to_string()),
        _ => {
            let wrong = worded(error);
            ui.error(&wrong);
            if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
                ui.raw(format!("{}\n", usage.to_string().replacen("Usage:", "usage:", 1)));
            }
        }
    }
    ui.close(Exit::Usage)
}

fn worded(error: &clap::Error) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join("', '"),
        _ => String::new(),
    };
    let arg = text(ContextKind::InvalidArg);
    let wrong = match error.kind() {
        ErrorKind::UnknownArgument if arg.starts_with('-') => Error::usage(format!("unknown option '{arg}'")),
        ErrorKind::UnknownArgument => Error::usage(format!("unexpected argument '{arg}'")),
        ErrorKind::InvalidSubcommand => {
            Error::usage(format!("'{}' is not a git shadow command", text(ContextKind::InvalidSubcommand)))
        }
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
            Error::usage(format!("option '{arg}' requires a value"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            Error::usage(format!("invalid value '{}' for '{arg}'", text(ContextKind::InvalidValue)))
        }
        ErrorKind::ArgumentConflict => {
            Error::usage(format!("options '{arg}' and '{}' cannot be used together", text(ContextKind::PriorArg)))
        }
        ErrorKind::MissingRequiredArgument => Error::usage(format!("missing '{arg}'")),
        ErrorKind::MissingSubcommand => Error::usage("no command given"),
        _ => {
            let shown = error.to_string();
            let first = shown.lines().next().unwrap_or_default();
            Error::usage(first.strip_prefix("error: ").unwrap_or(first))
        }
    };
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue] {
        let nearest = text(kind);
        if !nearest.is_empty() {
            return wrong.hint(format!("did you mean '{nearest}'?"));
        }
    }
    match text(ContextKind::ValidValue) {
        valid if valid.is_empty() => wrong,
        valid => wrong.hint(format!("one of '{valid}'")),
    }
}
