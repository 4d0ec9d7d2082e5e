//! Durations as policy writes them: digits and one unit.

use std::time::Duration;

/// Longer ones would leave the calendar when added to a date.
const MOST_DAYS: u64 = 365_250;

/// `0s`, `90m`, `24h`, `3d` or `1w`.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let bad = || format!("'{text}' is not a duration; write a number and one of s, m, h, d, w, such as '24h'");
    let (unit_at, unit) = text.char_indices().last().ok_or_else(bad)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(bad()),
    };
    let digits = &text[..unit_at];
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    // All digits, so what fails to parse is too large.
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds))
        .filter(|seconds| *seconds <= MOST_DAYS * 86_400)
        .map(Duration::from_secs)
        .ok_or_else(|| format!("'{text}' is longer than a thousand years"))
}

/// The shortest way to write it.
pub(super) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    [(86_400, 'd'), (3_600, 'h'), (60, 'm')]
        .into_iter()
        .find(|(size, _)| seconds != 0 && seconds.is_multiple_of(*size) && (*size != 86_400 || seconds > 86_400))
        .map_or_else(|| format!("{seconds}s"), |(size, unit)| format!("{}{unit}", seconds / size))
}

#[cfg(test)]
mod tests {
    use super::{parse, show};

    #[test]
    fn every_form() {
        for (text, seconds) in [("0s", 0), ("90m", 5_400), ("24h", 86_400), ("3d", 259_200), ("1w", 604_800)] {
            assert_eq!(parse(text).map(|d| d.as_secs()), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn no_other_form() {
        for text in ["", "s", "3", "3 d", " 3d", "3d ", "-3d", "+3d", "3D", "3dd", "1h30m", "1.5h", "١d", "3é", "3M"]
        {
            assert!(parse(text).is_err_and(|e| e.contains("is not a duration")), "{text}");
        }
    }

    #[test]
    fn too_long_is_an_error() {
        for text in ["99999999999999999999s", "18446744073709551615w", "365251d"] {
            assert!(parse(text).is_err_and(|e| e.contains("longer than")), "{text}");
        }
        assert!(parse("365250d").is_ok());
    }

    #[test]
    fn shown_as_the_table_writes_them() {
        for text in ["0s", "24h", "3d", "30d", "90m", "7d", "61s", "36h"] {
            assert_eq!(parse(text).map(show), Ok(text.to_owned()));
        }
    }
}
