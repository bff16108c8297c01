//! From a question to an answer: what is cheapest, what it would be under other terms, what was
//! refused although cheaper, and what more of each need costs.

use std::collections::BTreeMap;

use blocklab_units::Nanos;
use serde::Serialize;

use crate::candidate::Candidate;
use crate::finalist::{Finalist, Simulated, Verdict};
use crate::front::{Point, beside, front};
use crate::impossible::{Impossible, impossible, named, parts, unit, value, with};
use crate::market::Market;
use crate::migration::Migration;
use crate::need::{Need, Wanted};
use crate::question::Question;
use crate::refused::{Reason, Refused, by_machine};
use crate::search::Found;

/// Volumes side by side of the answer that stands beside that of one volume.
const BESIDE: u32 = 8;

/// So many machines show that it is the volumes that do not carry a need.
const TWICE: usize = 2;

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
    /// For ever, and not as long as credits last.
    WithoutBurst,
    /// On the machine that the user has.
    OnOwnMachine,
}

/// A configuration, and what its simulations showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Under which terms.
    pub choice: Choice,
    /// The cheapest that carries the need; `None`: nothing does.
    pub finalist: Option<Finalist>,
    /// One for each start; empty: it was not simulated.
    pub simulated: Vec<Simulated>,
    /// Cheaper ones that their simulation did not bear out.
    pub passed_over: Vec<Refused>,
    /// What stands in its way where nothing carries the need.
    pub why_not: Option<String>,
}

/// What a tenth more of a part of the need costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct More {
    /// `iops`; of a p99, a tenth less.
    pub of: &'static str,
    /// `bytes`, `IOPS`, `bytes/s`, `ns`.
    pub unit: &'static str,
    /// A tenth more of it.
    pub needs: f64,
    /// What the month costs more; `None`: nothing carries it.
    pub added_per_month: Option<f64>,
    /// What would be bought.
    pub address: Option<String>,
}

/// The answer.
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
    /// Answers under other terms and the next in price, where they are not on it.
    pub beside: Vec<Point>,
    /// Where nothing carries the need.
    pub impossible: Option<Impossible>,
    /// The neighbours of the cheapest that were simulated too, the next one in price first.
    pub neighbours: Vec<(Finalist, Vec<Simulated>)>,
    /// Where a volume in use was named: what it could become.
    pub migration: Option<Migration>,
}

/// Simulates a finalist and judges its Records; nothing where it is not to be simulated.
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
    let mut table = Table {
        market,
        judge,
        known: BTreeMap::new(),
    };
    let best = table.settle(Choice::Cheapest, question, &found.ranked)?;
    let price = best.price();
    let mut refused = by_machine(&found, price);
    refused.extend(best.passed_over.iter().cloned());
    refused.extend(relaxed(market, question, price));
    let neighbours = table.neighbours(question, &best, &found.ranked)?;
    let mut chosen = table.others(question, &best)?;
    chosen.insert(0, best);
    let carries = chosen[0].finalist.is_some();
    let front = if carries {
        front(market, question)
    } else {
        Vec::new()
    };
    let under_other_terms = chosen.iter().filter_map(|one| one.finalist.as_ref());
    let others = under_other_terms.chain(neighbours.iter().map(|(finalist, _)| finalist));
    Ok(Advice {
        beside: beside(&front, others, question),
        more: if carries {
            more(market, question, price)
        } else {
            Vec::new()
        },
        front,
        impossible: (found.ranked.is_empty() && found.unpriced.is_empty())
            .then(|| impossible(market, question)),
        question: question.clone(),
        chosen,
        refused,
        lacking: found.lacking,
        unpriced: found.unpriced,
        neighbours,
        migration: None,
    })
}

/// Finalists are simulated here, each address once.
struct Table<'t, 'c, 'j, E> {
    market: &'t Market<'c>,
    judge: &'t mut Judge<'j, E>,
    known: BTreeMap<String, Vec<Simulated>>,
}

impl<E> Table<'_, '_, '_, E> {
    fn judged(&mut self, finalist: &Finalist, need: &Need) -> Result<Vec<Simulated>, E> {
        let address = finalist.candidate.address();
        if let Some(known) = self.known.get(&address) {
            return Ok(known.clone());
        }
        let simulated = (self.judge)(finalist, need)?;
        self.known.insert(address, simulated.clone());
        Ok(simulated)
    }

    /// The first of some candidates whose simulation carries the need.
    fn settle(
        &mut self,
        choice: Choice,
        question: &Question,
        ranked: &[Candidate],
    ) -> Result<Chosen, E> {
        let mut passed_over: Vec<Refused> = Vec::new();
        let mut failed_volumes: Vec<String> = Vec::new();
        for candidate in ranked {
            let catalog = self.market.catalog;
            // What failed on two machines fails by itself.
            let same = candidate.volumes_alone();
            let times = failed_volumes
                .iter()
                .filter(|known| **known == same)
                .count();
            if let Some(last) = passed_over.last_mut().filter(|_| times >= TWICE) {
                last.count += 1;
                continue;
            }
            let Some(finalist) = Finalist::new(candidate.clone(), catalog, question) else {
                continue;
            };
            let simulated = self.judged(&finalist, &question.need)?;
            let failed = simulated.iter().find(|one| one.verdict == Verdict::Fails);
            let Some(failed) = failed else {
                return Ok(Chosen {
                    choice,
                    finalist: Some(finalist),
                    simulated,
                    passed_over,
                    why_not: None,
                });
            };
            let why = failed.why.join("; ");
            failed_volumes.push(same);
            passed_over.push(Refused::new(Reason::Simulation { why }, 1, candidate));
        }
        Ok(Chosen {
            choice,
            finalist: None,
            simulated: Vec::new(),
            passed_over,
            why_not: None,
        })
    }

    /// The two that follow the best in price.
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
                volumes: 1..=BESIDE,
                ..question.clone()
            };
            terms.push((Choice::Striped, striped));
        }
        let mut chosen = Vec::new();
        for (choice, other) in terms {
            let found = self.market.search(&other);
            let settled = self.settle(choice, &other, &found.ranked)?;
            let is_same = settled.address() == best.address();
            let saves = choice != Choice::Striped || settled.price() < best.price();
            if !is_same && saves {
                chosen.push(settled);
            }
        }
        if let Some(own) = &question.own {
            let found = self.market.search_on(own, question);
            let mut settled = self.settle(Choice::OnOwnMachine, question, &found.ranked)?;
            if settled.finalist.is_none() {
                settled.why_not = Some(why_not(&found));
            }
            chosen.push(settled);
        }
        Ok(chosen)
    }
}

/// Why nothing on a machine carries a need.
fn why_not(found: &Found) -> String {
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
    let all: Vec<String> = held.into_iter().chain(unpriced).chain(lacking).collect();
    all.join("; ")
}

impl Chosen {
    /// What it costs; infinite where there is none.
    pub fn price(&self) -> f64 {
        let finalist = self.finalist.as_ref();
        finalist.map_or(f64::INFINITY, |one| one.candidate.price())
    }

    /// The address of it, where there is one.
    pub fn address(&self) -> Option<String> {
        let finalist = self.finalist.as_ref();
        finalist.map(|one| one.candidate.address())
    }
}

/// Cheaper offers under other terms than those of the question.
fn relaxed(market: &Market<'_>, question: &Question, price: f64) -> Vec<Refused> {
    let mut terms = Vec::new();
    if question.need.lasts.is_none() {
        let mut need = question.need;
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
    let cheaper = terms.into_iter().filter_map(|(reason, other)| {
        let is_lost = reason == Reason::LostAtStop;
        let found = market
            .search_below(&other, price - 0.005)
            .ranked
            .into_iter();
        let mut cheaper = found.filter(|one| !is_lost || one.is_lost_at_stop);
        let cheapest = cheaper.next()?;
        Some(Refused::new(reason, 1 + cheaper.count(), &cheapest))
    });
    cheaper.collect()
}

/// A tenth more of each part.
fn more(market: &Market<'_>, question: &Question, price: f64) -> Vec<More> {
    let parts = parts(&question.need).into_iter();
    let more = parts.map(|part| {
        let factor = if part == Wanted::P99 { 0.9 } else { 1.1 };
        let needs = (value(&question.need, part) * factor).round();
        let need = with(&question.need, part, needs);
        let best = market.cheapest(&question.with_need(need));
        More {
            of: named(part),
            unit: unit(part),
            needs,
            added_per_month: best.as_ref().map(|best| best.candidate.price() - price),
            address: best.map(|best| best.candidate.address()),
        }
    });
    more.collect()
}
