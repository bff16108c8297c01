//! Lists of on-demand prices, as text keeps them.
use blocklab_workload::Date;

/// The price list of one region on one day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'t> {
    pub(crate) region: &'t str,
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
}

/// The lists of a text: `@ region date source`, then the rows, up to the next `@`.
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
        let region = words.next()?;
        let date = words.next()?.parse().ok()?;
        let source = words.next()?;
        Some(List {
            region,
            date,
            source,
            rows,
        })
    })
}
