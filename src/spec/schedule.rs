//! The learning rate (paper, section 5.3, equation 3). It is here because a spec that would diverge is refused.

use super::experiment::Experiment;

/// The paper's schedule times a factor: a linear rise over the warm-up, then a fall with the root of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// factor * `d_model`^-0.5
    scale: f64,
    warmup_steps: f64,
}

impl Schedule {
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        Self {
            scale: experiment.training.learning_rate_factor / (experiment.model.d_model as f64).sqrt(),
            warmup_steps: experiment.training.warmup_steps as f64,
        }
    }

    /// Returns the learning rate of an update; the first update is step 1.
    ///
    /// # Panics
    /// At step 0, which has no rate.
    #[must_use]
    pub fn rate(&self, step: usize) -> f64 {
        assert!(step > 0, "updates count from 1");
        let step = step as f64;
        self.scale * step.sqrt().recip().min(step * self.warmup_steps.powf(-1.5))
    }

    /// Returns the highest rate, which is reached at the last step of the warm-up.
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.scale / self.warmup_steps.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Schedule = Schedule {
        scale: 0.044_194_173_824_159_22,
        warmup_steps: 4000.0,
    };

    #[test]
    fn the_paper_peaks_at_seven_ten_thousandths() {
        // python3 -c 'print(512**-0.5 * min(4000**-0.5, 4000 * 4000**-1.5))'
        let peak = 0.000_698_771_242_968_684_3;
        assert!((PAPER.peak() - peak).abs() <= 1e-15);
        assert!((PAPER.rate(4000) - peak).abs() <= 1e-15);
    }

    #[test]
    fn the_rate_rises_linearly_and_falls_with_the_root() {
        assert!((PAPER.rate(2000) - PAPER.peak() / 2.0).abs() <= 1e-15);
        assert!((PAPER.rate(16_000) - PAPER.peak() / 2.0).abs() <= 1e-15);
        assert!(PAPER.rate(3999) < PAPER.peak() && PAPER.rate(4001) < PAPER.peak());
    }
}
