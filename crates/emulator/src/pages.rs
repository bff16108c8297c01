//! A page: the unit of memory and of the undo log.

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// Bytes of a group of pages, which one lock guards.
pub(crate) const GROUP: u64 = 1 << 20;

/// Pages of a group.
pub(crate) const PAGES_PER_GROUP: usize = GROUP as usize / PAGE;

/// The bytes of a page.
pub(crate) type Page = [u8; PAGE];

/// A page that was never written.
pub(crate) const ZERO_PAGE: Page = [0; PAGE];

/// A page on the heap.
pub(crate) fn new_page(bytes: &Page) -> Box<Page> {
    Box::new(*bytes)
}

/// Begin and length of the pieces of a range, none of which crosses a multiple of `unit`.
pub(crate) fn pieces(offset: u64, len: u64, unit: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = offset + len;
    let mut at = offset;
    std::iter::from_fn(move || {
        let piece = (unit - at % unit).min(end - at);
        let found = (piece > 0).then_some((at, piece));
        at += piece;
        found
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_end_where_units_do() {
        let cut = |offset, len| pieces(offset, len, 100).collect::<Vec<_>>();
        assert_eq!(cut(0, 100), [(0, 100)]);
        assert_eq!(cut(90, 120), [(90, 10), (100, 100), (200, 10)]);
        assert_eq!(cut(105, 3), [(105, 3)]);
        assert!(cut(100, 0).is_empty());
    }
}
