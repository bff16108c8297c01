//! Lists of on-demand prices, as text keeps them.
use blocklab_workload::Date;

/// The price list of a region on a day, or of several regions, whose prices share a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'t> {
    /// Several are joined with `|`, and so are their prices.
    pub(crate) regions: &'t str,
    pub(crate) date: Date,
    pub(crate) source: &'t str,
    /// `type,linux,windows,surcharge` a line.
    pub(crate) rows: &'t str,
}

impl<'t> List<'t> {
    pub(crate) fn row(&self, instance: &str) -> Option<&'t str> {
        self.rows.lines().find(|line| {
            let rest = line.strip_prefix(instance);
            rest.is_some_and(|rest| rest.starts_with(','))
        })
    }

    /// The place of a region among its regions.
    pub(crate) fn place(&self, region: &str) -> Option<usize> {
        self.regions.split('|').position(|known| known == region)
    }

    /// The price of a system in a row, of the region at this place.
    pub(crate) fn price(row: &str, system: usize, place: usize) -> Option<f64> {
        let cell = row.split(',').nth(1 + system)?;
        cell.split('|').nth(place)?.parse().ok()
    }
}

/// The lists of a text: `@ region|region date source`, then the rows, up to the next `@`.
pub(crate) fn lists(text: &str) -> impl Iterator<Item = List<'_>> {
    // The first piece lies before the first list: comments.
    let pieces = text
        .split("\n@ ")
        .enumerate()
        .filter_map(|(index, piece)| match index {
            0 => piece.strip_prefix("@ "),
            _ => Some(piece),
        });
    pieces.filter_map(|piece| {
        let (head, rows) = piece.split_once('\n').unwrap_or((piece, ""));
        let mut words = head.split(' ');
        let regions = words.next()?;
        let date = words.next()?.parse().ok()?;
        let source = words.next()?;
        Some(List {
            regions,
            date,
            source,
            rows,
        })
    })
}
