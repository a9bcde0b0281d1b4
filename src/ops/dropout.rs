//! Dropout masks from a counter, not from a stream: bit `i` of a mask is a function of (key, i) alone, so the mask is
//! the same on every device, for every number of threads, and after a resume, and nothing has to be stored.

/// The mask of one dropout site in one pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    rate: f32,
    key: [u32; 2],
    /// Elements of the site before the first of this activation, which may be a share of a larger one.
    first: u32,
}

impl Dropout {
    /// Lets everything through.
    pub const OFF: Self = Self {
        rate: 0.0,
        key: [0; 2],
        first: 0,
    };

    /// # Panics
    /// If `rate` is not in `[0, 1)`.
    #[must_use]
    pub fn new(rate: f32, key: u64) -> Self {
        assert!((0.0..1.0).contains(&rate), "dropout rate {rate} is not in [0, 1)");
        let key = mix64(key);
        Self {
            rate,
            key: [key as u32, (key >> 32) as u32],
            first: 0,
        }
    }

    /// The same mask from element `first` on.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        Self {
            first: first as u32,
            ..self
        }
    }

    #[must_use]
    #[inline]
    pub fn is_off(&self) -> bool {
        self.rate == 0.0
    }

    /// `0` or `1 / (1 - rate)`: the factor on element `index` of the activation.
    #[must_use]
    #[inline]
    pub fn factor(&self, index: u32) -> f32 {
        if self.bits(index) < self.threshold() {
            0.0
        } else {
            self.kept()
        }
    }

    /// Writes the factors of the elements from `first` on.
    #[inline]
    pub fn factors(&self, first: u32, factors: &mut [f32]) {
        for (offset, factor) in factors.iter_mut().enumerate() {
            *factor = self.factor(first.wrapping_add(offset as u32));
        }
    }

    /// The factor on what is not dropped.
    #[inline]
    pub(super) fn kept(&self) -> f32 {
        1.0 / (1.0 - self.rate)
    }

    /// An element is dropped when its 32 random bits, read as a fraction of 2^32, lie below the rate.
    #[inline]
    pub(super) fn threshold(&self) -> u32 {
        (f64::from(self.rate) * 2f64.powi(32)) as u32
    }

    #[cfg(feature = "cuda")]
    pub(super) fn key(&self) -> [u32; 2] {
        self.key
    }

    #[cfg(feature = "cuda")]
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Two rounds of a 32-bit avalanche, a half of the key before each: wide enough to pass the tests below, narrow
    /// enough that a vector unit does sixteen at once.
    #[inline]
    fn bits(&self, index: u32) -> u32 {
        mix32(mix32(index.wrapping_add(self.first) ^ self.key[0]).wrapping_add(self.key[1]))
    }
}

/// Hands every dropout site of a pass its own key, in the order in which the model asks. What is done share by share
/// has the mask that it would have as a whole.
#[derive(Debug, Clone)]
pub struct DropoutStream {
    rate: f32,
    key: u64,
    site: u64,
    row: usize,
}

impl DropoutStream {
    /// `key` names the pass: seed, step and micro-batch.
    #[must_use]
    pub fn new(rate: f32, key: u64) -> Self {
        Self {
            rate,
            key: mix64(mix64(key)),
            site: 0,
            row: 0,
        }
    }

    /// For evaluation: every site lets everything through.
    #[must_use]
    pub fn off() -> Self {
        Self::new(0.0, 0)
    }

    /// The activations of the sites from here on begin with row `row` of the whole pass.
    pub fn at_row(&mut self, row: usize) {
        self.row = row;
    }

    /// The next site, of rows of `width` numbers.
    pub fn next_site(&mut self, width: usize) -> Dropout {
        self.site += 1;
        Dropout::new(self.rate, self.key.wrapping_add(self.site)).from(self.row * width)
    }
}

/// The finaliser of splitmix64.
fn mix64(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A 32-bit avalanche with low bias (constants from C. Wellons' search for integer hashes).
#[inline]
fn mix32(value: u32) -> u32 {
    let value = (value ^ (value >> 16)).wrapping_mul(0x21f0_aaad);
    let value = (value ^ (value >> 15)).wrapping_mul(0xd35a_2d97);
    value ^ (value >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 1 << 20;

    /// Standard deviations between a count of successes and its expectation.
    fn z(count: usize, n: usize, p: f64) -> f64 {
        (count as f64 - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt()
    }

    #[test]
    fn the_share_of_dropped_elements_is_the_rate() {
        for rate in [0.05, 0.1, 0.3, 0.5, 0.9] {
            for key in 0..8 {
                let dropout = Dropout::new(rate, key);
                let dropped = (0..N).filter(|&i| dropout.factor(i) == 0.0).count();
                let z = z(dropped, N as usize, f64::from(rate));
                assert!(z.abs() < 4.5, "rate {rate}, key {key}: {z} standard deviations");
            }
        }
    }

    #[test]
    fn neighbours_and_neighbouring_keys_are_independent() {
        let rate = 0.3;
        let is_dropped = |key: u64, i: u32| Dropout::new(rate, key).factor(i) == 0.0;
        for lag in [1, 2, 16, 64, 512] {
            let both = (0..N).filter(|&i| is_dropped(7, i) && is_dropped(7, i + lag)).count();
            let z = z(both, N as usize, f64::from(rate * rate));
            // Pairs that overlap are correlated, which widens the spread by less than half.
            assert!(z.abs() < 6.5, "lag {lag}: {z} standard deviations");
        }
        for step in 1..6 {
            let both = (0..N).filter(|&i| is_dropped(7, i) && is_dropped(7 + step, i)).count();
            assert!(z(both, N as usize, f64::from(rate * rate)).abs() < 4.5, "key + {step}");
        }
    }

    #[test]
    fn the_mean_factor_is_one() {
        let dropout = Dropout::new(0.1, 3);
        let mean = (0..N).map(|i| f64::from(dropout.factor(i))).sum::<f64>() / f64::from(N);
        assert!((mean - 1.0).abs() <= 2e-3, "{mean}");
    }

    #[test]
    fn sites_of_one_pass_differ_and_the_same_pass_repeats() {
        let masks = |key| {
            let mut stream = DropoutStream::new(0.5, key);
            [(); 3].map(|()| {
                let site = stream.next_site(4);
                (0..256).map(|i| site.factor(i).to_bits()).collect::<Vec<_>>()
            })
        };
        let [first, second, third] = masks(1);
        assert!(first != second && second != third && first != third);
        assert_eq!([first, second, third], masks(1));
        assert!(masks(1).iter().all(|mask| !masks(2).contains(mask)), "passes differ");
    }

    #[test]
    fn a_share_has_the_mask_of_its_rows() {
        let mask = |row| {
            let mut stream = DropoutStream::new(0.5, 1);
            stream.at_row(row);
            let site = stream.next_site(10);
            (0..200).map(move |i| site.factor(i).to_bits())
        };
        assert!(mask(0).skip(70).eq(mask(7).take(130)));
    }

    #[test]
    fn a_rate_of_zero_keeps_everything_as_it_is() {
        assert!((0..1000).all(|i| (Dropout::new(0.0, 5).factor(i) - 1.0).abs() <= 0.0));
    }
}
