//! In: a table. Out: the bytes of a Parquet file with typed columns.
//!
//! A file of its own: nothing else knows the encoder.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Cell, Column, Table};

/// The Parquet encoder refused.
#[derive(Debug, thiserror::Error)]
#[error("the Parquet file cannot be made: {0}")]
pub struct ParquetError(#[from] parquet::errors::ParquetError);

/// One row group: a Record has thousands of rows, not millions.
pub(super) fn encode(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema(table)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut index = 0;
    while let Some(mut column) = group.next_column()? {
        write(&mut column, table, index)?;
        column.close()?;
        index += 1;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let fields = table.columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("blocklab").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}

/// Every column may be empty: a job that failed at once has no latency.
fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.like {
        Cell::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cell::Count(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Cell::Figure(_) => (Physical::DOUBLE, None),
        Cell::Flag(_) => (Physical::BOOLEAN, None),
        Cell::Moment(_) => (
            Physical::INT64,
            Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
        ),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    Ok(Arc::new(field.build()?))
}

/// Writes the cells of the column at `index`, which all have the type of its `like`.
fn write(
    column: &mut SerializedColumnWriter<'_>,
    table: &Table,
    index: usize,
) -> Result<(), ParquetError> {
    let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[index]).collect();
    match table.columns[index].like {
        Cell::Text(_) => values::<ByteArrayType>(column, &cells, |cell| match cell {
            Cell::Text(text) => text.as_deref().map(ByteArray::from),
            _ => None,
        }),
        // Parquet keeps unsigned numbers in the bits of signed ones.
        Cell::Count(_) => values::<Int64Type>(column, &cells, |cell| match cell {
            Cell::Count(count) => count.map(u64::cast_signed),
            _ => None,
        }),
        Cell::Figure(_) => values::<DoubleType>(column, &cells, |cell| match cell {
            Cell::Figure(figure) => *figure,
            _ => None,
        }),
        Cell::Flag(_) => values::<BoolType>(column, &cells, |cell| match cell {
            Cell::Flag(flag) => *flag,
            _ => None,
        }),
        Cell::Moment(_) => values::<Int64Type>(column, &cells, |cell| match cell {
            Cell::Moment(moment) => moment.map(|moment| moment.as_microsecond()),
            _ => None,
        }),
    }
}

/// Definition level 1: there is a value; 0: there is none.
fn values<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: &[&Cell],
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let all: Vec<Option<T::T>> = cells.iter().map(|cell| value(cell)).collect();
    let levels: Vec<i16> = all.iter().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = all.into_iter().flatten().collect();
    let writer = column.typed::<T>();
    writer.write_batch(&values, Some(&levels), None)?;
    Ok(())
}
