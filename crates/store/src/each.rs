//! In: many runs, and what is to be made of one. Out: that of each, made on all processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::{self};

/// What `work` makes of each item, in their order: on all processors.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    // A thread costs more than a few items.
    let share = items.len().div_ceil(processors).max(8);
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<R>>()))
            .collect();
        let mut results = Vec::with_capacity(items.len());
        for thread in threads {
            results.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn the_order_is_kept() {
        for number in [0, 1, 7, 8, 9, 100, 1001] {
            let items: Vec<u32> = (0..number).collect();
            let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
            assert_eq!(each(&items, |item| item * 2), doubled);
        }
    }
}
