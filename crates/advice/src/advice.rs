//! From a question to an answer: what is cheapest, what it would be under other terms, what was
//! refused although cheaper, and what more of each need costs.

use std::collections::BTreeMap;

use blocklab_units::Nanos;
use serde::Serialize;

use crate::candidate::Candidate;
use crate::finalist::{Finalist, Simulated, Verdict};
use crate::front::{Point, beside, front};
use crate::impossible::{Impossible, impossible};
use crate::market::Market;
use crate::migration::Migration;
use crate::need::{Need, Wanted};
use crate::question::Question;
use crate::refused::{Reason, Refused, by_machine};
use crate::search::{Found, KEPT};

/// The most volumes of the striped answer, which is shown beside that of one volume.
const STRIPED_VOLUMES: u32 = 8;

/// After failures on this many machines, volumes are taken to be too slow on any.
const FAILURES_ARE_OF_VOLUMES: usize = 2;

/// Under which terms a configuration was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The terms that the question names.
    Cheapest,
    /// One volume.
    WithoutStriping,
    /// Up to eight volumes.
    Striped,
    /// By limits that hold for ever, without burst credits.
    WithoutBurst,
    /// On the machine that the user has.
    OnOwnMachine,
}

/// A configuration, and what its simulations showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Under which terms.
    pub choice: Choice,
    /// The cheapest that meets the need; `None`: nothing does.
    pub finalist: Option<Finalist>,
    /// One for each start; empty: it was not simulated.
    pub simulated: Vec<Simulated>,
    /// Cheaper ones that meet the need by their limits and failed in their simulation.
    pub passed_over: Vec<Refused>,
    /// Why nothing meets the need; `None` where something does.
    pub why_not: Option<String>,
}

/// What a tenth more of a part of the need costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct More {
    /// The part.
    #[serde(rename = "of")]
    pub part: Wanted,
    /// The unit of `needs`: `bytes`, `IOPS`, `bytes/s`, `ns`.
    pub unit: &'static str,
    /// A tenth more of it; of a p99, a tenth less.
    pub needs: f64,
    /// What a month costs in addition; `None`: nothing meets it.
    pub added_per_month: Option<f64>,
    /// What would be bought.
    pub address: Option<String>,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// What was asked.
    pub question: Question,
    /// The cheapest first, then the same under other terms.
    pub chosen: Vec<Chosen>,
    /// Cheaper ones that are not advised, by reason.
    pub refused: Vec<Refused>,
    /// Types of which nothing carries the need, and what their largest lacks.
    pub lacking: Vec<(String, String)>,
    /// Types and machines that carry it and have no price.
    pub unpriced: Vec<String>,
    /// What a tenth more of each part costs.
    pub more: Vec<More>,
    /// Price against latency.
    pub front: Vec<Point>,
    /// Answers under other terms and the next in price that did not fail, where they are not on `front`.
    pub beside: Vec<Point>,
    /// Which part of the need is too much; `None`: something meets it, or nothing meets any need.
    pub impossible: Option<Impossible>,
    /// The neighbours of the cheapest that were simulated too, the next one in price first.
    pub neighbours: Vec<(Finalist, Vec<Simulated>)>,
    /// For a volume in use: what it could become. [`advise`] leaves it to the caller.
    pub migration: Option<Migration>,
}

/// Simulates a finalist and judges its Records: a verdict for each start; none if nothing is to be
/// simulated, and then the limits alone decide.
pub type Judge<'j, E> = dyn FnMut(&Finalist, &Need) -> Result<Vec<Simulated>, E> + 'j;

/// Answers a question.
///
/// # Errors
/// Those of `judge`.
pub fn advise<E>(
    market: &Market<'_>,
    question: &Question,
    judge: &mut Judge<'_, E>,
) -> Result<Advice, E> {
    let found = market.search(question);
    let mut simulations = Simulations {
        market,
        judge,
        known: BTreeMap::new(),
    };
    let best = simulations.choose(Choice::Cheapest, question, &found.ranked)?;
    let price = best.price();
    let mut refused = by_machine(&found, price);
    refused.extend(best.passed_over.iter().cloned());
    refused.extend(relaxed(market, question, price, &found.ranked));
    let neighbours = simulations.neighbours(question, &best, &found.ranked)?;
    let mut chosen = simulations.others(question, &best)?;
    chosen.insert(0, best);
    let (front, more) = if chosen[0].finalist.is_some() {
        (
            front(market, question, price),
            more(market, question, price),
        )
    } else {
        (Vec::new(), Vec::new())
    };
    let under_other_terms = chosen.iter().filter_map(|one| one.finalist.as_ref());
    let carrying = neighbours.iter().filter(|(_, simulated)| {
        let mut verdicts = simulated.iter().map(|one| one.verdict);
        verdicts.all(|verdict| verdict != Verdict::Fails)
    });
    let others = under_other_terms.chain(carrying.map(|(finalist, _)| finalist));
    Ok(Advice {
        beside: beside(&front, others, question),
        more,
        front,
        impossible: (found.ranked.is_empty() && found.unpriced.is_empty())
            .then(|| impossible(market, question))
            .flatten(),
        question: question.clone(),
        chosen,
        refused,
        lacking: found.lacking,
        unpriced: found.unpriced,
        neighbours,
        migration: None,
    })
}

/// Chooses among candidates by simulations, each once: the same candidate is often an answer under
/// several terms.
struct Simulations<'t, 'c, 'j, E> {
    market: &'t Market<'c>,
    judge: &'t mut Judge<'j, E>,
    /// By the addresses that were simulated, one for each start.
    known: BTreeMap<Vec<String>, Vec<Simulated>>,
}

impl<E> Simulations<'_, '_, '_, E> {
    /// Simulates a finalist, or takes the result of an earlier simulation from the same starts.
    fn judged(&mut self, finalist: &Finalist, need: &Need) -> Result<Vec<Simulated>, E> {
        let starts = finalist.starts(need).iter();
        let addresses: Vec<String> = starts.map(|start| finalist.address_at(*start)).collect();
        if let Some(known) = self.known.get(&addresses) {
            return Ok(known.clone());
        }
        let simulated = (self.judge)(finalist, need)?;
        self.known.insert(addresses, simulated.clone());
        Ok(simulated)
    }

    /// Chooses the first of some candidates that does not fail in its simulation.
    fn choose(
        &mut self,
        choice: Choice,
        question: &Question,
        ranked: &[Candidate],
    ) -> Result<Chosen, E> {
        // Each that failed, after the address of its volumes.
        let mut failed: Vec<(String, Refused)> = Vec::new();
        let mut carries = None;
        for candidate in ranked {
            // The same volumes are ranked again with every machine, so they are not simulated on each.
            let volumes = candidate.volumes_alone();
            let same = failed.iter_mut().filter(|(known, _)| *known == volumes);
            let mut same: Vec<&mut Refused> = same.map(|(_, refused)| refused).collect();
            if same.len() >= FAILURES_ARE_OF_VOLUMES
                && let Some(last) = same.last_mut()
            {
                last.count += 1;
                continue;
            }
            // The search judges volumes and machine apart; resolved together, they may fall short.
            let finalist = Finalist::new(candidate.clone(), self.market.catalog, question);
            let Some(finalist) = finalist else {
                continue;
            };
            let simulated = self.judged(&finalist, &question.need)?;
            let failure = simulated.iter().find(|one| one.verdict == Verdict::Fails);
            let Some(failure) = failure else {
                carries = Some((finalist, simulated));
                break;
            };
            let why = failure.why.join("; ");
            failed.push((
                volumes,
                Refused::new(Reason::Simulation { why }, 1, candidate),
            ));
        }
        let (finalist, simulated) = carries.unzip();
        Ok(Chosen {
            choice,
            finalist,
            simulated: simulated.unwrap_or_default(),
            passed_over: failed.into_iter().map(|(_, refused)| refused).collect(),
            why_not: None,
        })
    }

    /// Simulates the two that follow the best in price.
    fn neighbours(
        &mut self,
        question: &Question,
        best: &Chosen,
        ranked: &[Candidate],
    ) -> Result<Vec<(Finalist, Vec<Simulated>)>, E> {
        let Some(winner) = &best.finalist else {
            return Ok(Vec::new());
        };
        let place = ranked.iter().position(|one| *one == winner.candidate);
        let after = ranked.iter().skip(place.map_or(0, |place| place + 1));
        let mut near = Vec::new();
        for candidate in after.take(2) {
            let catalog = self.market.catalog;
            if let Some(one) = Finalist::new(candidate.clone(), catalog, question) {
                let simulated = self.judged(&one, &question.need)?;
                near.push((one, simulated));
            }
        }
        Ok(near)
    }

    /// The answers under other terms, where they differ from the first one.
    fn others(&mut self, question: &Question, best: &Chosen) -> Result<Vec<Chosen>, E> {
        let mut terms = Vec::new();
        if question.need.lasts.is_some() {
            let mut need = question.need;
            need.lasts = None;
            terms.push((Choice::WithoutBurst, question.with_need(need)));
        }
        if *question.volumes.end() > 1 {
            terms.push((Choice::WithoutStriping, question.without_striping()));
        } else {
            let striped = Question {
                volumes: 1..=STRIPED_VOLUMES,
                ..question.clone()
            };
            terms.push((Choice::Striped, striped));
        }
        let mut chosen = Vec::new();
        for (choice, other) in terms {
            let found = self.market.search(&other);
            let answer = self.choose(choice, &other, &found.ranked)?;
            let is_same = answer.address() == best.address();
            // More volumes are worth showing only if they cost less; the other two terms give something
            // in return for a higher price.
            let saves = choice != Choice::Striped || answer.price() < best.price();
            if !is_same && saves {
                chosen.push(answer);
            }
        }
        if let Some(own) = &question.own {
            let found = self.market.search_on(own, question);
            let mut answer = self.choose(Choice::OnOwnMachine, question, &found.ranked)?;
            // Only here is the reason that nothing fits reported: elsewhere another machine is the answer.
            if answer.finalist.is_none() {
                answer.why_not = Some(why_not(&found, &answer.passed_over));
            }
            chosen.push(answer);
        }
        Ok(chosen)
    }
}

/// Why nothing on a machine meets a need: the cheapest that failed in its simulation or is held back by the
/// machine, and all that lacks something.
fn why_not(found: &Found, passed_over: &[Refused]) -> String {
    let failed = passed_over.first().and_then(|one| match &one.reason {
        Reason::Simulation { why } => Some(format!("{}: its simulation: {why}", one.address)),
        _ => None,
    });
    let held = found
        .held
        .first()
        .map(|(held, candidate)| format!("{}: {}", candidate.address(), held.words()));
    let lacking = found
        .lacking
        .iter()
        .map(|(kind, lack)| format!("{kind}: {lack}"));
    let unpriced = found
        .unpriced
        .iter()
        .map(|name| format!("{name}: no price"));
    let refused = failed.into_iter().chain(held);
    let all: Vec<String> = refused.chain(unpriced).chain(lacking).collect();
    all.join("; ")
}

impl Chosen {
    /// A month of the finalist; infinite if there is none, or it has no price.
    pub fn price(&self) -> f64 {
        let finalist = self.finalist.as_ref();
        finalist.map_or(f64::INFINITY, |one| one.candidate.price())
    }

    /// The address of the finalist, if there is one.
    pub fn address(&self) -> Option<String> {
        let finalist = self.finalist.as_ref();
        finalist.map(|one| one.candidate.address())
    }
}

/// What would be cheaper under terms that the question excludes: with burst credits, with disks that
/// are lost at a stop, on machines of a previous generation. What is in `ranked` meets the question as
/// it is.
fn relaxed(
    market: &Market<'_>,
    question: &Question,
    price: f64,
    ranked: &[Candidate],
) -> Vec<Refused> {
    let mut terms = Vec::new();
    if question.need.lasts.is_none() {
        let mut need = question.need;
        // Burst credits count here if full buckets carry the load for ten minutes.
        need.lasts = Some(Nanos::from_secs(600));
        terms.push((Reason::Burst, question.with_need(need)));
    }
    if question.durable && question.machine.is_some() {
        let lost = Question {
            durable: false,
            ..question.clone()
        };
        terms.push((Reason::LostAtStop, lost));
    }
    // With `only` the machine is given, whatever its generation.
    let wanted = question
        .machine
        .as_ref()
        .filter(|_| question.only.is_none());
    if let Some(wanted) = wanted.filter(|wanted| !wanted.previous) {
        let mut wanted = wanted.clone();
        wanted.previous = true;
        let older = Question {
            machine: Some(wanted),
            ..question.clone()
        };
        terms.push((Reason::PreviousGeneration, older));
    }
    // The search kept the `KEPT` cheapest candidates: where none of them is the answer, it has not seen
    // what costs more than the last of them.
    let end = ranked
        .get(KEPT - 1)
        .map_or(price, |last| last.price().min(price));
    let cheaper = terms.into_iter().filter_map(|(reason, other)| {
        // Half a cent less is the same price to the cent.
        let found = market.count_below(&other, end - 0.005, ranked);
        let cheapest = found.ranked.first()?;
        Some(Refused::new(reason, found.priced, cheapest))
    });
    cheaper.collect()
}

/// What a tenth more of each part costs, by limits alone. `price` is that of the answer: what is cheaper
/// failed in its simulation, and does so with more.
fn more(market: &Market<'_>, question: &Question, price: f64) -> Vec<More> {
    let parts = question.need.parts().into_iter();
    let more = parts.map(|part| {
        let factor = if part == Wanted::P99 { 0.9 } else { 1.1 };
        let needs = (question.need.value(part) * factor).round();
        let need = question.need.with_value(part, needs);
        let best = market.cheapest_from(&question.with_need(need), price);
        More {
            part,
            unit: part.unit(),
            needs,
            added_per_month: best.as_ref().map(|best| best.candidate.price() - price),
            address: best.map(|best| best.candidate.address()),
        }
    });
    more.collect()
}
