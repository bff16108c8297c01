//! In: a machine by its name, from the tables that all vendors share. Out: what it grants to its
//! volumes, and its own disks. EC2 instance types have a history and a file of their own,
//! `instance.rs`.

use blocklab_device::class::Class;
use blocklab_device::{
    Cap, Covers, Credit, DeviceSpec, HostCache, InstanceSpec, Limit, Origin, Rate, VolumeSpec,
};
use blocklab_units::{Bytes, Nanos, plural};
use blocklab_workload::{Offer, address::Part};

use crate::Catalog;
use crate::draft::{Draft, cap};
use crate::embedded::Section;
use crate::error::{Refusal, refuse_settings};
use crate::figure::Figure;
use crate::remarks::Remark;
use crate::table::Row;

/// How long the maximum of a machine that bursts lasts from a full bucket.
const BURST_S: f64 = 1800.0;

/// What the tables say of a machine.
pub(crate) struct Machine<'t> {
    pub(crate) name: String,
    pub(crate) row: Row<'t>,
    catalog: &'t Catalog,
}

/// A row of what a machine grants.
pub(crate) struct Granted<'t> {
    pub(crate) row: Row<'t>,
    /// The row is of a larger machine of the series.
    is_assumed: bool,
}

impl<'t> Machine<'t> {
    /// The machine of that name; `None`: no table has it.
    pub(crate) fn find(catalog: &'t Catalog, name: &str) -> Option<Self> {
        let row = catalog.rows_of(Section::Machines, name).next()?;
        Some(Self {
            name: name.to_owned(),
            row,
            catalog,
        })
    }

    pub(crate) fn vcpus(&self) -> Option<u32> {
        self.row.get("vcpu")
    }

    /// `gcp/n1-*` of `gcp/n1-standard-8`.
    fn series(&self) -> String {
        let series = self.name.split('-').next().unwrap_or(&self.name);
        format!("{series}-*")
    }

    /// How many volumes it takes, where that is known.
    pub(crate) fn attachments(&self) -> Option<Figure> {
        self.catalog.attachments(&self.row)
    }

    /// What it grants to a group of its disks: its own rows, else those of its series that are for
    /// as many processors; where only larger machines are documented, theirs, as an assumption.
    pub(crate) fn granted(&self, group: &str) -> Vec<Granted<'t>> {
        let rows = |key: &str| -> Vec<Row<'t>> {
            let rows = self.catalog.rows_of(Section::MachineLimits, key);
            rows.filter(|row| row.text("group") == group).collect()
        };
        let own = rows(&self.name);
        let certain = |row| Granted {
            row,
            is_assumed: false,
        };
        if !own.is_empty() {
            return own.into_iter().map(certain).collect();
        }
        let vcpus = self.vcpus().unwrap_or(0);
        let (fits, others): (Vec<_>, Vec<_>) = rows(&self.series()).into_iter().partition(|row| {
            let from = row.get("vcpu_from").unwrap_or(0);
            (from..=row.get("vcpu_to").unwrap_or(u32::MAX)).contains(&vcpus)
        });
        if !fits.is_empty() {
            return fits.into_iter().map(certain).collect();
        }
        let larger = others.iter().filter_map(|row| row.get::<u32>("vcpu_from"));
        let Some(least) = larger.filter(|from| *from > vcpus).min() else {
            return Vec::new();
        };
        let of_least = others
            .into_iter()
            .filter(|row| row.get("vcpu_from") == Some(least));
        let assumed = of_least.map(|row| Granted {
            row,
            is_assumed: true,
        });
        assumed.collect()
    }

    /// What it grants to the first of these groups that it has rows of, through an interface. `groups`
    /// are names with `|` between them.
    ///
    /// # Errors
    /// When it has no such interface.
    pub(crate) fn limits(
        &self,
        groups: &str,
        offer: &Offer,
        assumptions: &mut Vec<String>,
    ) -> Result<Option<InstanceSpec>, Refusal> {
        for group in groups.split('|') {
            let rows = self.granted(group);
            if rows.is_empty() {
                continue;
            }
            let rows = self.by_interface(rows, offer, assumptions)?;
            return Ok(Some(self.instance_spec(group, &rows)));
        }
        Ok(None)
    }

    /// The rows of the interface that is named, or of the first one.
    fn by_interface(
        &self,
        rows: Vec<Granted<'t>>,
        offer: &Offer,
        assumptions: &mut Vec<String>,
    ) -> Result<Vec<Granted<'t>>, Refusal> {
        let mut known: Vec<String> = Vec::new();
        for granted in &rows {
            let interface = granted.row.text("interface");
            if !interface.is_empty() && known.iter().all(|one| one != interface) {
                known.push(interface.to_owned());
            }
        }
        // By name, so that the assumed one does not depend on the order of the rows.
        known.sort_unstable();
        let chosen = match (&offer.interface, known.as_slice()) {
            (Some(wanted), known) if known.contains(wanted) => wanted.clone(),
            (Some(wanted), []) => {
                let message = format!(
                    "no document tells the ways to the disks of {} apart: leave {wanted} out",
                    self.name
                );
                return Err(Refusal::new(Part::Key("interface"), message));
            }
            (Some(_), known) => {
                let message = format!("{} has the interface {}", self.name, known.join(", "));
                return Err(Refusal::new(Part::Key("interface"), message));
            }
            (None, []) => return Ok(rows),
            (None, [only]) => only.clone(),
            (None, [first, ..]) => {
                let text = format!(
                    "no interface is given: {first} is assumed; {} has {}",
                    self.name,
                    known.join(" and ")
                );
                assumptions.push(text);
                first.clone()
            }
        };
        // A row without an interface holds for each of them.
        let of_it = rows.into_iter().filter(|granted| {
            let interface = granted.row.text("interface");
            interface.is_empty() || interface == chosen
        });
        Ok(of_it.collect())
    }

    /// Puts the cache of the host in front of what the volumes have, where the address wants one.
    ///
    /// # Errors
    /// When the machine has no limits of it, or the share of hits is missing.
    pub(crate) fn with_cache(
        &self,
        offer: &Offer,
        mut spec: InstanceSpec,
        assumptions: &mut Vec<String>,
    ) -> Result<InstanceSpec, Refusal> {
        let Some(kind) = offer.cache.as_deref().filter(|kind| *kind != "none") else {
            return Ok(spec);
        };
        let part = Part::Key("cache");
        if !["readonly", "readwrite"].contains(&kind) {
            let message = format!("`{kind}` is no cache: none, readonly, readwrite");
            return Err(Refusal::new(part, message));
        }
        let rows = self.granted("cached");
        if rows.is_empty() {
            let message = format!("no document gives the cached limits of {}", self.name);
            return Err(Refusal::new(part, message));
        }
        let Some(hits) = offer.hits else {
            let message = "how many of the reads it holds is yours to say: hits=80%";
            return Err(Refusal::new(part, message));
        };
        let limits = self.instance_spec("cached", &rows);
        let gib: Option<f64> = self.row.get("cache_gib");
        let room = gib.map(gibibytes);
        // A cache that writes back takes writes until it is full, so its size decides for how long.
        if kind == "readwrite" && room.is_none() {
            let message = format!("no document gives the size of the cache of {}", self.name);
            return Err(Refusal::new(part, message));
        }
        assumptions.push(format!(
            "{hits} % of the reads are in the host's cache (hits={hits}%), at random"
        ));
        spec.cache = Some(HostCache {
            caps: limits.caps,
            credits: limits.credits,
            hit_share: f64::from(hits) / 100.0,
            writes_back: room.filter(|_| kind == "readwrite"),
            latency: Class::LocalSsd.service().read,
        });
        Ok(spec)
    }

    /// The machine with the limits of these rows, and nothing else.
    fn instance_spec(&self, group: &str, rows: &[Granted<'_>]) -> InstanceSpec {
        let mut spec = InstanceSpec::new(&self.name);
        for granted in rows {
            self.add_limits(group, granted, &mut spec);
        }
        spec
    }

    /// Adds the limits of a row. A rate that does not burst is a cap; one that does, a bucket of half an
    /// hour.
    fn add_limits(&self, group: &str, granted: &Granted<'_>, spec: &mut InstanceSpec) {
        let row = &granted.row;
        let covers = covers(row);
        let origin = match (granted.is_assumed, self.catalog.origin(row)) {
            (true, Origin::Documented { source, .. }) => Origin::assumed(&format!(
                "documented for machines of {} vCPUs and more: {source}",
                row.text("vcpu_from")
            )),
            (_, origin) => origin,
        };
        let bytes: fn(f64) -> Rate = match row.text("unit") {
            "MiB/s" => Rate::MibPerS,
            _ => Rate::MbPerS,
        };
        let iops: fn(f64) -> Rate = Rate::Iops;
        let figures = [
            ("IOPS", "iops", "burst_iops", iops),
            ("throughput", "throughput", "burst_throughput", bytes),
        ];
        for (what, base, burst, rate) in figures {
            let Some(base) = row.get::<f64>(base) else {
                continue;
            };
            let name = format!("{group} {what}");
            match row.get::<f64>(burst).filter(|burst| *burst > base) {
                Some(burst) => spec.credits.push(Credit {
                    name,
                    baseline: rate(base),
                    burst: rate(burst),
                    capacity: (rate(burst).per_second() - rate(base).per_second()) * BURST_S,
                    initial_share: 1.0,
                    full_again: None,
                    origin: origin.clone(),
                }),
                None => spec.caps.push(Cap {
                    covers,
                    ..cap(&name, rate(base), &origin)
                }),
            }
        }
    }

    /// All limits of the machine in the tables, group by group.
    pub(crate) fn all_limits(&self) -> Vec<Limit> {
        let mut groups: Vec<String> = Vec::new();
        for key in [self.name.clone(), self.series()] {
            for row in self.catalog.rows_of(Section::MachineLimits, &key) {
                let group = row.text("group").to_owned();
                if !groups.contains(&group) {
                    groups.push(group);
                }
            }
        }
        let mut found: Vec<Limit> = Vec::new();
        for group in groups {
            for granted in self.granted(&group) {
                let row = &granted.row;
                let mut words = vec![group.clone()];
                let at = [("interface", ""), ("disks", " disks")];
                words.extend(at.iter().filter_map(|(column, after)| {
                    let text = row.text(column);
                    (!text.is_empty()).then(|| format!("{text}{after}"))
                }));
                let label = words.join(", ");
                let spec = self.instance_spec(&label, std::slice::from_ref(&granted));
                let machine = DeviceSpec {
                    instance: Some(spec),
                    ..DeviceSpec::new("", Vec::new())
                };
                found.extend(machine.limits());
            }
        }
        found
    }

    /// Its own disks, or those that it is given.
    ///
    /// # Errors
    /// When it has none, or not that many, or a key makes no sense for them.
    pub(crate) fn disks(&self, offer: &Offer) -> Result<Draft, Refusal> {
        // Whether it has credits is checked where they are set.
        let others = ["credits", "instance-credits", "interface"];
        refuse_settings(offer, &others, |what| {
            format!("local disks come with the machine and take no {what}")
        })?;
        let own: Option<u32> = self.row.get("disks");
        // Older machines count their own disk among what goes through the host's cache.
        let own_group = if self.granted("local").is_empty() {
            "cached"
        } else {
            "local"
        };
        let (count, group) = match own {
            Some(own) => {
                let wanted = offer.count.map_or(own, std::num::NonZeroU32::get);
                if wanted > own {
                    let has = plural(own as usize, "disk");
                    let message = format!("{} has {has} of its own", self.name);
                    return Err(Refusal::new(Part::Count, message));
                }
                (wanted, own_group)
            }
            None => (self.attached(offer)?, "attached"),
        };
        let mut draft = Draft::new(VolumeSpec::new("local disk", self.disk_size()));
        draft.volumes = count as usize;
        draft.purchase.instance = Some(self.name.clone());
        if own.is_none() {
            draft.purchase.volume = Some(format!(
                "{}/local-ssd",
                self.catalog.vendor_of(&self.name).name
            ));
            draft.purchase.volumes = f64::from(count);
            draft.purchase.gib = draft.volume.capacity.as_f64() / Bytes::GIB.as_f64();
        }
        let rows = self.by_interface(self.granted(group), offer, &mut draft.assumptions)?;
        let rows = self.for_disks(rows, own.unwrap_or(count))?;
        if let Some(own) = own.filter(|own| count < *own) {
            let has = plural(own as usize, "disk");
            draft.notes.push(Remark::from(format!(
                "{count} of {has}: the documented figures are those of all of them, and no share of \
                 one is documented"
            )));
        }
        self.describe_disks(group, &rows, &mut draft);
        Ok(draft)
    }

    /// The number of attached disks that the offer names, on a machine that takes them.
    fn attached(&self, offer: &Offer) -> Result<u32, Refusal> {
        if self.granted("attached").is_empty() {
            let message = format!("{} has no disk of its own", self.name);
            return Err(Refusal::new(Part::Instance, message));
        }
        Ok(offer.count.map_or(1, std::num::NonZeroU32::get))
    }

    /// The rows of that number of disks, where the tables go by it.
    fn for_disks(&self, rows: Vec<Granted<'t>>, count: u32) -> Result<Vec<Granted<'t>>, Refusal> {
        let mut counts: Vec<u32> = rows
            .iter()
            .filter_map(|granted| granted.row.get("disks"))
            .collect();
        counts.sort_unstable();
        counts.dedup();
        if counts.is_empty() {
            return Ok(rows);
        }
        if !counts.contains(&count) {
            let known: Vec<String> = counts.iter().map(u32::to_string).collect();
            let message = format!("local disks come as {} on a machine", known.join(", "));
            return Err(Refusal::new(Part::Count, message));
        }
        let of_count = rows
            .into_iter()
            .filter(|granted| granted.row.get("disks") == Some(count));
        Ok(of_count.collect())
    }

    /// The size of one of its own disks, or of those that are added to it.
    pub(crate) fn disk_size(&self) -> Bytes {
        /// A Local SSD that is added to a machine of Google Cloud has 375 GiB.
        const ATTACHED: Bytes = Bytes(375 << 30);
        own_disk_size(&self.row).unwrap_or(ATTACHED)
    }

    /// Sets what the draft's disks do: the limits that hold for all of them together become those of
    /// the machine.
    fn describe_disks(&self, group: &str, rows: &[Granted<'_>], draft: &mut Draft) {
        let mut spec = self.instance_spec(group, rows);
        for cap in &mut spec.caps {
            // Runs on such disks stay at the documented figure from their first second on.
            cap.bucket = Nanos::ZERO;
            cap.refill_share = 1.0;
            cap.name = cap.name.replacen(group, "local disk", 1);
        }
        for credit in &mut spec.credits {
            credit.name = credit.name.replacen(group, "local disk", 1);
        }
        if group == "cached" {
            let shared = "the figures are those of local disk and cached disks together";
            draft.notes.push(Remark::from(shared.to_owned()));
        }
        let of_caps = spec.caps.iter().map(|cap| cap.rate);
        let mut rates = of_caps.chain(spec.credits.iter().map(|credit| credit.baseline));
        if rates.all(Rate::counts_bytes) {
            draft.notes.push(Remark::no_prediction(
                "no document gives its IOPS: no prediction is made".to_owned(),
            ));
        } else {
            draft.volume.service = Some(Class::LocalSsd.service());
        }
        let remark = self.row.text("remark");
        if !remark.is_empty() {
            draft
                .notes
                .push(Remark::from(format!("{}: {remark}", self.name)));
        }
        draft.instance = Some(spec);
    }
}

/// The size of each of the disks that come with the machine of a row, which documents count in GiB or
/// in GB; `None`: it has none.
pub(crate) fn own_disk_size(row: &Row<'_>) -> Option<Bytes> {
    let gb = row.get("disk_gb").map(|gb: f64| Bytes((gb * 1e9) as u64));
    row.get("disk_gib").map(gibibytes).or(gb)
}

pub(crate) fn gibibytes(number: f64) -> Bytes {
    Bytes((number * Bytes::GIB.as_f64()) as u64)
}

pub(crate) fn covers(row: &Row<'_>) -> Covers {
    match row.text("covers") {
        "reads" => Covers::Reads,
        "writes" => Covers::Writes,
        _ => Covers::All,
    }
}
