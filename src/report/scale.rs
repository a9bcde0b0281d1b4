//! Maps values to pixels of a chart, with round tick marks.

/// Maps `low..=high` linearly to the pixels `start..=end` (which may run backwards, as upwards in SVG).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Widens a range without extent, so that a single value has a place.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let widened = if high > low {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        Self {
            low: widened.0,
            high: widened.1,
            start,
            end,
        }
    }

    /// Returns the pixel of `value`, rounded to a tenth: no screen shows more.
    pub fn at(&self, value: f64) -> f64 {
        let fraction = (value - self.low) / (self.high - self.low);
        ((self.start + fraction * (self.end - self.start)) * 10.0).round() / 10.0
    }

    /// Returns about `count` multiples of 1, 2 or 5 times a power of ten within the range.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / count as f64);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| k as f64 * step).collect()
    }

    /// Formats `value` with as many decimals as neighbouring ticks need to differ, and thousands as k.
    pub fn label(&self, value: f64, count: usize) -> String {
        let step = round_step((self.high - self.low) / count as f64);
        if step >= 1000.0 && value != 0.0 {
            return format!("{}k", value / 1000.0);
        }
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50, .. that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= rough * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new((-1.3, 0.6), (0.0, 190.0));
        let ticks = scale.ticks(4);
        let labels: Vec<_> = ticks.iter().map(|&tick| scale.label(tick, 4)).collect();
        assert_eq!(labels, ["-1.0", "-0.5", "0.0", "0.5"]);
        assert!((scale.at(-1.3) - 0.0).abs() <= 1e-9 && (scale.at(0.6) - 190.0).abs() <= 1e-9);
    }

    #[test]
    fn steps_in_the_thousands_are_short() {
        let scale = Scale::new((0.0, 100_000.0), (0.0, 1.0));
        let labels: Vec<_> = scale.ticks(2).into_iter().map(|tick| scale.label(tick, 2)).collect();
        assert_eq!(labels, ["0", "50k", "100k"]);
    }

    #[test]
    fn one_value_alone_lies_in_the_middle() {
        assert!((Scale::new((3.0, 3.0), (100.0, 0.0)).at(3.0) - 50.0).abs() <= 1e-9);
    }
}
