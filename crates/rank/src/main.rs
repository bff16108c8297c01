//! In: the plan of a fleet on the standard input of rank 0; messages of the other ranks.
//! Out: the run of this host, and the messages of rank 0 for the launcher.
//! Never: a measurement, a rule, a format: those are in the crates that `blocklab run` uses.

mod mpi_wire;
mod tools;

use std::env;
use std::process::ExitCode;
use std::time::SystemTime;

use blocklab_console::{clock, terminal};
use blocklab_fleet::{VERSION, collect};

const HELP: &str = "\
The part of one host in `blocklab fleet run`, which starts it on every host. It is no program to be
started by hand: it needs mpirun or srun, and rank 0 reads its plan from standard input.

  blocklab-rank --version      what the launcher looks at before it starts anything
  blocklab-rank [--as NAME]    the name of this host in the plan (default: its host name)
  blocklab-rank --collect RUN  [--store DIR]  prints the run of an earlier launch that is kept here";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let name = match arguments[..] {
        ["--version"] => {
            println!("{VERSION} rank");
            return ExitCode::SUCCESS;
        }
        ["--collect", run] => return exit_code(collect(run, None)),
        ["--collect", run, "--store", store] => return exit_code(collect(run, Some(store.into()))),
        ["--as", name] => name.to_owned(),
        [] => own_name(),
        ["--help"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            println!("{HELP}");
            return ExitCode::from(2);
        }
    };
    exit_code(clock::check(SystemTime::now()).and_then(|()| mpi_wire::play(&name)))
}

/// Prints an error, if there is one, and gives the exit status.
fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    outcome.map_or_else(
        |error| {
            terminal::complain(&error);
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// The name of the node, as a scheduler knows it, else that of the machine.
fn own_name() -> String {
    let of_scheduler = env::var("SLURMD_NODENAME");
    of_scheduler.unwrap_or_else(|_| blocklab_fleet::host_name())
}
