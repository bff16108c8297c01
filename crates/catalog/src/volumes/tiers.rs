//! In: a volume that is sold in sizes. Out: the limits of its size, with the burst that comes with
//! it or is switched on.
//!
//! Azure's managed disks, in our words (managed-disks-bursting-2.md, 2025-01-14): two buckets, of
//! operations and of bytes, full at the start and independent; what is not used of the target is
//! earned, what is used above it is spent, and a full bucket lasts 30 minutes at the maximum. Hence
//! capacity = (burst - target) x 1,800 s, which no page states.

use blocklab_device::{Credit, Rate};
use blocklab_workload::address::Part;

use super::{Terms, bytes_at};
use crate::cost::Above;
use crate::draft::Draft;
use crate::error::Refusal;
use crate::figure::Figure;
use crate::remarks::Remark;

impl Terms<'_> {
    pub(super) fn iops_by_tier(&self, draft: &mut Draft) -> Result<f64, Refusal> {
        self.bill_of_bursts(draft);
        let rate = |value: f64, _: &Figure| Rate::Iops(value);
        self.by_tier("iops", "burst credits", "volume IOPS", rate, draft)
    }

    pub(super) fn throughput_by_tier(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let name = "throughput credits";
        self.by_tier("throughput", name, "volume throughput", bytes_at, draft)?;
        Ok(())
    }

    /// The figure of the size: as it is, higher as it was bought, or with a bucket.
    fn by_tier(
        &self,
        limit: &str,
        bucket: &str,
        name: &str,
        rate: fn(f64, &Figure) -> Rate,
        draft: &mut Draft,
    ) -> Result<f64, Refusal> {
        let base = self.limits.need(limit);
        if let Some(wanted) = &self.offer.performance {
            let most = self.bought(wanted, limit)?;
            draft.cap(name, rate(most.value, &most), &most);
            return Ok(most.value);
        }
        let burst = self.of_this_size(&format!("burst_{limit}"), limit);
        match burst.filter(|burst| burst.value > base.value) {
            Some(burst) => {
                let (baseline, most) = (rate(base.value, &base), rate(burst.value, &burst));
                let above = most.per_second() - baseline.per_second();
                draft.volume.credits.push(Credit {
                    name: bucket.to_owned(),
                    baseline,
                    burst: most,
                    capacity: above * self.limits.value("burst_seconds"),
                    initial_share: 1.0,
                    full_again: None,
                    origin: burst.origin,
                });
            }
            None => {
                draft.cap(name, rate(base.value, &base), &base);
            }
        }
        Ok(base.value)
    }

    /// A limit of exactly this size: that of a smaller one does not hold for it.
    fn of_this_size(&self, limit: &str, like: &str) -> Option<Figure> {
        let figure = self.limits.get(limit)?;
        (self.limits.begins(limit) == self.limits.begins(like)).then_some(figure)
    }

    /// The limit that one may choose for this size.
    fn bought(&self, wanted: &str, limit: &str) -> Result<Figure, Refusal> {
        // Any other word could be the beginning of another limit, as in `burst_iops`.
        let is_known = ["on-demand", "plus"].contains(&wanted);
        let name = format!("{}_{limit}", wanted.replace('-', "_"));
        let found = self.of_this_size(&name, limit).filter(|_| is_known);
        found.ok_or_else(|| {
            let kind = &self.kind.name;
            let tier = self.tier.as_ref();
            let tier = tier.map_or("this size", |tier| tier.name.as_str());
            let begins = self.limits.first_size(&name).filter(|_| is_known);
            let message = match begins {
                Some(gib) => format!(
                    "{tier} of {kind} has no performance={wanted}: it begins with {gib} GiB"
                ),
                None => format!("{kind} has no performance={wanted}; there are on-demand and plus"),
            };
            Refusal::new(Part::Key("performance"), message)
        })
    }

    /// On-demand bursts are billed for being switched on, and for every operation above the target.
    fn bill_of_bursts(&self, draft: &mut Draft) {
        let Some(wanted) = &self.offer.performance else {
            return;
        };
        let billed = format!("{}:{wanted}", self.kind.priced_as);
        if self.catalog.prices_volume(&billed) {
            let above = Above {
                iops: self.limits.need("iops").value,
                bytes_per_s: self.limits.need("throughput").value * 1e6,
            };
            draft.purchase.switched_on = Some((billed, above));
            draft.notes.push(Remark::from(
                "a burst is paid for every second above the target of the size: the greater of its \
                 operations and its MB/s x 1024 / 256, sold by 10,000"
                    .to_owned(),
            ));
        }
    }
}
