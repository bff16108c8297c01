//! In: a question and a market. Out: the cheapest configurations that carry the need by their limits,
//! and why others do not.
//!
//! The search is exact. A machine and its volumes hold a load back each by itself, so a pair carries
//! it where both do; and its price is a sum. So the machines are walked along by price, and on each
//! its volumes by price, until a pair cannot be cheaper than those that were found already.

use std::collections::BTreeMap;
use std::rc::Rc;

use blocklab_catalog::{Host, HostClass, Hosts, resolve};
use blocklab_device::Accounting;
use blocklab_workload::Address;

use crate::candidate::{Candidate, per_month};
use crate::finalist::Finalist;
use crate::market::{Asked, Held, Market, is_wanted};
use crate::offer::Offered;
use crate::question::Question;

/// How many are kept: the winner, and those that follow where its simulation does not carry the need.
const KEPT: usize = 24;

/// What a search has found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The cheapest first, all of them with a price.
    pub(crate) ranked: Vec<Candidate>,
    /// Machines that do not carry it, each with the cheapest that would be bought with it.
    pub(crate) held: Vec<(Held, Candidate)>,
    /// Types of which nothing carries it, and what their largest lacks.
    pub(crate) lacking: Vec<(String, String)>,
    /// Types and machines that carry it and have no price.
    pub(crate) unpriced: Vec<String>,
}

/// How a machine counts volumes: their group and accounting, and whether they are striped.
type Counted<'o> = (&'o (String, Accounting), bool);

/// What is known of a machine already.
struct Known<'o> {
    /// Whether it holds back, by all on which that depends.
    held: Vec<(Counted<'o>, Option<Held>)>,
    /// That it does is noted.
    is_told: bool,
}

impl Known<'_> {
    const fn new() -> Self {
        Self {
            held: Vec::new(),
            is_told: false,
        }
    }
}

impl Market<'_> {
    /// The cheapest that carries a need by its limits, not simulated; `None`: nothing does.
    pub fn cheapest(&self, question: &Question) -> Option<Finalist> {
        let mut ranked = self.search(question).ranked.into_iter();
        ranked.find_map(|one| Finalist::new(one, self.catalog, question))
    }

    /// The cheapest that carry a need by their limits.
    pub(crate) fn search(&self, question: &Question) -> Found {
        self.search_below(question, f64::INFINITY)
    }

    /// What carries a need on one machine, whatever else was asked of machines.
    pub(crate) fn search_on(&self, name: &str, question: &Question) -> Found {
        let only = self.only(name);
        let named = Question {
            machine: Some(Hosts {
                previous: true,
                ..Hosts::default()
            }),
            ..question.clone()
        };
        only.search(&named)
    }

    /// The search among candidates that cost less than a price.
    pub(crate) fn search_below(&self, question: &Question, below: f64) -> Found {
        let mut found = Found::default();
        for seller in 0..self.sellers.len() {
            let mut walk = Walk {
                market: self,
                question,
                seller,
                below,
                carrying: Vec::new(),
                found,
            };
            walk.along();
            found = walk.found;
        }
        found
    }
}

/// A walk along the machines of a seller.
struct Walk<'a> {
    market: &'a Market<'a>,
    question: &'a Question,
    seller: usize,
    /// What costs as much is not looked for.
    below: f64,
    /// Types of which something carries the need on some machine.
    carrying: Vec<String>,
    found: Found,
}

impl Walk<'_> {
    fn along(&mut self) {
        let Some(wanted) = &self.question.machine else {
            let offered = self.offered(None);
            self.note_types(&offered);
            for one in offered.iter() {
                let seller = &self.market.sellers[self.seller];
                self.take(Candidate::new(one, seller, None, self.question));
            }
            return;
        };
        let mut of_class: BTreeMap<HostClass, Rc<Vec<Offered>>> = BTreeMap::new();
        let hosts = self.market.hosts(self.seller).iter().enumerate();
        for (place, host) in hosts.filter(|(_, host)| is_wanted(host, wanted)) {
            if !of_class.contains_key(&host.class) {
                let offered = self.offered(Some(&host.class));
                self.note_types(&offered);
                of_class.insert(host.class.clone(), offered);
            }
            let offered = Rc::clone(&of_class[&host.class]);
            match per_month(host, self.question) {
                Some(month) if month >= self.bound() => break,
                Some(month) => self.on_host(place, host, month, &offered),
                None => self.without_price(place, host, &offered),
            }
            if !self.question.durable {
                self.own_disks(host);
            }
        }
    }

    fn offered(&self, class: Option<&HostClass>) -> Rc<Vec<Offered>> {
        self.market.offered(Asked {
            need: self.question.need,
            volumes: self.question.volumes.clone(),
            seller: self.seller,
            class: class.cloned(),
        })
    }

    /// No pair of this price or above is kept.
    fn bound(&self) -> f64 {
        let last = self.found.ranked.get(KEPT - 1);
        last.map_or(self.below, |last| last.price().min(self.below))
    }

    fn on_host(&mut self, place: usize, host: &Host, month: f64, offered: &[Offered]) {
        let mut known = Known::new();
        for one in offered {
            // Those without a price follow all others.
            let Some(volumes) = one.per_month() else {
                break;
            };
            if month + volumes >= self.bound() {
                break;
            }
            let held = self.holds_back(place, one, &mut known);
            // The cheapest of a machine stands for all that it holds back.
            if held.is_some() && known.is_told {
                continue;
            }
            let seller = &self.market.sellers[self.seller];
            let candidate = Candidate::new(one, seller, Some(host), self.question);
            match held {
                None => self.take(candidate),
                Some(held) => {
                    known.is_told = true;
                    let candidate = candidate.map(|candidate| (held, candidate));
                    self.found.held.extend(candidate);
                }
            }
        }
    }

    fn holds_back<'o>(
        &self,
        place: usize,
        offered: &'o Offered,
        known: &mut Known<'o>,
    ) -> Option<Held> {
        let host = &self.market.hosts(self.seller)[place];
        if host.attachments.is_some_and(|most| offered.volumes > most) {
            return Some(Held::Attachments);
        }
        let key = (&offered.on_machine, offered.volumes > 1);
        if let Some((_, held)) = known.held.iter().find(|(other, _)| *other == key) {
            return held.clone();
        }
        let held = self
            .market
            .holds_back((self.seller, place), offered, &self.question.need);
        known.held.push((key, held.clone()));
        held
    }

    /// Keeps a candidate in the order of prices.
    fn take(&mut self, candidate: Option<Candidate>) {
        // What has no price is infinitely dear.
        let Some(candidate) = candidate.filter(|one| one.price() < self.below) else {
            return;
        };
        let ranked = &mut self.found.ranked;
        let place = ranked.partition_point(|known| !is_before(&candidate, known));
        ranked.insert(place, candidate);
        ranked.truncate(KEPT);
    }

    /// Types of which nothing carries the need, and those without a price, once each.
    fn note_types(&mut self, offered: &[Offered]) {
        for one in offered {
            match &one.found {
                Ok(fitting) => {
                    note(&mut self.carrying, &one.kind);
                    if fitting.per_month.is_none() {
                        note(&mut self.found.unpriced, &one.kind);
                    }
                }
                Err(lack) => {
                    let known = self.found.lacking.iter().any(|(kind, _)| *kind == one.kind);
                    if !known {
                        self.found.lacking.push((one.kind.clone(), lack.clone()));
                    }
                }
            }
        }
        let carrying = &self.carrying;
        self.found
            .lacking
            .retain(|(kind, _)| !carrying.contains(kind));
    }

    fn without_price(&mut self, place: usize, host: &Host, offered: &[Offered]) {
        let mut known = Known::new();
        let carries = offered
            .iter()
            .filter(|one| one.found.is_ok())
            .any(|one| self.holds_back(place, one, &mut known).is_none());
        if carries {
            note(&mut self.found.unpriced, &host.name);
        }
    }

    /// The disks that come with a machine, where they are large and fast enough.
    fn own_disks(&mut self, host: &Host) {
        let need = &self.question.need;
        let Some((disks, each)) = host.disks else {
            return;
        };
        let is_large = u64::from(disks) * each.0 >= need.capacity.0;
        let candidate = Candidate::local(host, &self.market.sellers[self.seller], self.question);
        if !is_large || candidate.price() >= self.bound() {
            return;
        }
        let address = Address::Sold(candidate.offer.clone());
        let Ok(resolved) = resolve(&address, self.market.catalog) else {
            return;
        };
        if need.lacks(&resolved.spec).is_none() {
            self.take(Some(candidate));
        }
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if names.iter().all(|known| known != name) {
        names.push(name.to_owned());
    }
}

/// The cheaper one first; of equals the one with fewer volumes, then by name, so that the order is the
/// same every time.
fn is_before(a: &Candidate, b: &Candidate) -> bool {
    // Prices are equal when they round to the same hundredth of a cent.
    let [price, other] = [a, b].map(|candidate| (candidate.price() * 1e4).round());
    price
        .total_cmp(&other)
        .then(a.volumes.cmp(&b.volumes))
        .then_with(|| a.address().cmp(&b.address()))
        .is_lt()
}
