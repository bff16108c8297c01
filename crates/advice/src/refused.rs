//! What is cheaper than the answer and not advised: counted by reason, with the cheapest of each.

use serde::Serialize;

use crate::candidate::Candidate;
use crate::market::Held;
use crate::search::Found;

/// Why something cheaper is not the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// A limit of the machine is too low.
    Machine {
        /// `EBS IOPS`.
        limit: String,
    },
    /// Fewer volumes can be attached to the machine.
    Attachments,
    /// No document gives the limits of the machine for volumes.
    Undocumented,
    /// It meets the need only as long as burst credits last.
    Burst,
    /// Its disks are lost when the machine stops.
    LostAtStop,
    /// The machine is of a previous generation.
    PreviousGeneration,
    /// It did not meet the need in its simulation.
    Simulation {
        /// What was missed, with figures.
        why: String,
    },
}

/// Configurations that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refused {
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
    /// How many: machines if the reason is theirs, else configurations.
    pub count: usize,
    /// The cheapest of them.
    pub address: String,
    /// What it would cost a month.
    pub per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
}

impl Refused {
    pub(crate) fn new(reason: Reason, count: usize, cheapest: &Candidate) -> Self {
        Self {
            reason,
            count,
            address: cheapest.address(),
            per_month: cheapest.per_month,
            currency: cheapest.currency,
        }
    }
}

/// Machines that are refused although they would be cheaper than `price`, by their limits.
pub(crate) fn by_machine(found: &Found, price: f64) -> Vec<Refused> {
    let mut all: Vec<(Reason, Vec<&Candidate>)> = Vec::new();
    let cheaper = found.held.iter().filter(|(_, one)| one.price() < price);
    for (held, candidate) in cheaper {
        let reason = match held {
            Held::Limit(limit) => Reason::Machine {
                limit: limit.clone(),
            },
            Held::Attachments => Reason::Attachments,
            Held::Undocumented => Reason::Undocumented,
        };
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, same)) => same.push(candidate),
            None => all.push((reason, vec![candidate])),
        }
    }
    let refused = all.into_iter().filter_map(|(reason, same)| {
        let cheapest = same.iter().min_by(|a, b| a.price().total_cmp(&b.price()))?;
        Some(Refused::new(reason, same.len(), cheapest))
    });
    let mut refused: Vec<Refused> = refused.collect();
    refused.sort_by_key(|one| std::cmp::Reverse(one.count));
    refused
}
