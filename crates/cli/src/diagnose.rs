//! `blocklab diagnose`: what limited a run, and whether it got what was bought.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use blocklab_catalog::unit_price::{Bought, Priced, price as priced};
use blocklab_catalog::{Catalog, Resolved, resolve_text};
use blocklab_compare::expect::{Expectation, diagnose_each as judge};
use blocklab_compare::gate::{Evidence, Gate, LoadCondition, answer};
use blocklab_findings::{assess, best_output};
use blocklab_record::{Record, TargetFacts};
use blocklab_report::document::Form;
use blocklab_report::junit::Answered;
use blocklab_report::{json, views};
use blocklab_store::Store;
use blocklab_units::plural;
use blocklab_workload::Address;

use crate::answer::check_streams;
use crate::catalog::unusable;
use crate::chosen;
use crate::gate::{self as gate_args, GateCommand};
use blocklab_args::{DiagnoseArgs, Output};
use blocklab_console::terminal;
use blocklab_results::gate;
use blocklab_results::output::{self, Over};
use blocklab_store::each;

/// Diagnoses runs, and prints the result.
pub fn diagnose(args: &DiagnoseArgs, store: &Store) -> Result<ExitCode> {
    let is_page_printed = args.form.output() == Output::Document(Form::Html);
    if (args.html.is_some() || is_page_printed) && args.runs.len() > 1 {
        bail!(
            "an HTML page is about one run, and you named {}: run the command once for each",
            args.runs.len()
        );
    }
    check_streams(args.html.as_deref(), args.form)?;
    let command = if args.expect.is_empty() {
        GateCommand::Diagnose
    } else {
        GateCommand::DiagnoseExpected
    };
    let conditions = gate_args::conditions(&args.gate, command)?;
    let catalog = blocklab_console::place::load_catalog()?;
    let judged = each(&args.runs, |run| -> Result<_> {
        let record = chosen::record(run, store)?;
        let (page, gate) = diagnose_run(args, &conditions, &record, &catalog)?;
        Ok((page, (record, gate)))
    });
    let (mut pages, mut gates) = (Vec::new(), Vec::new());
    for judged in judged {
        let (page, gate) = judged?;
        pages.push(page);
        gates.push(gate);
    }
    let answers = gates.iter().filter_map(|(_, gate)| gate.as_ref());
    let worst = answers.max_by_key(|gate| gate.answer);
    if args.html.as_deref() == Some(Path::new("-")) {
        gate::print_aside(worst, &[])
    } else {
        terminal::print_styled(match (&pages[..], args.form.output() == Output::Json) {
            ([only], _) => only.clone(),
            (_, true) => format!("[{}]\n", pages.join(",")),
            (_, false) => pages.join("\n"),
        })?
    }
    let answered = gates.iter().filter_map(|(record, gate)| {
        let runs = vec![record];
        gate.as_ref().map(|gate| Answered { runs, gate })
    });
    let answered: Vec<Answered<'_>> = answered.collect();
    if !answered.is_empty() {
        let over = Over::forced(args.force);
        gate::write(args.gate.junit.as_deref(), &answered, over)?;
    }
    Ok(gate::status(worst, args.gate.strict).into())
}

/// The diagnosis of one run as text or JSON, and its gate. Its page is written.
fn diagnose_run(
    args: &DiagnoseArgs,
    conditions: &[LoadCondition],
    record: &Record,
    catalog: &Catalog,
) -> Result<(String, Option<Gate>)> {
    gate::check_cases(conditions, &[record])?;
    let addresses = addresses(&args.expect, &record.id, &record.targets)?;
    let found = addresses.iter().map(|text| find(text, record, catalog));
    let bought = found.collect::<Result<Vec<_>>>()?;
    let hosts: Vec<_> = bought.iter().map(|(resolved, _)| host(resolved)).collect();
    // For each volume, the indices of all volumes on the same machine.
    let mut together: Vec<Vec<usize>> = Vec::new();
    for host in &hosts {
        let all = (0..hosts.len()).filter(|other| host.is_some() && hosts[*other] == *host);
        together.push(all.collect());
    }
    let several = bought.len() > 1;
    let volumes = bought.iter().zip(&together).enumerate();
    let expectations = volumes.map(|(place, ((resolved, priced), together))| Expectation {
        resolved,
        catalog,
        // A price is that of one volume for all that the run delivered.
        priced: (!several).then_some(priced),
        target: several.then_some(place),
        together: if several { together } else { &[] },
    });
    let mut diagnosis = judge(record, &expectations.collect::<Vec<_>>());
    // One address for all targets is shown once, as the user wrote it.
    if let (Some(compared), [_], [address, ..]) =
        (&mut diagnosis.expected, &*args.expect, &*addresses)
    {
        compared.address.clone_from(address);
    }
    if let Some(path) = &args.html {
        let page = blocklab_page::diagnosis(record, &diagnosis);
        output::write(path, page, Over::forced(args.force))?;
    }
    let evidence = Evidence {
        runs: &[(record, &diagnosis.assessment.findings)],
        compared: diagnosis.expected.as_ref(),
        ..Evidence::default()
    };
    let gate = answer(conditions, evidence);
    let text = match args.form.output() {
        Output::Json => json::diagnosis(record, &diagnosis, gate.as_ref()),
        Output::Document(Form::Html) => {
            gate::print_aside(gate.as_ref(), &[]);
            blocklab_page::diagnosis(record, &diagnosis)
        }
        Output::Document(form) => {
            let words = views::diagnosis(record, &diagnosis).print(form);
            let file = args.html.as_ref();
            let page = file.map(|path| format!("\nReport  {}\n", path.display()));
            words + &page.unwrap_or_default() + &gate::words(gate.as_ref(), &[], form)
        }
    };
    Ok((text, gate))
}

/// The address of each target of a run in their order; none if none is given. A single address applies
/// to all targets.
fn addresses(given: &[String], run: &str, targets: &[TargetFacts]) -> Result<Vec<String>> {
    let named: Vec<_> = given
        .iter()
        .filter_map(|text| of_target(text, targets))
        .collect();
    let (times, several) = (plural(given.len(), "time"), plural(targets.len(), "target"));
    if named.is_empty() {
        return match given {
            [one] => Ok(vec![one.clone(); targets.len().max(1)]),
            many if many.is_empty() || many.len() == targets.len() => Ok(many.to_vec()),
            _ => bail!(
                "--expect is given {times}, and run {run} has {several}: give one address for all \
                 targets, or one for each in their order"
            ),
        };
    }
    let mut addresses = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let Some((_, own)) = named.iter().find(|(known, _)| *known == place) else {
            bail!(
                "no --expect {0}=ADDRESS is given for the target {0}",
                target.path
            );
        };
        addresses.push((*own).to_owned());
    }
    if given.len() > targets.len() {
        bail!(
            "--expect is given {times}, and run {run} has {several}: give TARGET=ADDRESS once for each"
        );
    }
    Ok(addresses)
}

/// The index of the target, and the address, of `TARGET=ADDRESS`; `None` for an address alone.
fn of_target<'t>(text: &'t str, targets: &[TargetFacts]) -> Option<(usize, &'t str)> {
    targets.iter().enumerate().find_map(|(place, target)| {
        let names = [Some(&target.path), target.address.as_ref()];
        let address = names
            .into_iter()
            .flatten()
            .find_map(|name| text.strip_prefix(name.as_str())?.strip_prefix('='));
        Some((place, address?))
    })
}

/// The machine of a volume: its type, and its name if there are several.
fn host(resolved: &Resolved) -> Option<(String, Option<String>)> {
    match &resolved.address {
        Address::Sold(offer) => Some((offer.instance.clone()?, offer.host.clone())),
        Address::File(_) => None,
    }
}

/// The device of an address, and what the run has cost on it.
fn find(text: &str, record: &Record, catalog: &Catalog) -> Result<(Resolved, Priced)> {
    let resolved = resolve_text(text, catalog).map_err(unusable)?;
    let origin = record.origin.name();
    let output = best_output(&assess(record).rows, origin);
    let bought = Bought::find(text, None, catalog).map_err(unusable)?;
    let priced = priced(text, &[bought], Some(&output));
    Ok((resolved, priced))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of `--expect gp3:1TiB --expect /dev/sdb=gp2:1TiB` the first, and of two addresses of one
    /// target the second, was not looked at.
    #[test]
    fn each_address_is_that_of_a_target() {
        let targets = ["/dev/sda", "/dev/sdb"].map(|path| TargetFacts {
            path: path.to_owned(),
            ..TargetFacts::default()
        });
        let given = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            addresses(&texts, "k3f", &targets).map_err(|error| error.to_string())
        };
        let each = ["/dev/sdb=gp2:1TiB", "/dev/sda=gp3:1TiB"];
        assert_eq!(given(&each), Ok(vec!["gp3:1TiB".into(), "gp2:1TiB".into()]));
        for one_more in ["st1:1TiB", "/dev/sda=st1:1TiB"] {
            let told = given(&[each[0], each[1], one_more]).expect_err(one_more);
            assert!(
                told.contains("3 times") && told.contains("TARGET=ADDRESS"),
                "{told}"
            );
        }
    }
}
