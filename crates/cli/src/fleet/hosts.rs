//! In: the arguments of `fleet run`. Out: its hosts, with the targets and permissions of each.

use std::path::PathBuf;
use std::{env, process};

use anyhow::{Context, Result, bail};
use blocklab_console::{chance, terminal};
use blocklab_fleet::{HostTask, machine, probe, program};
use blocklab_host::{LARGEST_SCRIPT, read_input};
use blocklab_record::LostHost;
use blocklab_store::Store;
use blocklab_units::{agreeing, plural};
use jiff::Timestamp;

use blocklab_args::{FleetRunArgs, REFUSED};

/// The hosts of a fleet.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Hosts {
    /// In the order in which they were named; a host that is named again has a suffix such as `#2`.
    pub(super) names: Vec<String>,
    /// Those that were named and cannot be used. Targets of theirs are still theirs.
    left_out: Vec<String>,
    targets: Vec<String>,
    destroy_data: Vec<String>,
    /// The store on each host; `None`: the usual one of its user.
    pub(super) store: Option<PathBuf>,
}

/// Refuses the options of `run` that make no sense for a fleet.
pub(super) fn refuse_single_host_options(args: &FleetRunArgs) -> Result<()> {
    let run = &args.run;
    if let Some(refused) = REFUSED.iter().find(|refused| (refused.is_given)(run)) {
        let option = refused.id.replace("with_run", "with").replace('_', "-");
        bail!("a fleet does not take --{option}: {}", refused.why);
    }
    if args.slurm && args.min_hosts.is_some() {
        bail!(
            "--min-hosts goes on without hosts that are down, and Slurm allocates none: leave it out"
        );
    }
    if run.dry_run {
        bail!(
            "a fleet has no --dry-run: `blocklab run --dry-run` on one of the hosts shows its share"
        );
    }
    Ok(())
}

impl Hosts {
    /// The hosts of the command line, of a file or of the Slurm allocation. `store`: the one that
    /// the user named.
    pub(super) fn new(args: &FleetRunArgs, store: Option<PathBuf>) -> Result<Self> {
        let names = match &args.hostfile {
            Some(path) => {
                let bytes = read_input(path, LARGEST_SCRIPT)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                hostfile(&String::from_utf8_lossy(&bytes))
            }
            None if args.slurm => nodes()?,
            None => args.hosts.clone(),
        };
        let hosts = Self {
            names: numbered(&names)?,
            left_out: Vec::new(),
            targets: args.run.target.clone(),
            destroy_data: args.run.destroy_data.clone(),
            store: store_of_all(store)?,
        };
        hosts.check(args)?;
        Ok(hosts)
    }

    /// Hosts that another tool's command line names. Their targets are part of its load.
    pub(super) fn of_tool(
        names: &[String],
        destroy_data: &[String],
        store: Option<PathBuf>,
    ) -> Result<Self> {
        let hosts = Self {
            names: numbered(names)?,
            left_out: Vec::new(),
            targets: Vec::new(),
            destroy_data: destroy_data.to_vec(),
            store: store_of_all(store)?,
        };
        hosts.check_destroy_data()?;
        Ok(hosts)
    }

    /// Refuses a permission that names no host: the same name may be another disk elsewhere.
    fn check_destroy_data(&self) -> Result<()> {
        for text in &self.destroy_data {
            let is_of_host = text.split_once(':').is_some_and(|(host, what)| {
                !what.is_empty() && self.names.iter().any(|name| name == host)
            });
            if !is_of_host {
                bail!(
                    "--destroy-data {text} names no host of the fleet: data is given up host by host, \
                     such as --destroy-data {}:{}",
                    machine(&self.names[0]),
                    text.rsplit(':')
                        .next()
                        .filter(|what| !what.is_empty())
                        .unwrap_or("nvme1n1")
                );
            }
        }
        Ok(())
    }

    /// `2 hosts that are named`
    fn number_named(&self) -> String {
        let number = self.names.len();
        let verb = agreeing(number, "is", "are");
        format!("{} that {verb} named", plural(number, "host"))
    }

    /// Refuses arguments that do not fit the number of hosts or leave a host without a target.
    fn check(&self, args: &FleetRunArgs) -> Result<()> {
        if self.names.is_empty() {
            bail!("there is no host: name them with --hosts h1,h2");
        }
        self.check_destroy_data()?;
        let most = self.names.len();
        if let Some(least) = args.min_hosts.filter(|least| least.get() as usize > most) {
            let named = self.number_named();
            bail!("--min-hosts {least} is more than the {named}");
        }
        if let Some(many) = args
            .host_counts
            .iter()
            .find(|many| many.get() as usize > most)
        {
            let named = self.number_named();
            bail!("--host-counts {many} is more than the {named}");
        }
        if let Some((name, text)) = self.targets.iter().find_map(|text| self.no_host(text)) {
            bail!("--target {text}: {name} is no host of the fleet; --hosts names them");
        }
        for name in &self.names {
            if self.targets(name).is_empty()
                && self.targets.iter().any(|text| self.host_of(text).is_some())
            {
                bail!(
                    "{name} has no target: give it one with --target {name}:/PATH, or one for all hosts"
                );
            }
        }
        Ok(())
    }

    /// Splits `HOST:TARGET`; `None` if the part before the colon is no host of the fleet.
    fn host_of<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let (host, target) = text.split_once(':')?;
        let mut names = self.names.iter().chain(&self.left_out);
        let is_host = names.any(|name| name == host);
        is_host.then_some((host, target))
    }

    /// The name in `NAME:TARGET`, and that text, where it looks like that of a host and is none. A path of
    /// the same form can be written with `./` before it.
    fn no_host<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let (name, target) = text.split_once(':')?;
        let is_target = target == "null"
            || ["/", "sim:", "emu:"]
                .iter()
                .any(|start| target.starts_with(start));
        let is_name = numbered(&[machine(name).to_owned()]).is_ok();
        (is_target && is_name && self.host_of(text).is_none()).then_some((name, text))
    }

    /// The task of each of these hosts, with an id for its run. Ids are drawn here, so that no two
    /// hosts draw the same one.
    pub(super) fn tasks(&self, names: &[String], store: &Store) -> Result<Vec<HostTask>> {
        let mut run = store.new_id(Timestamp::now(), chance()?);
        let mut tasks = Vec::new();
        for name in names {
            tasks.push(HostTask {
                name: name.clone(),
                run: run.clone(),
                targets: self.targets(name),
                destroy_data: self.destroy_data(name),
                store: self.store.clone(),
                foreign: None,
            });
            run = Store::id_after(&run, Timestamp::now(), chance()?);
        }
        Ok(tasks)
    }

    /// The targets of a host: those with its name, and those without any.
    fn targets(&self, host: &str) -> Vec<String> {
        let own = self
            .targets
            .iter()
            .filter_map(|text| match self.host_of(text) {
                Some((named, target)) => (named == host).then_some(target),
                None => Some(&**text),
            });
        own.map(str::to_owned).collect()
    }

    /// What a host may overwrite. A name without a host gives no permission.
    fn destroy_data(&self, host: &str) -> Vec<String> {
        let own = self.destroy_data.iter().filter_map(|text| {
            let (named, what) = self.host_of(text)?;
            (named == host).then(|| what.to_owned())
        });
        own.collect()
    }

    /// Checks every host before anything is started, and leaves out those that cannot be used.
    pub(super) fn leave_out_unreachable(&mut self, args: &FleetRunArgs) -> Result<Vec<LostHost>> {
        // Slurm gives only nodes that are up.
        if args.slurm {
            return Ok(Vec::new());
        }
        let program = args.rank_program.clone().unwrap_or_else(program);
        let least = args
            .min_hosts
            .map_or(self.names.len(), |least| least.get() as usize);
        self.leave_out_failing(&program, Some(least))
    }

    fn leave_out(&mut self, lost: &[LostHost]) {
        self.names
            .retain(|name| !lost.iter().any(|host| host.name == *name));
        self.left_out
            .extend(lost.iter().map(|host| host.name.clone()));
    }

    /// Starts a program on every host to see whether the host can be used, and leaves out the hosts on
    /// which it fails, with a warning for each. Returns these hosts.
    ///
    /// # Errors
    /// When fewer than `least` hosts are left, the number that `--min-hosts` sets; `None`: when one of them
    /// fails, as each has its own share of a load.
    pub(super) fn leave_out_failing(
        &mut self,
        program: &str,
        least: Option<usize>,
    ) -> Result<Vec<LostHost>> {
        let failing = probe(program, &self.names);
        let lost = self.names.iter().filter_map(|name| {
            let found = failing.iter().find(|known| known.host == machine(name))?;
            Some(LostHost {
                name: name.clone(),
                why: found.why.clone(),
            })
        });
        let lost: Vec<LostHost> = lost.collect();
        let left = self.names.len() - lost.len();
        let enough = least.unwrap_or(self.names.len());
        if left < enough.max(1) {
            let lines: Vec<String> = lost
                .iter()
                .map(|host| format!("{}: {}", host.name, host.why))
                .collect();
            let without = match (left, least) {
                (0, _) => {
                    "each host needs the rank program and Open MPI, see docs/fleet.md".to_owned()
                }
                (left, Some(_)) => format!("--min-hosts {left} would go on without them"),
                (_, None) => {
                    "each has a share of the load that no other host takes over".to_owned()
                }
            };
            bail!(
                "{} of {} cannot be used; nothing was started ({without})\n  {}",
                lost.len(),
                plural(self.names.len(), "host"),
                lines.join("\n  ")
            );
        }
        for host in &lost {
            terminal::warn(&format!("{} takes no part: {}", host.name, host.why));
        }
        self.leave_out(&lost);
        Ok(lost)
    }
}

/// The store on all hosts: that of `--store`, else of this machine's BLOCKLAB_STORE. The path is made
/// absolute here, because the working directory on the hosts is another one.
fn store_of_all(given: Option<PathBuf>) -> Result<Option<PathBuf>> {
    let named = given.or_else(|| env::var_os("BLOCKLAB_STORE").map(PathBuf::from));
    let whole = named.map(std::path::absolute).transpose();
    whole.context("cannot tell where --store is on other hosts")
}

/// The hosts of a file: the first word of every line that is no comment.
fn hostfile(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    // Kubernetes' MPI operator and others write the number of slots after a colon. An address of IPv6 has
    // more colons, and stays whole for the check of names to refuse it.
    let bare = names.map(|name| match name.split_once(':') {
        Some((host, slots)) if !slots.contains(':') => host,
        _ => name,
    });
    bare.map(str::to_owned).collect()
}

/// The nodes of the Slurm allocation in which this command runs.
fn nodes() -> Result<Vec<String>> {
    let list = env::var("SLURM_JOB_NODELIST")
        .ok()
        .filter(|list| !list.is_empty());
    let Some(list) = list else {
        bail!(
            "--slurm runs in an allocation, and this is none: `salloc --nodes 4 blocklab fleet run … --slurm`"
        );
    };
    let output = process::Command::new("scontrol")
        .args(["show", "hostnames", &list])
        .output()
        .context("cannot start scontrol, which lists the nodes of an allocation")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(output.stderr.trim_ascii());
        bail!("scontrol cannot list the nodes of the allocation: {why}");
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.lines().map(str::to_owned).collect())
}

/// A distinct name for each host: `h1`, and `h1#2` if it is named again.
fn numbered(names: &[String]) -> Result<Vec<String>> {
    let mut numbered: Vec<String> = Vec::new();
    for name in names {
        let name = name.trim();
        let is_sound = !name.is_empty()
            && !name.starts_with('-')
            && name
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || ".-_".contains(sign));
        if ["sim", "emu"].contains(&name) {
            bail!("`{name}` cannot name a host: a target that begins with `{name}:` is a model");
        }
        if !is_sound {
            bail!(
                "`{name}` is no name of a host: letters, digits, `.`, `-` and `_` are, such as h1 or 10.0.0.7"
            );
        }
        if name.bytes().all(|sign| sign.is_ascii_digit()) {
            bail!(
                "`{name}` is no name of a host; --host-counts {name} runs on the first {name} of them"
            );
        }
        let many = numbered
            .iter()
            .filter(|known| machine(known) == name)
            .count();
        numbered.push(match many {
            0 => name.to_owned(),
            many => format!("{name}#{}", many + 1),
        });
    }
    Ok(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn hosts_are_told_apart() {
        let twice = numbered(&names(&["h1", " h2", "h1", "h1"])).expect("sound");
        assert_eq!(twice, ["h1", "h2", "h1#2", "h1#3"]);
        for bad in ["", "-x", "a b", "h1;rm", "h1:2", "sim", "4", "h*"] {
            assert!(numbered(&names(&[bad])).is_err(), "{bad:?}");
        }
        // The story: `sim` was refused because names have letters only.
        let why = numbered(&names(&["sim"])).expect_err("a model");
        assert!(why.to_string().contains("is a model"), "{why}");
    }

    /// The story: for `--destroy-data h1:` the error recommended `--destroy-data h1:`.
    #[test]
    fn a_permission_is_recommended_with_a_device() {
        let hosts = Hosts {
            names: names(&["h1"]),
            destroy_data: names(&["h1:"]),
            ..Hosts::default()
        };
        let why = hosts
            .check_destroy_data()
            .expect_err("no device")
            .to_string();
        assert!(why.ends_with("such as --destroy-data h1:nvme1n1"), "{why}");
    }

    #[test]
    fn a_file_of_hosts() {
        let text = "# rack\nh1 slots=8\n\nh2:4   # spare\n  10.0.0.7\n";
        assert_eq!(hostfile(text), ["h1", "h2", "10.0.0.7"]);
    }

    /// The story: of `fe80::1` in a file of hosts, the part before the first colon was the host `fe80`,
    /// which ssh could not find.
    #[test]
    fn an_address_of_ipv6_in_a_file_of_hosts_is_refused() {
        let why = numbered(&hostfile("h1\nfe80::1\n")).expect_err("no name of a host");
        assert!(why.to_string().contains("`fe80::1` is no name"), "{why}");
    }

    /// The story: with `--min-hosts 1`, the target of a host that was down became one of all others, which
    /// refused the path `h2:/dev/sdb`.
    #[test]
    fn the_target_of_a_host_that_is_left_out_is_not_for_the_others() {
        let mut hosts = Hosts {
            names: names(&["h1", "h2"]),
            targets: names(&["h1:/dev/sda", "h2:/dev/sdb"]),
            ..Hosts::default()
        };
        hosts.leave_out(&[LostHost {
            name: "h2".to_owned(),
            why: "no answer".to_owned(),
        }]);
        assert_eq!(hosts.names, ["h1"]);
        assert_eq!(hosts.targets("h1"), ["/dev/sda"]);
    }

    /// The story: with a mistyped name, every host was given the path `h9:/dev/sdb`, which none has.
    #[test]
    fn a_target_of_an_unknown_host_is_seen() {
        let hosts = Hosts {
            names: names(&["h1", "h1#2"]),
            ..Hosts::default()
        };
        for text in ["h9:/dev/sdb", "h9:null", "h1#3:/data", "h9:sim:gp3"] {
            let found = hosts.no_host(text).map(|(_, text)| text);
            assert_eq!(found, Some(text));
        }
        let sound = [
            "h1:/data",
            "h1#2:/data",
            "sim:gp3",
            "emu:/x.toml",
            "/a:/b",
            "./h9:/data",
            "data:new",
        ];
        for text in sound {
            assert_eq!(hosts.no_host(text), None);
        }
    }

    /// A device is given up on one host, and stays what it is on the others.
    #[test]
    fn targets_and_data_are_by_host() {
        let hosts = Hosts {
            names: names(&["h1", "h2"]),
            targets: names(&["/data", "h1:/dev/sdb", "sim:gp3"]),
            destroy_data: names(&["h2:sdc"]),
            ..Hosts::default()
        };
        assert_eq!(hosts.targets("h1"), ["/data", "/dev/sdb", "sim:gp3"]);
        assert_eq!(hosts.targets("h2"), ["/data", "sim:gp3"]);
        assert_eq!(hosts.destroy_data("h1"), Vec::<String>::new());
        assert_eq!(hosts.destroy_data("h2"), ["sdc"]);
    }
}
