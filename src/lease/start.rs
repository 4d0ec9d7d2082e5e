//! Whether a running process can be the one that a file names by its pid and its start.
//!
//! The start was written as `ps -o lstart=` prints it: local time, in a locale and a zone that are not known. Ids get
//! reused, so a process that runs under the pid may be another one; but only a difference that nothing explains proves
//! that. A difference is explained by
//!
//! - a zone: offsets are multiples of 15 minutes between −14 and +14 hours, so minutes and seconds within a quarter of
//!   an hour are the same in every zone, and in every locale;
//! - how it is measured: seconds are cut off, the clock is slewed: [`SLACK`];
//! - a clock that was set since: the start of a process is known in ticks since boot and becomes a date only with the
//!   clock as it is set now. A virtual machine that was paused (or whose host slept) moves the starts of all its
//!   processes, by hours or days, not by a multiple of anything. `steps` is how far the clock has been set since boot;
//!   the steps since the file was written are between none and that. With steps, only the difference as a whole counts.
//!
//! What cannot be parsed proves nothing. Steps that cancel each other out are not seen.

use jiff::civil::{DateTime, Weekday};

/// Seconds that rounding, slewing and leap seconds explain.
const SLACK: i64 = 120;
const QUARTER: i64 = 15 * 60;
const ZONES: i64 = 14 * 3600;

/// Whether the process that started at `started` (seconds since the epoch, by the clock as it is set now) is provably
/// not the one that `written` describes.
pub(super) fn is_another(written: &str, started: i64, steps: i64) -> bool {
    let words: Vec<&str> = written.split_whitespace().collect();
    let Some(time) = time(&words) else { return false };
    if let Some(seconds) = date(&words, time) {
        // Written minus started is the zone's offset, less what the clock was set forward since.
        let difference = seconds - started;
        if difference > ZONES - steps.min(0) + SLACK || difference < -ZONES - steps.max(0) - SLACK {
            return true;
        }
    }
    let (hour, minute, second) = time;
    let apart = (hour * 3600 + minute * 60 + second - started).rem_euclid(QUARTER);
    steps.abs() <= SLACK && apart.min(QUARTER - apart) > SLACK + steps.abs()
}

/// The only `21:37:40` there is.
fn time(words: &[&str]) -> Option<(i64, i64, i64)> {
    let mut times = words.iter().filter_map(|word| {
        let mut parts = word.split(':').map(|part| part.parse::<i64>().ok().filter(|n| (0..=60).contains(n)));
        let time = (parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(time)
    });
    let first = times.next()?;
    times.next().is_none().then_some(first)
}

/// The date in English, as the C locale writes it, in seconds since the epoch as if it were UTC. The day of the week must
/// be there and fit: names of other languages look alike (`mar` is a Tuesday or March).
fn date(words: &[&str], (hour, minute, second): (i64, i64, i64)) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let [first, rest @ ..] = words else { return None };
    let weekday = DAYS.iter().position(|day| day == first)?;
    let month = |word: &str| MONTHS.iter().position(|month| *month == word);
    // "Jun 19 21:37:40 2026", or the day first.
    let (month, day, year) = match rest {
        [a, b, _, year] => match (month(a), month(b)) {
            (Some(month), None) => (month, b, year),
            (None, Some(month)) => (month, a, year),
            _ => return None,
        },
        _ => return None,
    };
    let small = |number: i64| i8::try_from(number).ok();
    let year = (year.len() == 4).then(|| year.parse().ok())??;
    let month = small(i64::try_from(month).ok()? + 1)?;
    let at =
        DateTime::new(year, month, day.parse().ok()?, small(hour)?, small(minute)?, small(second.min(59))?, 0).ok()?;
    let fits = at.weekday() == Weekday::from_monday_zero_offset(i8::try_from(weekday).ok()?).ok()?;
    fits.then(|| jiff::tz::Offset::UTC.to_timestamp(at).ok().map(|at| at.as_second()))?
}

#[cfg(test)]
mod tests {
    use super::is_another;

    /// 2026-06-19T21:37:40Z.
    const STARTED: i64 = 1_781_905_060;
    const WRITTEN: &str = "Fri Jun 19 21:37:40 2026";

    #[test]
    fn the_same_start_in_any_zone_is_the_same() {
        for zone in [
            "Fri Jun 19 21:37:40 2026",
            "Sat Jun 20 11:37:40 2026",
            "Fri Jun 19 09:37:40 2026",
            "Sat Jun 20 03:22:41 2026",
        ] {
            assert!(!is_another(zone, STARTED, 0), "{zone}");
            assert!(!is_another(zone, STARTED + 1, 2), "{zone}");
        }
    }

    #[test]
    fn the_same_start_in_any_locale_is_the_same() {
        for locale in [
            "Fr 19 Jun 21:37:40 2026",
            "Fri 19 Jun 21:37:40 2026",
            "ven. 19 juin 23:37:40 2026",
            "金  6/19 21:37:40 2026",
            "Fri Jun 19 09:37:40 PM 2026",
            "mar 19 jun 21:37:40 2026",
            "pe 19. kesäkuuta 2026 21.37.40",
            "",
            "yesterday",
        ] {
            assert!(!is_another(locale, STARTED, 0), "{locale}");
        }
    }

    #[test]
    fn minutes_that_no_zone_explains_are_another() {
        for another in ["Fri Jun 19 21:33:00 2026", "Fr 19 Jun 21:42:00 2026", "ven. 19 juin 23:30:00 2026"] {
            assert!(is_another(another, STARTED, 0), "{another}");
            assert!(!is_another(another, STARTED, 86_400), "a clock that was set explains it: {another}");
            assert!(!is_another(another, STARTED, -86_400), "{another}");
        }
        assert!(!is_another("Fri Jun 19 21:36:00 2026", STARTED, 0), "within the slack");
    }

    #[test]
    fn days_that_no_zone_explains_are_another() {
        assert!(is_another("Thu Jun 19 21:37:40 2025", STARTED, 0));
        assert!(is_another("Thu Jun 18 21:37:40 2026", STARTED, 0));
        assert!(is_another("Thu Jun 19 21:37:40 2025", STARTED, 10 * 86_400), "ten days do not explain a year");
        assert!(!is_another("Thu Jun 18 21:37:40 2026", STARTED, 10 * 86_400), "set forward since");
        assert!(is_another("Sat Jun 20 21:37:40 2026", STARTED, 10 * 86_400), "set forward explains no later start");
        assert!(!is_another("Sat Jun 20 21:37:40 2026", STARTED, -10 * 86_400), "set back does");
    }

    #[test]
    fn a_date_whose_weekday_does_not_fit_is_no_date() {
        assert!(!is_another("Mon Jun 19 21:37:40 2025", STARTED, 0));
        assert!(!is_another(&WRITTEN.replace("Jun", "Foo"), STARTED, 0));
    }
}
