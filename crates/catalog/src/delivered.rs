//! Measured limiters: those that were seen to deliver another rate than their document says.

use blocklab_device::{Cap, Credit, Origin, Rate};
use blocklab_units::count;
use blocklab_workload::Date;

use crate::embedded::DELIVERED;
use crate::table::{Row, Table};

/// Sets the limiters of a volume type, or of an `instance`, to what they were seen to deliver.
pub(crate) fn deliver(owner: &str, as_of: Option<Date>, caps: &mut [Cap], credits: &mut [Credit]) {
    let day = as_of.unwrap_or(Date::MAX);
    for row in Table::embedded(DELIVERED).rows_of(owner) {
        let early = row.get("from").is_some_and(|from: Date| day < from);
        let late = row.get("to").is_some_and(|to: Date| to <= day);
        if early || late {
            continue;
        }
        for cap in caps.iter_mut() {
            if is_of(&row, &cap.name, cap.rate) {
                let factor = measured(&row, cap.rate, &mut cap.origin);
                cap.rate = cap.rate.times(factor);
            }
        }
        for credit in credits.iter_mut() {
            if is_of(&row, &credit.name, credit.burst) {
                let factor = measured(&row, credit.burst, &mut credit.origin);
                credit.baseline = credit.baseline.times(factor);
                credit.burst = credit.burst.times(factor);
                credit.capacity *= factor;
            }
        }
    }
}

/// Whether a row is about a limiter of this name and documented rate.
fn is_of(row: &Row<'_>, name: &str, rate: Rate) -> bool {
    let documented: Option<f64> = row.get("documented");
    row.text("limiter") == name && documented.is_none_or(|value| value == rate.value())
}

/// The factor of a row. Sets `origin` to the measurement, which names the documented rate too.
fn measured(row: &Row<'_>, documented: Rate, origin: &mut Origin) -> f64 {
    let (value, unit) = (count(documented.value()), documented.unit().text());
    let why = row.text("why");
    *origin = Origin::measured(&format!("{why}; {value} {unit} are {origin}"));
    match row.get("factor") {
        Some(factor) => factor,
        None => unreachable!("{why}: no factor"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_limiter_with_a_factor_and_its_cells() {
        for row in Table::embedded(DELIVERED).rows() {
            let factor = row.get::<f64>("factor").expect("a factor");
            assert!((0.5..2.0).contains(&factor), "{factor}");
            assert!(row.text("why").contains("cell"), "{}", row.text("why"));
        }
    }
}
