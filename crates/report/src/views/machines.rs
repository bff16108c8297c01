//! In: machines of the catalog. Out: their document.

use blocklab_catalog::Listed;
use blocklab_units::count;

use crate::document::{Column, Document, Part};
use crate::words::facts::trimmed;

/// A row for each machine. `currency`: that of the prices, such as `USD`; `is_foreign`: whether the types
/// are of another vendor than AWS.
pub fn machines(listed: &[Listed], currency: &str, is_foreign: bool) -> Document {
    // Only AWS calls its volumes EBS.
    let ebs = if is_foreign { "" } else { "EBS " };
    let columns = [
        Column::words("TYPE"),
        Column::figure("vCPU"),
        Column::figure("GiB"),
        Column::figure(format!("{ebs}MB/s")),
        Column::figure("UP TO"),
        Column::figure(format!("{ebs}IOPS")),
        Column::figure("UP TO"),
        Column::words("OWN DISKS"),
        Column::figure("READ IOPS"),
        Column::figure("WRITE IOPS"),
        Column::figure(format!("{currency}/h")),
    ];
    Document {
        name: "Instance types".to_owned(),
        parts: vec![Part::table(columns, listed.iter().map(row))],
    }
}

/// A cell for each column: `-` where the catalog knows nothing, empty where a burst rate is no
/// other than the base rate.
fn row(one: &Listed) -> [String; 11] {
    let disks = match one.disk_gb {
        Some(gb) => format!("{} x {} GB", one.disks, count(gb)),
        None => "-".to_owned(),
    };
    [
        one.name.clone(),
        number(one.vcpus.map(f64::from)),
        one.memory_mib
            .map_or_else(|| "-".to_owned(), |mib| trimmed(mib as f64 / 1024.0)),
        one.ebs_base_mb_per_s
            .map_or_else(|| "-".to_owned(), trimmed),
        up_to(one.ebs_base_mb_per_s, one.ebs_max_mb_per_s),
        number(one.ebs_base_iops),
        up_to(one.ebs_base_iops, one.ebs_max_iops),
        disks,
        number(one.disk_read_iops),
        number(one.disk_write_iops),
        one.usd_per_hour
            .map_or_else(|| "-".to_owned(), |usd| format!("{usd:.4}")),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), count)
}

/// The burst rate; empty if the base rate is the same, because that is no burst.
fn up_to(base: Option<f64>, max: Option<f64>) -> String {
    if base == max {
        String::new()
    } else {
        number(max)
    }
}

#[cfg(test)]
mod tests {
    use blocklab_catalog::{Catalog, Filter};
    use blocklab_units::Style;

    use super::*;
    use crate::document::Form;

    #[test]
    fn a_list_of_instance_types() {
        let filter = Filter {
            family: Some("r5d".into()),
            region: "ap-northeast-1".into(),
            ..Filter::default()
        };
        let listed = Catalog::embedded().list(&filter);
        let plain = Form::Text(Style::default());
        let text = machines(&listed[..2], "USD", false).print(plain);
        assert_eq!(
            text,
            "\
TYPE        vCPU  GiB  EBS MB/s  UP TO  EBS IOPS   UP TO  OWN DISKS   READ IOPS  WRITE IOPS   USD/h
r5d.large      2   16     81.25    594     3,600  18,750  1 x 75 GB      30,000      15,000  0.1740
r5d.xlarge     4   32    143.75    594     6,000  18,750  1 x 150 GB     59,000      29,000  0.3480
"
        );
    }
}
