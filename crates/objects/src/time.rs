//! Compact times of objects.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

/// An optional time in microseconds, the precision of Kubernetes. A missing one is before all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Encoding of a missing time: before the first valid [`Timestamp`].
    const NONE: Time = Time(i64::MIN);

    /// The time, if there is one.
    #[inline]
    pub fn get(self) -> Option<Timestamp> {
        if self.is_none() { None } else { Timestamp::from_microsecond(self.0).ok() }
    }

    /// Whether it exists.
    #[inline]
    pub fn is_some(self) -> bool {
        !self.is_none()
    }

    /// Whether it is missing.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Time::NONE
    }
}

impl Default for Time {
    fn default() -> Time {
        Time::NONE
    }
}

impl From<Option<Timestamp>> for Time {
    fn from(time: Option<Timestamp>) -> Time {
        time.map_or(Time::NONE, |time| Time(time.as_microsecond()))
    }
}

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Time {
        Time::from(Some(time))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        Option::<Timestamp>::deserialize(deserializer).map(Time::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn time_round_trips_and_missing_sorts_first() {
        let time = |text: &str| serde_json::from_str::<Time>(text).unwrap();
        for written in ["2026-07-01T10:00:00Z", "2026-07-01T10:00:00.000001Z", "-009999-01-02T01:59:59Z"] {
            let read = time(&format!("{written:?}"));
            assert_eq!(read.get().unwrap().to_string(), written);
            assert!(read.is_some() && time("null") < read, "{written}");
        }
        assert_eq!((time("null").get(), time("null").is_none()), (None, true));
        assert!(serde_json::from_str::<Time>("\"noon\"").is_err());
    }
}
