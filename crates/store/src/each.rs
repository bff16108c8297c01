//! In: items and a function of one. Out: its result for each, computed on all processors.

use std::num::NonZero;
use std::thread;

/// The result of `work` for each item, in their order: on all processors, as far as the system gives
/// threads.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    // A thread costs more than a few items.
    let share = items.len().div_ceil(processors).max(8);
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let work = &work;
        for (items, results) in items.chunks(share).zip(results.chunks_mut(share)) {
            // Where the system refuses a thread, its share stays empty.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                for (item, result) in items.iter().zip(results) {
                    *result = Some(work(item));
                }
            });
        }
    });
    let results = items.iter().zip(results);
    results
        .map(|(item, result)| result.unwrap_or_else(|| work(item)))
        .collect()
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
