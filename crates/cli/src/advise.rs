//! `blocklab advise`: from a need to the cheapest that carries it.
//!
//! ```text
//!   arguments ──▶ question ──▶ advice, which asks back ──▶ the answer, printed
//!                                 │          ▲
//!                                 ▼          │
//!                              simulated, judged by the gate
//! ```

mod question;
mod simulated;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use blocklab_advice::{Finalist, Market, Need, Simulated, advise as advice};
use blocklab_console::{listen, place, status};
use blocklab_report::{advice as form, views};
use blocklab_runner::{Guard, Setting};
use blocklab_store::Store;

use crate::answer;
use crate::args::AdviseArgs;

/// Finds the cheapest that carries a need, and prints it.
pub fn advise(args: &AdviseArgs, store: &Store) -> Result<ExitCode> {
    let catalog = place::load_catalog()?;
    let question = question::question(args, &catalog)?;
    let market = Market::new(&catalog, &question).map_err(|wrong| anyhow!("{wrong}"))?;
    let setting = Setting {
        store,
        guard: &Guard::default(),
        catalog: &catalog,
        interrupted: &*listen()?,
    };
    let mut judge =
        |finalist: &Finalist, need: &Need| -> std::result::Result<Vec<Simulated>, Stop> {
            if args.no_simulation {
                return Ok(Vec::new());
            }
            let simulated = simulated::simulated(finalist, need, setting).map_err(Stop::Failed)?;
            simulated.ok_or(Stop::Interrupted)
        };
    let answer = match advice(&market, &question, &mut judge) {
        Err(Stop::Interrupted) => return Ok(ExitCode::from(status::INTERRUPTED)),
        Err(Stop::Failed(error)) => return Err(error),
        Ok(answer) => answer,
    };
    answer::print(
        args.form,
        ("advice_format", 1),
        &form::advice(&answer),
        || views::advice(&answer),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Why no answer was given.
enum Stop {
    /// A signal ended a simulation.
    Interrupted,
    /// A simulation could not begin.
    Failed(anyhow::Error),
}
