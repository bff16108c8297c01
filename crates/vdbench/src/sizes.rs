//! Sizes of operations.

use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, SizeDraw, SizeMix};

use super::defs::Xfersize;

/// More sizes than this are drawn coarser.
const MOST: u64 = 1024;

/// What is drawn, how, and what is not exact about it.
pub(super) fn sizes(asked: &Xfersize) -> (BlockSizes, SizeDraw, Option<&'static str>) {
    let both = |mix: SizeMix| BlockSizes {
        read: mix.clone(),
        write: mix.clone(),
        trim: mix,
    };
    match asked {
        Xfersize::Fixed(size) => (BlockSizes::fixed(Bytes(*size)), SizeDraw::Listed, None),
        Xfersize::Mix(mix) => {
            let weight = |share: f64| (share * 1000.0).round() as u32;
            let listed = mix
                .iter()
                .map(|(size, share)| (Bytes(*size), weight(*share)));
            let listed = listed.filter(|(_, weight)| *weight > 0).collect();
            (both(SizeMix(listed)), SizeDraw::Listed, None)
        }
        Xfersize::Between(min, max, align) => {
            let first = min.next_multiple_of(*align);
            let count = (max - first.min(*max)) / align + 1;
            let step = align * count.div_ceil(MOST);
            let listed = (0..)
                .map(|n| first + n * step)
                .take_while(|size| size <= max);
            let listed: Vec<(Bytes, u32)> = listed.map(|size| (Bytes(size), 1)).collect();
            let note = (count > MOST).then_some("of so many sizes, every so many-th is used");
            match listed.is_empty() {
                true => (BlockSizes::fixed(Bytes(*max)), SizeDraw::Listed, note),
                false => (both(SizeMix(listed)), SizeDraw::Listed, note),
            }
        }
    }
}
