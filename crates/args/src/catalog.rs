//! Arguments of `blocklab catalog`.

use std::path::PathBuf;

use blocklab_catalog::SteadyLoad;
use clap::{Args, Subcommand, ValueHint};

use super::FormArgs;

const EXAMPLES: &str = "\
Examples:
  blocklab catalog list --family i3
  blocklab catalog show gp3:1TiB,iops=6000@r5d.xlarge
  blocklab catalog import types.json prices.json";

/// `blocklab catalog`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CatalogArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: CatalogCommand,
}

/// One verb of the catalog.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// List instance types: EBS limits and local disks
    List(CatalogListArgs),
    /// Show the limits and prices of an address: what binds, how long a burst lasts, what a month costs
    Show(CatalogShowArgs),
    /// Import newer limits and prices from files
    Import(CatalogImportArgs),
}

const LIST_EXAMPLES: &str = "\
Examples:
  blocklab catalog list --family i3
  blocklab catalog list --has-local --min-ebs-iops 100000
  blocklab catalog list --vendor gcp --family n2-
  blocklab catalog list --json | jq -r '.types[] | select(.disks > 4) | .name'

Rates are those of today; `catalog show` lists sources and dates. MB is 10^6 bytes.";

/// `blocklab catalog list`.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct CatalogListArgs {
    /// Machines of another vendor, such as azure or gcp, with what they grant to their usual disks
    #[arg(long, value_name = "NAME")]
    pub vendor: Option<String>,
    /// Only this family, such as i3; of other vendors: names that begin so, such as Standard_D
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Only types with disks of their own
    #[arg(long)]
    pub has_local: bool,
    /// Only types that sustain at least N EBS IOPS
    #[arg(long, value_name = "N")]
    pub min_ebs_iops: Option<u64>,
    /// Region of the prices (default: us-east-1, or the vendor's own)
    #[arg(long)]
    pub region: Option<String>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  blocklab catalog show local@i3.xlarge                  the instance's own disks
  blocklab catalog show gp3:1TiB,iops=6000@r5d.xlarge    a volume on an instance
  blocklab catalog show 30xgp2:1TB@i3.metal              thirty of them
  blocklab catalog show st1:10TB,as-of=2016-04-19@m4.10xlarge
  blocklab catalog show gp3:1TiB,region=ap-northeast-1   prices of another region
  blocklab catalog show r5d.xlarge                       an instance by itself
  blocklab catalog show gp2:1TiB gp3:1TiB st1:1TiB       several, one after another
  blocklab catalog show gp2:100GiB --load 600iops,16KiB  how long credits last at this load
  blocklab catalog show azure/P30@D8s_v5                 a disk and a machine of Azure
  blocklab catalog show 2xgcp/pd-ssd:500GiB@n2-standard-8
  blocklab catalog show rds:gp3:200GiB@db.t4g.micro      storage of a managed database
  blocklab catalog show ./my-device.toml                 a device described by hand

An address is [N x] [VENDOR/]TYPE[:SIZE] [, key=value ...] [@ [VENDOR/]MACHINE] with the keys iops, \
throughput (in the vendor's unit), credits and instance-credits (0%, 50%, full), performance, \
interface, cache and hits, engine, as-of (a day), region, and profile. Vendors count GiB and write GB, so 1TB is \
1,000 GiB.";

/// `blocklab catalog show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct CatalogShowArgs {
    /// What to show: an address, a volume type or an instance type; several are shown one after another
    #[arg(value_name = "ADDRESS", required = true, value_hint = ValueHint::Other)]
    pub addresses: Vec<String>,
    /// Show how long burst credits last at this load and what is left then: 600iops,16KiB or
    /// 40MB/s,128KiB,30%write,sequential
    #[arg(long, value_name = "LOAD")]
    pub load: Option<SteadyLoad>,
    /// How it is printed
    #[command(flatten)]
    pub form: FormArgs,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  aws ec2 describe-instance-types > types.json
  curl -O https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.json
  curl -o instances.json https://instances.vantage.sh/instances.json
  blocklab catalog import types.json index.json instances.json

Files are recognised by what they hold. They are merged into a catalog of your own \
($XDG_DATA_HOME/blocklab/catalog, else ~/.local/share/blocklab/catalog), all of them or none; what \
the program carries is never changed.";

/// `blocklab catalog import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct CatalogImportArgs {
    /// DescribeInstanceTypes JSON, an AWS price list of AmazonEC2, or ec2instances.info's instances.json
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The day of the figures, for files that do not name it (default: when the file was written)
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<String>,
    /// Print what changed as JSON
    #[arg(long)]
    pub json: bool,
}
