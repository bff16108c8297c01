//! Arguments of `blocklab k8s`.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use blocklab_units::{Bytes, Nanos};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};

use super::{Cli, Command, at_least_one};

const EXAMPLES: &str = "\
Examples:
  blocklab k8s manifest --storage-class gp3 --size 100Gi | kubectl apply -f -
  kubectl logs job/blocklab | blocklab import record -
  kubectl get storageclass gp3 -o json > class.json
  kubectl get node NAME -o json > node.json
  blocklab k8s expect --size 100Gi --class-json class.json --node-json node.json";

/// `blocklab k8s`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct K8sArgs {
    /// What to do
    #[command(subcommand)]
    pub command: K8sCommand,
}

/// What is printed.
#[derive(Debug, Subcommand)]
pub enum K8sCommand {
    /// Print a manifest: a claim for a volume and a job that measures it
    Manifest(Box<K8sManifestArgs>),
    /// Print the address of what a storage class promises on a node, for --expect
    Expect(K8sExpectArgs),
}

impl K8sArgs {
    /// Checks the arguments for the pod as `blocklab run` would read them there.
    ///
    /// # Errors
    /// What `blocklab run` would report in the pod, and a target among the arguments.
    pub(crate) fn check_pod(&self) -> Result<(), clap::Error> {
        let K8sCommand::Manifest(args) = &self.command else {
            return Ok(());
        };
        // In the order of the manifest, which adds its own options at the end: after a `--` they would
        // be no options any more. A raw device has another path, which makes no difference here.
        let own_options = ["--target", "/data", "--quiet", "--json-lines"];
        let words = ["blocklab", "run"]
            .into_iter()
            .chain(args.arguments.iter().map(String::as_str))
            .chain(own_options);
        let command = Cli::try_parse_from(words)?.command;
        match command {
            // The manifest's own target is one of them.
            Command::Run(run) if run.target.len() > 1 => Err(Cli::command().error(
                ErrorKind::ArgumentConflict,
                "--target: the pod measures the volume that the manifest claims",
            )),
            _ => Ok(()),
        }
    }
}

const MANIFEST_EXAMPLES: &str = "\
Examples:
  blocklab k8s manifest --storage-class gp3 --size 100Gi | kubectl apply -f -
  blocklab k8s manifest --storage-class gp3 --size 100Gi -- quick --runtime 30s
  blocklab k8s manifest --storage-class gp3 --size 100Gi --block
  blocklab k8s manifest --size 20Gi --node-label kubernetes.io/hostname=n1
  blocklab k8s manifest --size 20Gi --hosts 8 -- quick --start-at 2026-12-01T12:00:00Z

The manifest starts with the commands that wait for the result, read it and remove everything. \
Nothing is sent to a cluster. The pod meets the security standard `restricted`, except with \
`--as-root`. The image is the one that `scripts/dist` makes, pushed to where your cluster can \
pull it.";

/// `blocklab k8s manifest`.
#[derive(Debug, Args)]
#[command(after_help = MANIFEST_EXAMPLES)]
pub struct K8sManifestArgs {
    /// Storage class of the volume (default: the cluster's)
    #[arg(long, value_name = "NAME")]
    pub storage_class: Option<String>,
    /// Size of the volume, such as 100Gi
    #[arg(long, value_parser = above_zero::<Bytes>)]
    pub size: Bytes,
    /// Measure the raw device, without a file system
    #[arg(long)]
    pub block: bool,
    /// Run as root, where the cluster gives raw devices to nobody else
    #[arg(long, requires = "block")]
    pub as_root: bool,
    /// Name of the job and the claim
    #[arg(long, default_value = "blocklab")]
    pub name: String,
    /// Namespace of both
    #[arg(long)]
    pub namespace: Option<String>,
    /// Container image
    #[arg(long, default_value = concat!("blocklab:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Pods that run at the same time, each on a node and a volume of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub hosts: NonZeroU32,
    /// A label that the node must have (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    pub node_label: Vec<(String, String)>,
    /// Processors of the pod, requested and limited
    #[arg(long, value_name = "N", default_value = "2", value_parser = at_least_one)]
    pub cpus: NonZeroU32,
    /// Memory of the pod, requested and limited
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = above_zero::<Bytes>)]
    pub memory: Bytes,
    /// End the job after this time
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = above_zero::<Nanos>)]
    pub deadline: Nanos,
    /// The storage class as kubectl prints it; the manifest then shows what to expect
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub class_json: Option<PathBuf>,
    /// The node as kubectl prints it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "class_json")]
    pub node_json: Option<PathBuf>,
    /// Arguments of `blocklab run` in the pod (default: the study `quick`)
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
}

const EXPECT_EXAMPLES: &str = "\
Examples:
  kubectl get storageclass gp3 -o json > class.json
  kubectl get node NAME -o json > node.json
  blocklab k8s expect --size 100Gi --class-json class.json --node-json node.json
  address=$(blocklab k8s expect --size 100Gi --class-json class.json)
  blocklab diagnose latest --expect $address";

/// `blocklab k8s expect`.
#[derive(Debug, Args)]
#[command(after_help = EXPECT_EXAMPLES)]
pub struct K8sExpectArgs {
    /// Size of the volume, such as 100Gi
    #[arg(long, value_parser = above_zero::<Bytes>)]
    pub size: Bytes,
    /// Output of `kubectl get storageclass NAME -o json`; `-` reads the standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub class_json: PathBuf,
    /// Output of `kubectl get node NAME -o json`; `-` reads the standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub node_json: Option<PathBuf>,
}

/// Parses a size or a time that is not zero.
pub(crate) fn above_zero<T>(text: &str) -> Result<T, String>
where
    T: FromStr<Err: Display> + Default + PartialEq,
{
    match text.parse() {
        Ok(zero) if zero == T::default() => Err("it must be above 0".to_owned()),
        Ok(value) => Ok(value),
        Err(why) => Err(format!("{why}")),
    }
}

/// Parses a label of a node, `KEY=VALUE`; Kubernetes allows an empty value.
fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a label is KEY=VALUE, such as kubernetes.io/hostname=n1".to_owned()),
    }
}
