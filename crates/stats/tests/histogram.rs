//! The histogram against the plain list of its values.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blocklab_stats::Histogram;
use proptest::prelude::*;

/// Latencies as they come: every magnitude alike, up to a minute.
fn latency() -> impl Strategy<Value = u64> {
    (0u32..36, any::<u64>()).prop_map(|(bits, noise)| (1u64 << bits) | (noise & ((1 << bits) - 1)))
}

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

proptest! {
    #[test]
    fn a_quantile_is_within_its_error_bound(
        mut values in prop::collection::vec(latency(), 1..400),
        q in 0.0f64..=1.0,
    ) {
        let found = histogram(&values).quantile(q) as f64;
        values.sort_unstable();
        let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let exact = values[rank - 1] as f64;
        prop_assert!((found - exact).abs() <= exact * Histogram::ERROR_BOUND, "{found} {exact}");
    }

    #[test]
    fn merging_is_recording_everything(
        one in prop::collection::vec(latency(), 0..100),
        other in prop::collection::vec(latency(), 0..100),
    ) {
        let mut merged = histogram(&one);
        merged.merge(&histogram(&other));
        prop_assert_eq!(&merged, &histogram(&[one.clone(), other.clone()].concat()));
        prop_assert_eq!(merged.count(), (one.len() + other.len()) as u64);
        prop_assert_eq!(merged.since(&histogram(&one)), histogram(&other));
    }

    #[test]
    fn the_hdr_text_loses_nothing(values in prop::collection::vec(latency(), 0..200)) {
        let histogram = histogram(&values);
        prop_assert_eq!(Histogram::from_hdr_base64(&histogram.to_hdr_base64()), Ok(histogram));
    }

    /// A record may come from a damaged disk: an error or other counts, never a panic.
    #[test]
    fn a_damaged_text_is_no_panic(
        values in prop::collection::vec(latency(), 0..50),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = STANDARD.decode(histogram(&values).to_hdr_base64()).unwrap();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(read) = Histogram::from_hdr_base64(&STANDARD.encode(&bytes)) {
            prop_assert!(read.quantile(0.5) <= Histogram::highest(Histogram::BUCKETS - 1));
        }
    }

    #[test]
    fn any_text_is_no_panic(text in "HISTFAAA[A-Za-z0-9+/]{0,60}") {
        let _ = Histogram::from_hdr_base64(&text);
    }
}
