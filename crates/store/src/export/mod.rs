//! A Record as a table for spreadsheets and databases.
//!
//! Column names run quantity, unit, statistic. Both tables begin with the same columns, which
//! identify the run; the axes of a sweep follow at the end as `setting_NAME`.

mod columns;
mod parquet;
mod table;

use blocklab_record::Record;

pub use self::parquet::ParquetError;

/// What one row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A measurement, job and direction, with all its figures. A job that completed nothing has
    /// one row without a direction, so that a failure is not lost.
    Figures,
    /// A slice of a measurement, all jobs together.
    Series,
}

/// Comma-separated values by RFC 4180, with one line of column names. A figure that was not
/// measured is an empty field.
///
/// # Panics
/// Never: memory takes every byte, and all rows have the width of the head.
pub fn csv(record: &Record, rows: Rows) -> String {
    let table = columns::table(record, rows);
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let head = table.columns.iter().map(|column| column.name.as_str());
    writer.write_record(head).expect("memory takes every byte");
    for row in &table.rows {
        let fields = row.iter().map(table::text);
        writer.write_record(fields).expect("rows are complete");
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    String::from_utf8(bytes).expect("the fields are text")
}

/// The same columns with their types, as one Parquet file, uncompressed.
///
/// # Errors
/// [`ParquetError`], when the encoder refuses.
pub fn parquet(record: &Record, rows: Rows) -> Result<Vec<u8>, ParquetError> {
    self::parquet::encode(&columns::table(record, rows))
}
