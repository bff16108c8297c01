//! Arguments of `blocklab fleet`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use blocklab_units::Nanos;
use clap::{Args, Subcommand, ValueHint};

use super::{RunArgs, at_least_one};

const FLEET_EXAMPLES: &str = "\
Examples:
  blocklab fleet run quick --hosts h1,h2,h3 --target /data
  blocklab fleet run study.toml --hostfile rack.txt --target /data --name rack
  blocklab fleet run --rw randread --hosts h1,h2 --target h1:/dev/nvme1n1 --target h2:/dev/nvme2n1 --read-only
  blocklab fleet run --rw randwrite --hosts h1,h2 --target /dev/sdb --destroy-data h1:sdb --destroy-data h2:sdb
  blocklab fleet run quick --hosts h1,h2,h3,h4 --target /mnt/shared --host-counts 1,2,4
                                                  one host, then two, then four: the scaling curve
  salloc --nodes 4 blocklab fleet run quick --slurm --target /scratch
  blocklab fleet run --rw randread --hosts localhost,localhost --target sim:gp3

Every host needs the program blocklab-rank of the same version, and Open MPI; mpirun reaches the \
hosts by ssh, or by what OMPI_MCA_plm_rsh_agent names. A host that refuses its target, cannot be reached or has \
another version ends it before a byte is written. Exit status 3: hosts were lost; what the others \
measured is kept.";

const EXAMPLES: &str = "\
Examples:
  blocklab fleet run quick --hosts h1,h2,h3 --target /data
  blocklab fleet run quick --hosts h1,h2,h3,h4 --target /mnt/shared --host-counts 1,2,4";

/// `blocklab fleet`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// One verb.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Run a study on several hosts at once, and merge what they measured
    Run(Box<FleetRunArgs>),
}

/// `blocklab fleet run`. What makes no sense on several hosts is hidden here and refused.
#[derive(Debug, Args)]
#[command(after_help = FLEET_EXAMPLES)]
#[command(mut_args(super::fleet::hidden))]
pub struct FleetRunArgs {
    /// Hosts by name, each once for every share of the load
    #[arg(long, value_name = "HOST", value_delimiter = ',', required_unless_present_any = ["hostfile", "slurm"])]
    pub hosts: Vec<String>,
    /// A file with a host on every line; what follows its name is ignored, and so is what follows `#`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["hosts", "slurm"])]
    pub hostfile: Option<PathBuf>,
    /// The nodes of this allocation of Slurm, started by srun
    #[arg(long, conflicts_with = "hosts")]
    pub slurm: bool,
    /// Go on without hosts that cannot be reached, while so many are left (default: all)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub min_hosts: Option<NonZeroU32>,
    /// Run on the first N hosts, for each of these numbers, and show how the rate grows
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = at_least_one)]
    pub host_counts: Vec<NonZeroU32>,
    /// The longest time in which hosts open and lay out their targets
    #[arg(long, value_name = "TIME", default_value = "10min")]
    pub prepare_within: Nanos,
    /// The rank program on every host (default: beside this program, else in the PATH)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub rank_program: Option<String>,
    /// The load, its targets, and how the result is printed
    #[command(flatten)]
    pub run: RunArgs,
}

/// Hides an option of `run` in the help of `fleet run` if a fleet does not take it. It is still parsed,
/// so that the error can say why.
pub(super) fn hidden(arg: clap::Arg) -> clap::Arg {
    let is_refused = REFUSED
        .iter()
        .any(|refused| refused.id == arg.get_id().as_str());
    arg.hide(is_refused)
}

/// An option of `run` that a fleet does not take.
pub struct Refused {
    /// The name of its field.
    pub id: &'static str,
    /// Why a fleet does not take it.
    pub why: &'static str,
    /// Whether the user gave it.
    pub is_given: fn(&RunArgs) -> bool,
}

/// The options of `run` that a fleet does not take.
pub const REFUSED: [Refused; 8] = [
    Refused {
        id: "system",
        why: "the systems of a study run one after the other",
        is_given: |run| !run.system.is_empty(),
    },
    Refused {
        id: "with_run",
        why: "the systems of a study run one after the other",
        is_given: |run| !run.with_run.is_empty(),
    },
    Refused {
        id: "fresh",
        why: "only studies of several systems are continued",
        is_given: |run| run.fresh,
    },
    Refused {
        id: "repeat_until",
        why: "each host would decide for itself how many passes it needs",
        is_given: |run| run.repeat_until.is_some(),
    },
    Refused {
        id: "start_at",
        why: "all hosts begin when the last one is ready",
        is_given: |run| run.start_at.is_some(),
    },
    Refused {
        id: "list",
        why: "`blocklab run --list` lists studies",
        is_given: |run| run.list,
    },
    Refused {
        id: "example",
        why: "`blocklab run --example` prints one",
        is_given: |run| run.example.is_some(),
    },
    Refused {
        id: "json_lines",
        why: "`--json` prints the result",
        is_given: |run| run.json_lines,
    },
];
