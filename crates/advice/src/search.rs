//! In: a question and a market. Out: the cheapest configurations that meet the need by their limits, and
//! why others do not.
//!
//! The search is exact. The limits of a machine and those of its volumes act independently, so a pair
//! meets the need if both do; and its price is the sum of both. So the machines are visited in the order
//! of price, and on each the volumes in the order of price, until no pair can be cheaper than those that
//! are kept.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use blocklab_catalog::{Host, HostClass, Hosts, OnMachine, resolve};
use blocklab_workload::Address;

use crate::candidate::{Candidate, per_month};
use crate::finalist::Finalist;
use crate::market::{Held, HostIndex, Market, OfferKey, is_wanted};
use crate::offer::Offered;
use crate::question::Question;

/// How many are kept: the winner, and those that follow if it fails in its simulation.
pub(crate) const KEPT: usize = 24;

/// What a search has found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The cheapest first, all of them with a price.
    pub(crate) ranked: Vec<Candidate>,
    /// Machines whose limits are too low, each with the cheapest volumes that would do on another.
    pub(crate) held: Vec<(Held, Candidate)>,
    /// Types of which nothing meets the need, and what their largest lacks.
    pub(crate) lacking: Vec<(String, String)>,
    /// Types and machines that meet it and have no price.
    pub(crate) unpriced: Vec<String>,
    /// Candidates with a price that were looked at: of [`Market::count_below`] all that there are.
    pub(crate) priced: usize,
}

/// All of volumes that the limits of a machine depend on.
#[derive(Clone, Copy, PartialEq)]
struct Counted<'o> {
    on_machine: &'o OnMachine,
    is_striped: bool,
}

/// What was found out about one machine.
#[derive(Default)]
struct Known<'o> {
    /// Whether its limits are too low, for each way to count volumes.
    held: Vec<(Counted<'o>, Option<Held>)>,
    /// Whether it is among the refused machines already.
    is_refused: bool,
}

impl Market<'_> {
    /// The cheapest that meets a need by its limits, not simulated; `None`: nothing does.
    pub fn cheapest(&self, question: &Question) -> Option<Finalist> {
        self.cheapest_from(question, 0.0)
    }

    /// As [`Market::cheapest`], of what costs at least `price` a month.
    pub(crate) fn cheapest_from(&self, question: &Question, price: f64) -> Option<Finalist> {
        let found = self.walk(question, price..f64::INFINITY, None);
        let mut ranked = found.ranked.into_iter();
        ranked.find_map(|one| Finalist::new(one, self.catalog, question))
    }

    /// The cheapest that meet a need by their limits.
    pub(crate) fn search(&self, question: &Question) -> Found {
        self.walk(question, 0.0..f64::INFINITY, None)
    }

    /// What meets a need on the machine of this name. Wishes for a machine are dropped: the user has this
    /// one.
    pub(crate) fn search_on(&self, name: &str, question: &Question) -> Found {
        let without_wishes = Question {
            machine: Some(Hosts {
                // It may be of a previous generation.
                previous: true,
                ..Hosts::default()
            }),
            ..question.clone()
        };
        self.only(name).search(&without_wishes)
    }

    /// The search among candidates that cost less than `price` a month and are not among `known`. It does
    /// not end with those that are kept, so that all are counted.
    pub(crate) fn count_below(
        &self,
        question: &Question,
        price: f64,
        known: &[Candidate],
    ) -> Found {
        self.walk(question, 0.0..price, Some(known))
    }

    /// Searches the sellers one after the other. `counted_without`: all candidates are counted, but for
    /// these; `None`: the search ends with those that are kept.
    fn walk(
        &self,
        question: &Question,
        prices: Range<f64>,
        counted_without: Option<&[Candidate]>,
    ) -> Found {
        let mut found = Found::default();
        for seller in 0..self.sellers.len() {
            let mut walk = Walk {
                market: self,
                question,
                seller,
                prices: prices.clone(),
                counted_without,
                carrying: Vec::new(),
                found,
            };
            walk.visit_machines();
            found = walk.found;
        }
        found
    }
}

/// The search among the machines of one seller.
struct Walk<'a> {
    market: &'a Market<'a>,
    question: &'a Question,
    seller: usize,
    /// Only candidates of these prices are kept.
    prices: Range<f64>,
    /// As [`Market::walk`] has it.
    counted_without: Option<&'a [Candidate]>,
    /// Types of which something meets the need on some class of machine.
    carrying: Vec<String>,
    found: Found,
}

impl Walk<'_> {
    /// Visits machines in the order of price, until even the cheapest volumes make each more
    /// expensive than what is kept.
    fn visit_machines(&mut self) {
        let Some(wanted) = &self.question.machine else {
            let offered = self.offered(None);
            self.note_types(&offered);
            for one in offered.iter() {
                let seller = &self.market.sellers[self.seller];
                self.take(Candidate::new(one, seller, None, self.question));
            }
            return;
        };
        // Machines of one class run every type of volume alike, so volumes are looked up once for each.
        let mut of_class: BTreeMap<HostClass, Rc<Vec<Offered>>> = BTreeMap::new();
        let hosts = self.market.hosts(self.seller).iter().enumerate();
        for (machine, host) in hosts.filter(|(_, host)| is_wanted(host, wanted)) {
            if !of_class.contains_key(&host.class) {
                let offered = self.offered(Some(&host.class));
                self.note_types(&offered);
                of_class.insert(host.class.clone(), offered);
            }
            let offered = Rc::clone(&of_class[&host.class]);
            match per_month(host, self.question) {
                // The machines that follow cost at least as much.
                Some(price) if price >= self.bound() => break,
                Some(price) => self.visit_volumes(machine, host, price, &offered),
                None => self.note_unpriced(machine, host, &offered),
            }
            if !self.question.durable {
                self.own_disks(host);
            }
        }
    }

    /// The volumes that are sold for machines of a class, each resolved only once.
    fn offered(&self, class: Option<&HostClass>) -> Rc<Vec<Offered>> {
        self.market.offered(OfferKey {
            need: self.question.need,
            volumes: self.question.volumes.clone(),
            seller: self.seller,
            class: class.cloned(),
        })
    }

    /// No pair of this price or above is looked at.
    fn bound(&self) -> f64 {
        let end = self.prices.end;
        match self.found.ranked.get(KEPT - 1) {
            Some(last) if self.counted_without.is_none() => last.price().min(end),
            _ => end,
        }
    }

    /// Takes the volumes that meet the need on a machine, the cheapest first. `machine` is the index
    /// of the host in the market, `host_price` what it costs a month.
    fn visit_volumes(&mut self, machine: usize, host: &Host, host_price: f64, offered: &[Offered]) {
        let mut known = Known::default();
        for one in offered {
            // Offers are ranked by price, and those without one come last.
            let Some(price) = one.per_month() else {
                break;
            };
            if host_price + price >= self.bound() {
                break;
            }
            let held = self.holds_back(machine, one, &mut known);
            // A machine is refused once, with the cheapest volumes.
            if held.is_some() && known.is_refused {
                continue;
            }
            let seller = &self.market.sellers[self.seller];
            let candidate = Candidate::new(one, seller, Some(host), self.question);
            match held {
                None => self.take(candidate),
                Some(held) => {
                    known.is_refused = true;
                    let candidate = candidate.map(|candidate| (held, candidate));
                    self.found.held.extend(candidate);
                }
            }
        }
    }

    /// Why the machine does not let these volumes meet the need; `None`: it does.
    fn holds_back<'o>(
        &self,
        machine: usize,
        offered: &'o Offered,
        known: &mut Known<'o>,
    ) -> Option<Held> {
        let host = &self.market.hosts(self.seller)[machine];
        if host.attachments.is_some_and(|most| offered.volumes > most) {
            return Some(Held::Attachments);
        }
        // Apart from the number of attachments, the answer depends on the key alone.
        let key = Counted {
            on_machine: &offered.on_machine,
            is_striped: offered.volumes > 1,
        };
        if let Some((_, held)) = known.held.iter().find(|(other, _)| *other == key) {
            return held.clone();
        }
        let place = HostIndex {
            seller: self.seller,
            host: machine,
        };
        let held = self.market.holds_back(place, offered, &self.question.need);
        known.held.push((key, held.clone()));
        held
    }

    /// Inserts a candidate in the order of prices, and drops the dearest beyond [`KEPT`].
    fn take(&mut self, candidate: Option<Candidate>) {
        // The price of what has none is infinite, so it is dropped here.
        let priced = candidate.filter(|one| self.prices.contains(&one.price()));
        let Some(candidate) = priced else {
            return;
        };
        if self
            .counted_without
            .is_some_and(|known| known.contains(&candidate))
        {
            return;
        }
        self.found.priced += 1;
        let ranked = &mut self.found.ranked;
        let place = ranked.partition_point(|known| by_price(known, &candidate).is_le());
        ranked.insert(place, candidate);
        ranked.truncate(KEPT);
    }

    /// Notes types of which nothing meets the need, and those without a price, once each.
    fn note_types(&mut self, offered: &[Offered]) {
        for one in offered {
            match &one.found {
                Ok(fitting) => {
                    push_new(&mut self.carrying, &one.kind);
                    if fitting.per_month.is_none() {
                        push_new(&mut self.found.unpriced, &one.kind);
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
        // What lacks something on one class of machines may meet the need on another.
        let carrying = &self.carrying;
        self.found
            .lacking
            .retain(|(kind, _)| !carrying.contains(kind));
    }

    /// Notes a machine without a price if the need is met on it.
    fn note_unpriced(&mut self, machine: usize, host: &Host, offered: &[Offered]) {
        let mut known = Known::default();
        let carries = offered
            .iter()
            .filter(|one| one.found.is_ok())
            .any(|one| self.holds_back(machine, one, &mut known).is_none());
        if carries {
            push_new(&mut self.found.unpriced, &host.name);
        }
    }

    /// Takes the disks that come with a machine if they are large and fast enough.
    fn own_disks(&mut self, host: &Host) {
        let need = &self.question.need;
        let Some((disks, each)) = host.disks else {
            return;
        };
        // Size and price are cheap to check, and exclude most machines before their disks are resolved.
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

fn push_new(names: &mut Vec<String>, name: &str) {
    if names.iter().all(|known| known != name) {
        names.push(name.to_owned());
    }
}

/// The order of candidates: the cheapest first, of the same price the fewest volumes, of the same number
/// by their addresses, so that the order is the same every time.
pub(crate) fn by_price(a: &Candidate, b: &Candidate) -> Ordering {
    // Prices are equal when they round to the same hundredth of a cent.
    let [price, other] = [a, b].map(|candidate| (candidate.price() * 1e4).round());
    price
        .total_cmp(&other)
        .then(a.volumes.cmp(&b.volumes))
        .then_with(|| a.address().cmp(&b.address()))
}
