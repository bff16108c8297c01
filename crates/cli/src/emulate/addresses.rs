//! The addresses that a server serves: one, or several on one instance.

use anyhow::{Result, anyhow, bail};
use blocklab_catalog::{Error, Resolved, resolve};
use blocklab_console::place;
use blocklab_device::Layout;
use blocklab_workload::{Address, Target, address::AddressError};

use blocklab_args::EmulateArgs;

/// All volumes as one device, joined one after the other, and the address of each.
pub(super) fn resolved(args: &EmulateArgs) -> Result<(Resolved, Vec<Address>)> {
    let catalog = place::load_catalog()?;
    if let [first, others @ ..] = &args.addresses[..]
        && !others.is_empty()
        && args.on.is_none()
    {
        let striped = format!("{}x{first}", args.addresses.len());
        // A device file has no number of volumes before its path.
        let is_sold =
            matches!(striped.parse(), Ok(Address::Sold(offer)) if offer.instance.is_none());
        let or = if is_sold && others.iter().all(|other| other == first) {
            format!(", or write {striped} for volumes without one")
        } else {
            String::new()
        };
        bail!("several addresses must share an instance; name it, such as --on m5.large{or}");
    }
    let mut found: Option<Resolved> = None;
    let mut addresses = Vec::new();
    for text in &args.addresses {
        let address = address(text, args.on.as_deref())?;
        let resolved = resolve(&address, &catalog).map_err(in_one_line)?;
        let each = vec![resolved.address.clone(); resolved.spec.volumes.len()];
        addresses.extend(each);
        match &mut found {
            None => found = Some(resolved),
            Some(all) => join(all, resolved)?,
        }
    }
    let mut found = found.ok_or_else(|| anyhow!("an address is missing"))?;
    found.spec.layout = Layout::Joined;
    // The limits of the first address are not those of all volumes.
    if args.addresses.len() > 1 {
        found.limits = found.spec.limits();
    }
    Ok((found, addresses))
}

/// Parses an address; if it names no instance, it gets that of `--on`.
fn address(text: &str, on: Option<&str>) -> Result<Address> {
    let target = Target::parse(text).map_err(|error| in_one_line(error.into()))?;
    if let Some(volume) = target.address() {
        bail!("{text} is how `blocklab run` names a target; write {volume}");
    }
    let parsed = text.parse::<Address>();
    let mut address = parsed.map_err(|error| in_one_line(error.into()))?;
    match (&mut address, on) {
        (_, None) => {}
        (Address::File(_), Some(_)) => {
            bail!("{text} describes its own instance; remove --on")
        }
        (Address::Sold(offer), Some(on)) => match &offer.instance {
            Some(own) if own != on => bail!("{text} is not on {on}; remove {own} or --on"),
            _ => offer.instance = Some(on.to_owned()),
        },
    }
    Ok(address)
}

/// The message of an error without the line that marks the wrong part.
pub(super) fn in_one_line(error: Error) -> anyhow::Error {
    match error {
        Error::Address(AddressError { text, message, .. }) => anyhow!("{text}: {message}"),
        Error::Refused {
            address, message, ..
        } => anyhow!("{address}: {message}"),
        other => other.into(),
    }
}

/// Whether an address names the disks of an instance.
pub(super) fn is_local(address: &Address) -> bool {
    matches!(address, Address::Sold(offer) if offer.volume == "local")
}

/// The machine of that type, where an address names one of several.
fn host(address: &Address) -> Option<&str> {
    match address {
        Address::Sold(offer) => offer.host.as_deref(),
        Address::File(_) => None,
    }
}

/// Adds the volumes of an address to those before it, which must have the limits of one instance in
/// common.
fn join(all: &mut Resolved, more: Resolved) -> Result<()> {
    if all.spec.instance != more.spec.instance || host(&all.address) != host(&more.address) {
        let why = if is_local(&all.address) || is_local(&more.address) {
            "because local disks have their own; serve them in two processes"
        } else {
            "because their keys about the instance differ: write the same host, as-of and \
             instance-credits"
        };
        bail!(
            "{} and {} share no limits, {why}",
            all.address,
            more.address
        );
    }
    all.spec.name = format!("{}, {}", all.spec.name, more.spec.name);
    all.spec.volumes.extend(more.spec.volumes);
    let new = more.assumptions.into_iter();
    let new: Vec<_> = new
        .filter(|sentence| !all.assumptions.contains(sentence))
        .collect();
    all.assumptions.extend(new);
    Ok(())
}
