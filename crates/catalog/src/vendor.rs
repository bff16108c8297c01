//! In: the names of an address as people write them. Out: the names that the tables know, and what
//! the tables say of the vendor. No other module decides to which vendor a name belongs.

use blocklab_units::did_you_mean;
use blocklab_workload::{Offer, address::Part};

use crate::embedded::Section;
use crate::error::Refusal;
use crate::table::{Row, Table};
use crate::{Catalog, local};

/// Whose things an address names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Vendor {
    pub(crate) name: String,
    /// Whose prices hold where no region is named.
    pub(crate) region: String,
    /// The vendor whose machines it runs on.
    pub(crate) machines: String,
    /// What its tools write before the name of a machine.
    pub(crate) prefix: String,
    /// What it calls the balances of the burst buckets: operations and bytes of the machine,
    /// operations of a volume. Empty: nothing.
    pub(crate) balances: [String; 3],
    /// A price list of it is known.
    pub(crate) is_priced: bool,
    /// The group of disks whose limits a list of its machines shows.
    pub(crate) listed: String,
}

impl Vendor {
    /// The vendor of a row of `vendors.csv`.
    fn from_row(row: &Row<'_>) -> Self {
        let text = |column| row.text(column).to_owned();
        Self {
            name: text("vendor"),
            region: text("region"),
            machines: text("machines"),
            prefix: text("prefix"),
            balances: ["io_credits", "byte_credits", "volume_credits"].map(text),
            is_priced: row.text("prices") != "no",
            listed: text("listed"),
        }
    }
}

/// The vendor before the `/` of a name; `None`: it has none.
pub(crate) fn vendor_in(name: &str) -> Option<&str> {
    name.split_once('/').map(|(vendor, _)| vendor)
}

impl Catalog {
    /// All vendors, in the order of the tables.
    pub(crate) fn vendors(&self) -> Vec<Vendor> {
        let rows = self.rows(Section::Vendors);
        rows.map(|row| Vendor::from_row(&row)).collect()
    }

    /// The names of all vendors, in the same order.
    pub fn vendor_names(&self) -> Vec<String> {
        let all = self.vendors().into_iter();
        all.map(|vendor| vendor.name).collect()
    }

    /// The one whose names have no vendor before them: the first of the tables that the program carries.
    pub(crate) fn own_vendor(&self) -> String {
        let texts = Section::Vendors.embedded().iter();
        let mut keys = texts.flat_map(|text| Table::new(text).keys());
        keys.next().unwrap_or_default().to_owned()
    }

    /// The vendor of a name; one that no table has sells nothing that is priced.
    pub(crate) fn vendor_of(&self, name: &str) -> Vendor {
        let own = self.own_vendor();
        let wanted = vendor_in(name).unwrap_or(&own);
        let row = self.rows_of(Section::Vendors, wanted).next();
        row.map_or_else(
            || Vendor {
                name: wanted.to_owned(),
                machines: wanted.to_owned(),
                ..Vendor::default()
            },
            |row| Vendor::from_row(&row),
        )
    }

    /// Whose prices hold for a name where no region is given; empty: no such vendor has any.
    pub fn usual_region(&self, name: &str) -> String {
        self.vendor_of(name).region
    }

    /// The vendors that have machines, first the one whose names have no vendor before them.
    pub fn sellers_of_machines(&self) -> Vec<String> {
        let own = self
            .vendors()
            .into_iter()
            .filter(|vendor| vendor.machines == vendor.name);
        own.map(|vendor| vendor.name).collect()
    }

    /// The offer with the names that the tables know, whichever the vendor's tools or people write:
    /// `azure/P30` is a size of `azure/Premium_LRS`, and `D4s_v5` a machine of the volume's vendor.
    ///
    /// # Errors
    /// When a volume is called by the name of a vendor, or by that of a size and has another one.
    pub(crate) fn with_known_names(&self, offer: &Offer) -> Result<Offer, Refusal> {
        // Names of the own vendor have no vendor before them in the tables, and may have it here.
        let own = format!("{}/", self.own_vendor());
        let bare = |name: &str| name.strip_prefix(&own).unwrap_or(name).to_owned();
        let mut known = Offer {
            volume: bare(&offer.volume),
            ..offer.clone()
        };
        self.use_known_volume(&mut known)?;
        if let Some(machine) = &offer.instance {
            known.instance = Some(self.known_machine(&known.volume, &bare(machine)));
        }
        Ok(known)
    }

    /// Replaces the volume by the type that the tables know: a type is left as it is, then come other
    /// names of one, then the names of sizes, then other spellings of a type.
    fn use_known_volume(&self, offer: &mut Offer) -> Result<(), Refusal> {
        let vendors = self.vendors();
        if vendors.iter().any(|vendor| vendor.name == offer.volume) {
            let kind = offer.size_name.as_deref().unwrap_or("TYPE");
            let message = format!(
                "{vendor} is a vendor: {vendor}/{kind} names a type of it",
                vendor = offer.volume
            );
            return Err(Refusal::new(Part::Volume, message));
        }
        if self.volume_type_row(&offer.volume).is_some() {
            return Ok(());
        }
        let mut names = self.rows(Section::Names);
        if let Some(row) = names.find(|row| row.text("name").eq_ignore_ascii_case(&offer.volume)) {
            row.text("means").clone_into(&mut offer.volume);
            return Ok(());
        }
        if let Some((vendor, size)) = offer.volume.split_once('/') {
            let rows = self.rows(Section::VolumeSizes);
            let mut of_vendor = rows.filter(|row| vendor_in(row.text("type")) == Some(vendor));
            if let Some(row) = of_vendor.find(|row| row.text("size").eq_ignore_ascii_case(size)) {
                let (kind, size) = (row.text("type"), row.text("size"));
                if offer.size.is_some() || offer.size_name.is_some() {
                    let message = format!("{size} is a size of {kind}: leave the other one out");
                    return Err(Refusal::new(Part::Size, message));
                }
                offer.size_name = Some(size.to_owned());
                kind.clone_into(&mut offer.volume);
                return Ok(());
            }
        }
        let types = self.volume_types();
        let same = types
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(&offer.volume));
        if let Some(name) = same.filter(|name| vendor_in(name).is_some()) {
            offer.volume = name;
        }
        Ok(())
    }

    /// The machine that is meant: of the vendor of the volume where it names no other, with or
    /// without what the vendor's tools write before it.
    fn known_machine(&self, volume: &str, typed: &str) -> String {
        let own = self.own_vendor();
        let vendor = match (vendor_in(typed), volume) {
            (Some(vendor), _) => vendor,
            (None, local::NAME) => return typed.to_owned(),
            (None, volume) => vendor_in(volume).unwrap_or(&own),
        };
        let vendor = self.vendor_of(&format!("{vendor}/"));
        if vendor.machines == own {
            return typed.to_owned();
        }
        let bare = typed.rsplit('/').next().unwrap_or(typed);
        let wanted = [
            format!("{}/{bare}", vendor.name),
            format!("{}/{}{bare}", vendor.name, vendor.prefix),
        ];
        let mut names = self.tables(Section::Machines).flat_map(Table::keys);
        let found = names.find(|name| wanted.iter().any(|one| one.eq_ignore_ascii_case(name)));
        found.map_or_else(|| wanted[0].clone(), str::to_owned)
    }

    /// The machine that a name with its vendor means; `None`: it is none.
    pub(crate) fn machine_called(&self, name: &str) -> Option<String> {
        let (vendor, _) = name.split_once('/')?;
        let known = self.known_machine(&format!("{vendor}/"), name);
        crate::machine::Machine::find(self, &known).map(|machine| machine.name)
    }

    /// The names of all machines that are no EC2 instance types, sorted.
    pub fn machines(&self) -> Vec<String> {
        let names = self.keys(Section::Machines).into_iter();
        names.map(str::to_owned).collect()
    }

    /// What is wrong with the name of a machine.
    pub(crate) fn no_such_machine(&self, name: &str) -> Refusal {
        let names = self.machines();
        let vendor = vendor_in(name).unwrap_or_default();
        let mut of_vendor = names
            .iter()
            .filter(|known| vendor_in(known) == Some(vendor));
        let known = of_vendor.clone().map(String::as_str);
        let hint = did_you_mean(name, known, || match of_vendor.next() {
            Some(_) => format!("`blocklab catalog list --vendor {vendor}` shows them"),
            None => format!("no machine of {vendor} is in the catalog"),
        });
        Refusal::new(Part::Instance, format!("no machine {name}; {hint}"))
    }
}
