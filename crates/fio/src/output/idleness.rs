//! The output of `--idle-prof`.

use super::super::command::Profiled;
use super::tree::{Members, Tree, members};

/// How idle the processors were.
#[derive(Debug, Clone, PartialEq)]
pub struct Idleness {
    /// Which part of it is reported.
    pub how: Profiled,
    /// Each processor's number, and its idle time in per cent.
    pub processors: Vec<(usize, f64)>,
    /// Time of a unit of work by which that is known: mean.
    pub unit_us_mean: f64,
    /// Its standard deviation.
    pub unit_us_deviation: f64,
}

impl Idleness {
    fn system(&self) -> f64 {
        let sum: f64 = self.processors.iter().map(|(_, share)| share).sum();
        sum / self.processors.len().max(1) as f64
    }

    /// The idle times in the normal output.
    pub fn normal(&self) -> String {
        let mut text = String::from("CPU idleness:\n");
        if self.how != Profiled::Calibration {
            text.push_str(&format!("  system: {:.2}%\n", self.system()));
        }
        if self.how == Profiled::Each {
            let each = self.processors.iter();
            let shares: Vec<String> = each.map(|(_, share)| format!("{share:.2}%")).collect();
            text.push_str(&format!("  percpu: {}\n", shares.join(", ")));
        }
        text.push_str(&format!(
            "  unit work: mean={:.2}us, stddev={:.2}\n",
            self.unit_us_mean, self.unit_us_deviation
        ));
        text
    }

    pub(super) fn json(&self) -> Members {
        let mut members = members! { "system": self.system() };
        if self.how == Profiled::Each {
            let each = self.processors.iter();
            members.extend(each.map(|(cpu, share)| (format!("cpu-{cpu}"), Tree::from(*share))));
        }
        members.extend(members! {
            "unit_mean": self.unit_us_mean,
            "unit_stddev": self.unit_us_deviation,
        });
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_reported_as_by_fio() {
        let mut idleness = Idleness {
            how: Profiled::Each,
            processors: vec![(0, 4.33), (1, 1.2)],
            unit_us_mean: 16.1,
            unit_us_deviation: 0.24,
        };
        let told = "CPU idleness:\n  system: 2.77%\n  percpu: 4.33%, 1.20%\n  \
                    unit work: mean=16.10us, stddev=0.24\n";
        assert_eq!(idleness.normal(), told);
        let json = Tree::from(idleness.json()).print();
        assert!(json.contains("\"cpu-1\" : 1.200000"), "{json}");
        idleness.how = Profiled::Calibration;
        let told = "CPU idleness:\n  unit work: mean=16.10us, stddev=0.24\n";
        assert_eq!(idleness.normal(), told);
    }
}
