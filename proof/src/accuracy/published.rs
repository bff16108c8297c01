use std::fmt;

/// A published study: what was measured, on what, and how near the model must come.
#[derive(Debug)]
pub struct Study {
    /// Its name; that of its files in `proof/data/published`.
    pub name: &'static str,
    /// Tool, place, date.
    pub what: &'static str,
    /// The load, in the native format.
    pub text: &'static str,
    /// The figures: case, system, unit, value.
    pub figures: &'static str,
    /// What it was run on.
    pub systems: &'static [System],
    /// Largest median and 90th percentile of the absolute relative errors, in per cent.
    pub bars: (f64, f64),
}

/// One of the systems of a study.
#[derive(Debug)]
pub struct System {
    /// As the figures call it.
    pub name: &'static str,
    /// What it is to the model.
    pub address: &'static str,
    /// Why the address is not what the author wrote, where it is not.
    pub because: &'static str,
}

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("../../data/published/", $name))
    };
}

const fn system(name: &'static str, address: &'static str) -> System {
    System {
        name,
        address,
        because: "",
    }
}

/// All of them.
pub const STUDIES: [Study; 3] = [
    Study {
        name: "i3-vs-i2",
        what: "fio 2.1.5 on ext4, Tokyo, published 2017-02-27, means of five runs",
        text: data!("i3-vs-i2.toml"),
        figures: data!("i3-vs-i2.csv"),
        systems: &[
            system("i2.xlarge", "local,as-of=2017-02-27@i2.xlarge"),
            system("i3.xlarge", "local,as-of=2017-02-27@i3.xlarge"),
        ],
        bars: (5.0, 20.0),
    },
    Study {
        name: "r5d-vs-gp3",
        what: "DiskSpd on Windows, published after December 2020",
        text: data!("r5d-vs-gp3.toml"),
        figures: data!("r5d-vs-gp3.csv"),
        systems: &[
            system("local NVMe", "local,as-of=2021-01-01@r5d.xlarge"),
            System {
                name: "gp3 6000/125",
                address: "gp3:150GiB,iops=3000,throughput=125,as-of=2021-01-01@r5d.xlarge",
                because: "bought as 6,000 IOPS, and the setting was not in effect: in no row \
                          was there more than 2 % above gp3's 3,000",
            },
            system(
                "gp3 16000/1000",
                "gp3:150GiB,iops=16000,throughput=1000,as-of=2021-01-01@r5d.xlarge",
            ),
        ],
        bars: (1.0, 10.0),
    },
    Study {
        name: "im4gn",
        what: "fio 2.14 on xfs, published 2021-12-01, one run",
        text: data!("im4gn.toml"),
        figures: data!("im4gn.csv"),
        systems: &[system("im4gn.large", "local,as-of=2021-12-01@im4gn.large")],
        bars: (1.0, 1.0),
    },
];

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Operations a second.
    Iops,
    /// 2^20 bytes a second.
    MibPerS,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iops => "IOPS",
            Self::MibPerS => "MiB/s",
        })
    }
}

/// One published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Case of the study.
    pub case: String,
    /// System of the study.
    pub system: String,
    /// What is counted.
    pub unit: Unit,
    /// The figure.
    pub published: f64,
}

impl Study {
    /// Every measured figure, in the order of its file.
    ///
    /// # Panics
    /// When a line is none: the file is part of this package.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let lines = self.figures.lines().filter(|line| !line.starts_with('#'));
        let mut lines = lines.filter(|line| !line.is_empty());
        assert_eq!(lines.next(), Some("case,system,unit,published"));
        let cell = |line: &str| {
            let fields: Vec<_> = line.split(',').collect();
            let [case, system, unit, published] = fields[..] else {
                panic!("{}: four fields, not `{line}`", self.name);
            };
            let unit = match unit {
                "IOPS" => Unit::Iops,
                "MiB/s" => Unit::MibPerS,
                _ => panic!("{}: no unit in `{line}`", self.name),
            };
            Cell {
                case: case.to_owned(),
                system: system.to_owned(),
                unit,
                published: published.parse().expect("a number"),
            }
        };
        lines.map(cell).collect()
    }
}
