//! The only place that reads the clock.

use crate::model::Timestamp;

/// Now.
pub fn now() -> Timestamp {
    Timestamp::now()
}
