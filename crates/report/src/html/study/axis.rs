//! Scales of the study's charts: from figures to places in a picture of fixed size.

use blocklab_units::si_rate;

/// Size of a picture and of what surrounds its field, in its own units.
pub const WIDTH: f64 = 760.0;
pub const HEIGHT: f64 = 320.0;
pub const LEFT: f64 = 62.0;
pub const RIGHT: f64 = 18.0;
pub const TOP: f64 = 14.0;
pub const BOTTOM: f64 = 44.0;

/// A span of figures on a span of places.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// To the right.
    pub fn across(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        Self::over(values, logarithmic, (LEFT, WIDTH - RIGHT))
    }

    /// Upwards: from zero, unless logarithmic.
    pub fn up(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        Self::over(values, logarithmic, (HEIGHT - BOTTOM, TOP))
    }

    fn over(values: impl Iterator<Item = f64>, logarithmic: bool, (from, to): (f64, f64)) -> Self {
        let sound = |it: &f64| it.is_finite() && (!logarithmic || *it > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(sound) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if !logarithmic {
            low = low.min(0.0);
            high = ceiling(high);
        }
        if high <= low {
            high = if logarithmic { low * 10.0 } else { low + 1.0 };
        }
        Self {
            low,
            high,
            from,
            to,
            logarithmic,
        }
    }

    /// Where a figure stands, to a tenth.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.logarithmic {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        let place = self.from + (self.to - self.from) * share.clamp(0.0, 1.0);
        (place * 10.0).round() / 10.0
    }

    /// Round figures to draw lines at, with their words.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let named = |value: f64| (value, tick(value));
        match self.logarithmic {
            true => self.decades().into_iter().map(named).collect(),
            false => {
                let step = step(self.high - self.low);
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step + 1e-9).floor() as i64;
                (first..=last).map(|it| named(it as f64 * step)).collect()
            }
        }
    }

    /// Powers of ten; with twos and fives between where there are few.
    fn decades(&self) -> Vec<f64> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let wide = last - first > 3;
        let parts: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all =
            (first..=last).flat_map(|power| parts.iter().map(move |it| it * 10f64.powi(power)));
        all.filter(|it| *it >= self.low * 0.999 && *it <= self.high * 1.001)
            .collect()
    }
}

/// Whether figures span so much that small ones would vanish on a plain scale.
pub fn is_wide(values: impl Iterator<Item = f64>) -> bool {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for value in values {
        low = low.min(value);
        high = high.max(value);
    }
    low > 0.0 && high / low >= 16.0
}

fn tick(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        it if it < 1.0 => format!("{value:.2}"),
        it if it < 10.0 && value.fract() != 0.0 => format!("{value:.1}"),
        it if it < 1000.0 => format!("{value:.0}"),
        _ => {
            let text = si_rate(value);
            let (figures, suffix) = text.split_at(text.len() - 1);
            let trimmed = match figures.contains('.') {
                true => figures.trim_end_matches('0').trim_end_matches('.'),
                false => figures,
            };
            format!("{trimmed}{suffix}")
        }
    }
}

/// A round number that divides a span into about five.
fn step(span: f64) -> f64 {
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let parts = [1.0, 2.0, 2.5, 5.0, 10.0];
    let found = parts.into_iter().find(|it| it * power >= rough);
    found.unwrap_or(10.0) * power
}

/// The next round number.
fn ceiling(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let step = step(value);
    (value / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_ticks() {
        let words = |scale: Scale| -> Vec<String> {
            scale.ticks().into_iter().map(|(_, word)| word).collect()
        };
        let plain = Scale::up([0.0, 212_257.0].into_iter(), false);
        assert_eq!(words(plain), ["0", "50k", "100k", "150k", "200k", "250k"]);
        let wide = Scale::across([80.0, 12_800.0].into_iter(), true);
        assert_eq!(words(wide), ["100", "1k", "10k"]);
        assert_eq!(wide.place(80.0), LEFT);
        assert_eq!(wide.place(12_800.0), WIDTH - RIGHT);
        let none = Scale::up(std::iter::empty(), false);
        assert!(none.place(f64::NAN).is_nan() || none.place(3.0).is_finite());
    }
}
