//! In: a Record of several hosts. Out: the row of each host by itself.

use blocklab_record::{HostMachine, Measurement, Record};
use blocklab_workload::Aggregate;

use crate::Row;
use crate::rows::row;

/// What one host did in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// The host.
    pub host: String,
    /// Its figures, made as those of all hosts together are.
    pub row: Row,
}

/// A row for each host that took part in a case, in the order of the fleet; none where the run is of
/// one host.
pub fn host_rows(record: &Record, case: &str) -> Vec<HostRow> {
    let Some(fleet) = &record.fleet else {
        return Vec::new();
    };
    let aggregate = Aggregate::named(&record.requested.aggregate);
    // A pass 0 was run before the others and enters no figure.
    let passes = record
        .measurements
        .iter()
        .filter(|one| one.case == case && one.pass > 0);
    let passes: Vec<&Measurement> = passes.collect();
    let rows = fleet.hosts.iter().filter_map(|host| {
        let own: Vec<Measurement> = passes
            .iter()
            .map(|pass| pass_of_host(pass, &host.name))
            .filter(|pass| !pass.jobs.is_empty())
            .collect();
        let own: Vec<&Measurement> = own.iter().collect();
        (!own.is_empty()).then(|| HostRow {
            host: host.name.clone(),
            row: row(&own, aggregate).row,
        })
    });
    rows.collect()
}

/// The run of one host by itself, as far as the run of all keeps it: its jobs, its targets and what its
/// machine did. The seconds of a pass are not kept host by host.
pub(crate) fn run_of_host(record: &Record, host: &str) -> Option<Record> {
    let fleet = record.fleet.as_ref()?;
    let place = fleet.hosts.iter().position(|known| known.name == host)?;
    // The targets of a fleet carry their host before the path.
    let prefix = format!("{host}:");
    let targets = record.targets.iter().filter_map(|target| {
        let path = target.path.strip_prefix(&prefix)?.to_owned();
        Some(blocklab_record::TargetFacts {
            path,
            ..target.clone()
        })
    });
    let measurements = record.measurements.iter().filter_map(|pass| {
        let mut machines = fleet
            .passes
            .iter()
            .filter(|hosts| hosts.case == pass.case && hosts.pass == pass.pass)
            .flat_map(|hosts| &hosts.machines);
        let machine = machines.find(|machine| machine.host as usize == place);
        let own = with_machine(pass_of_host(pass, host), machine);
        (!own.jobs.is_empty()).then_some(own)
    });
    Some(Record {
        targets: targets.collect(),
        measurements: measurements.collect(),
        environment: fleet.hosts[place].environment.clone(),
        status: fleet.hosts[place].status,
        failure: None,
        fleet: None,
        ..record.clone()
    })
}

/// A pass of a fleet with what one of its machines observed; `None` for a machine without figures.
fn with_machine(pass: Measurement, machine: Option<&HostMachine>) -> Measurement {
    let Some(machine) = machine else {
        return pass;
    };
    Measurement {
        cpu: machine.cpu,
        disks: machine.disks.clone(),
        throttled_ns: machine.throttled_ns,
        model: machine.model.clone(),
        ..pass
    }
}

/// A pass with the jobs of one host.
fn pass_of_host(pass: &Measurement, host: &str) -> Measurement {
    let jobs = pass
        .jobs
        .iter()
        .filter(|job| job.host.as_deref() == Some(host));
    Measurement {
        case: pass.case.clone(),
        settings: pass.settings.clone(),
        pass: pass.pass,
        elapsed_ns: pass.elapsed_ns,
        jobs: jobs.cloned().collect(),
        ..Measurement::default()
    }
}
