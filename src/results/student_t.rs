//! Student's t distribution. Degrees of freedom are whole numbers here, so it is an exact finite sum.

use std::f64::consts::FRAC_2_PI;

/// Returns the probability that |T| exceeds |`t`|, for T with `degrees` degrees of freedom: the two-sided p-value of `t`.
///
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
pub(super) fn two_sided_p(t: f64, degrees: usize) -> f64 {
    let angle = (t.abs() / (degrees as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let within = match degrees {
        1 => FRAC_2_PI * angle,
        _ if degrees.is_multiple_of(2) => sin * series(cos, 2, degrees),
        _ => FRAC_2_PI * (angle + sin * cos * series(cos, 3, degrees)),
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// 1 + c^2 (k-1)/k + c^4 (k-1)/k (k+1)/(k+2) + .. with k from `first` to `degrees` - 2 in steps of two.
fn series(cos: f64, first: usize, degrees: usize) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in (first..degrees - 1).step_by(2) {
        term *= cos * cos * (k - 1) as f64 / k as f64;
        sum += term;
    }
    sum
}

/// Returns the value that |T| exceeds with probability `p`, found by bisection.
pub(super) fn two_sided_quantile(p: f64, degrees: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_p(high, degrees) > p {
        high *= 2.0;
    }
    // Each step gains a bit; a double has 53.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if two_sided_p(middle, degrees) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (degrees, `t.ppf(0.975, degrees)`, `2 * t.sf(2.5, degrees)`) of `scipy.stats`, scipy 1.17.1.
    const KNOWN: [(usize, f64, f64); 6] = [
        (1, 12.706_204_736_174_694, 0.242_237_883_181_686_82),
        (2, 4.302_652_729_749_462, 0.129_611_720_221_510_82),
        (3, 3.182_446_305_283_707_8, 0.087_706_647_008_065_56),
        (4, 2.776_445_105_197_793_4, 0.066_766_544_811_988_14),
        (9, 2.262_157_162_798_205, 0.033_861_827_682_985_735),
        (30, 2.042_272_456_301_237_8, 0.018_115_649_068_066_69),
    ];

    #[test]
    fn quantiles_and_p_values_are_those_of_scipy() {
        for (degrees, quantile, p) in KNOWN {
            let (ours, ours_p) = (two_sided_quantile(0.05, degrees), two_sided_p(-2.5, degrees));
            assert!(
                (ours / quantile - 1.0).abs() <= 1e-12,
                "{degrees}: {ours}, expected {quantile}"
            );
            assert!((ours_p - p).abs() <= 1e-14, "{degrees}: {ours_p}, expected {p}");
        }
    }

    #[test]
    fn nothing_exceeds_infinity_and_everything_exceeds_zero() {
        for degrees in 1..10 {
            assert!(two_sided_p(f64::INFINITY, degrees).abs() <= 1e-15);
            assert!((two_sided_p(0.0, degrees) - 1.0).abs() <= 1e-15);
        }
    }
}
