//! In: a storage class and a node as kubectl prints them. Out: the address of the volume that they
//! promise.

use blocklab_units::Bytes;
use serde_json::Value;

use crate::Mistake;

/// Whose volumes a provisioner makes, and which parameters of a class say what is promised.
const PROVISIONERS: &str = include_str!("../data/provisioners.csv");

/// A row of [`PROVISIONERS`].
struct Provisioner {
    cells: Vec<&'static str>,
    /// The names of the columns, in one line.
    columns: &'static str,
}

impl Provisioner {
    /// The row of a provisioner.
    fn find(name: &str) -> Option<Self> {
        let mut lines = PROVISIONERS.lines().filter(|line| !line.starts_with('#'));
        let columns = lines.next()?;
        let row = lines.find(|line| line.split(',').next() == Some(name))?;
        Some(Self {
            cells: row.split(',').collect(),
            columns,
        })
    }

    /// The names of all known provisioners.
    fn names() -> String {
        let rows = PROVISIONERS.lines().filter(|line| !line.starts_with('#'));
        let names = rows.skip(1).filter_map(|line| line.split(',').next());
        names.collect::<Vec<_>>().join(", ")
    }

    /// The cell in the column of this name; empty: there is none.
    fn text(&self, column: &str) -> &'static str {
        let place = self.columns.split(',').position(|known| known == column);
        place.and_then(|place| self.cells.get(place)).unwrap_or(&"")
    }

    /// The lowest IOPS of a volume type, to which the driver raises fewer if the class allows it; 0: the
    /// driver has no such limits; `None`: it has, but volumes of this type have no IOPS of their own.
    fn least_iops(&self, kind: &str) -> Option<u64> {
        match self.text("least_iops") {
            "" => Some(0),
            _ => self.of_type("least_iops", kind),
        }
    }

    /// The figure of a volume type in a column of such, as `io1=50|gp3=500`; `None`: there is none.
    fn of_type(&self, column: &str, kind: &str) -> Option<u64> {
        let mut figures = self.text(column).split('|');
        figures.find_map(|figure| figure.strip_prefix(kind)?.strip_prefix('=')?.parse().ok())
    }

    /// Whether the driver reads the throughput of a volume type.
    fn reads_throughput(&self, kind: &str) -> bool {
        let types = self.text("throughput_types");
        types.is_empty() || types.split('|').any(|known| known == kind)
    }
}

/// Labels of a node, each by its current name and by the one before it.
const INSTANCE_TYPE: [&str; 2] = [
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
];
const REGION: [&str; 2] = [
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
];

/// The address of a volume of this size, such as `gp3:100GiB,iops=6000,region=eu-west-1@m5.large`:
/// `class` and `node` as `kubectl get storageclass NAME -o json` and `kubectl get node NAME -o json`
/// print them. Whose parameters mean what, `data/provisioners.csv` says.
///
/// # Errors
/// A text that is not such an object, or a class of another vendor.
pub fn address(class: &str, node: Option<&str>, size: Bytes) -> Result<String, Mistake> {
    let class = object(class, "StorageClass", "storageclass")?;
    let named = class["provisioner"].as_str().unwrap_or_default();
    let Some(provisioner) = Provisioner::find(named) else {
        return Err(Mistake(format!(
            "the class {} is provisioned by {named:?}; what is promised is known of {}: name the \
             volume yourself with `blocklab diagnose --expect ADDRESS`",
            name(&class),
            Provisioner::names()
        )));
    };
    let parameters = Parameters::new(&class)?;
    let kind = parameters
        .text(provisioner.text("kind"))
        .unwrap_or(provisioner.text("usual"));
    let gib = size.0.div_ceil(1 << 30);
    let mut address = format!("{}{kind}:{gib}GiB", provisioner.text("prefix"));
    if let Some(iops) = iops(&parameters, &provisioner, kind, gib)? {
        address.push_str(&format!(",iops={iops}"));
    }
    let throughput = parameters.number(provisioner.text("throughput"))?;
    if let Some(throughput) = throughput.filter(|_| provisioner.reads_throughput(kind))
        && throughput > 0
    {
        address.push_str(&format!(",throughput={throughput}"));
    }
    let Some(node) = node else {
        return Ok(address);
    };
    let node = object(node, "Node", "node")?;
    if let Some(region) = label(&node, REGION) {
        address.push_str(&format!(",region={region}"));
    }
    let instance = label(&node, INSTANCE_TYPE).ok_or_else(|| {
        let name = name(&node);
        Mistake(format!("the node {name} has no label {}", INSTANCE_TYPE[0]))
    })?;
    Ok(format!(
        "{address}@{}{instance}",
        provisioner.text("machine")
    ))
}

/// The parameters of a storage class.
struct Parameters<'c> {
    class: &'c Value,
}

impl<'c> Parameters<'c> {
    /// The parameters of a class, which in Kubernetes are all texts. A number is refused: passing over it
    /// would promise less than the class does.
    fn new(class: &'c Value) -> Result<Self, Mistake> {
        let mut parameters = class["parameters"].as_object().into_iter().flatten();
        if let Some((key, value)) = parameters.find(|(_, value)| !value.is_string()) {
            return Err(Mistake(format!(
                "the class {}: {key} is {value}, where kubectl prints a string",
                name(class)
            )));
        }
        Ok(Self { class })
    }

    /// The text of a parameter, whose name drivers read in upper or lower case; `None`: it is not there or
    /// empty, or `wanted` is empty, because the vendor has no such parameter.
    fn text(&self, wanted: &str) -> Option<&'c str> {
        let mut parameters = self.class["parameters"].as_object()?.iter();
        let (_, value) = parameters.find(|(key, _)| key.eq_ignore_ascii_case(wanted))?;
        let text = value.as_str().map(str::trim);
        text.filter(|text| !text.is_empty() && !wanted.is_empty())
    }

    /// A whole number, which may have the unit of Kubernetes behind it.
    fn number(&self, wanted: &str) -> Result<Option<u64>, Mistake> {
        let text = self.text(wanted).map(|text| text.trim_end_matches("Mi"));
        text.map(|text| whole(self.class, wanted, text)).transpose()
    }
}

/// The IOPS that a class provisions: a number, or one for each GiB. The driver raises them to the lowest of
/// the volume type if the class allows it, and lowers them to the most for the size; `None`: those that the
/// type has by itself.
fn iops(
    parameters: &Parameters<'_>,
    provisioner: &Provisioner,
    kind: &str,
    gib: u64,
) -> Result<Option<u64>, Mistake> {
    // Drivers take 0 for a parameter that is not given, here and for the throughput.
    let iops = parameters.number(provisioner.text("iops"))?;
    let iops = iops.filter(|iops| *iops > 0);
    let per_gib = parameters.number(provisioner.text("iops_per_gib"))?;
    let Some(least) = provisioner.least_iops(kind) else {
        return Ok(None);
    };
    if iops.is_some() && per_gib.is_some_and(|per_gib| per_gib > 0) {
        return Err(Mistake(format!(
            "the class {} has both {} and {}: its driver takes one of them and refuses both",
            name(parameters.class),
            provisioner.text("iops"),
            provisioner.text("iops_per_gib")
        )));
    }
    let is_raised = parameters.text("allowAutoIOPSPerGBIncrease") == Some("true");
    let raised_to = if is_raised { least } else { 0 };
    let most = provisioner.of_type("most_iops_per_gib", kind);
    let most = most
        .map(|each| each.saturating_mul(gib))
        .filter(|most| *most >= least);
    let wanted = iops.or(per_gib.map(|per_gib| per_gib.saturating_mul(gib)));
    let iops = wanted.map(|wanted| wanted.max(raised_to).min(most.unwrap_or(u64::MAX)));
    Ok(iops.filter(|iops| *iops > 0))
}

/// A label of a node by the first of its names that the node has.
fn label<'n>(node: &'n Value, names: [&str; 2]) -> Option<&'n str> {
    let labels = &node["metadata"]["labels"];
    names.iter().find_map(|name| labels[*name].as_str())
}

/// The object of this kind in a text: by itself, or as the only one of a list.
fn object(text: &str, kind: &str, resource: &str) -> Result<Value, Mistake> {
    let how = format!("`kubectl get {resource} NAME -o json` prints one");
    let whole: Value = serde_json::from_str(text)
        .map_err(|error| Mistake(format!("this is not a {kind} in JSON ({error}); {how}")))?;
    let items = whole["items"]
        .as_array()
        .filter(|_| whole["kind"] == "List");
    let found = match items.map(Vec::as_slice) {
        Some([one]) => one.clone(),
        Some(several) => {
            let count = several.len();
            return Err(Mistake(format!("this list has {count} objects; {how}")));
        }
        None => whole,
    };
    if found["kind"] == kind {
        Ok(found)
    } else {
        Err(Mistake(format!("this is not a {kind}; {how}")))
    }
}

/// The name of an object, for a message.
fn name(object: &Value) -> &str {
    object["metadata"]["name"]
        .as_str()
        .unwrap_or("without a name")
}

/// A parameter as a whole number.
fn whole(class: &Value, parameter: &str, text: &str) -> Result<u64, Mistake> {
    text.parse().map_err(|_| {
        let class = name(class);
        Mistake(format!(
            "the class {class}: {parameter} is {text:?}, which is not a whole number"
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn class(parameters: &Value) -> String {
        json!({
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": { "name": "fast" },
            "provisioner": "ebs.csi.aws.com",
            "parameters": parameters,
        })
        .to_string()
    }

    fn node() -> String {
        let labels = json!({
            "node.kubernetes.io/instance-type": "m5.large",
            "topology.kubernetes.io/region": "eu-west-1",
        });
        json!({ "kind": "Node", "metadata": { "name": "n1", "labels": labels } }).to_string()
    }

    #[track_caller]
    fn check(parameters: &Value, node: Option<&str>, expected: &str) {
        let found = address(&class(parameters), node, Bytes(100 << 30));
        assert_eq!(found.as_deref(), Ok(expected));
    }

    #[test]
    fn parameters_become_an_address() {
        let provisioned = json!({ "type": "gp3", "iops": "6000", "throughput": "250" });
        check(&provisioned, None, "gp3:100GiB,iops=6000,throughput=250");
        check(
            &provisioned,
            Some(&node()),
            "gp3:100GiB,iops=6000,throughput=250,region=eu-west-1@m5.large",
        );
        check(&json!({}), None, "gp3:100GiB");
        check(&Value::Null, None, "gp3:100GiB");
        check(
            &json!({ "type": "io2", "iopsPerGB": "50" }),
            None,
            "io2:100GiB,iops=5000",
        );
        let zero = json!({ "type": "io2", "iops": "0", "iopsPerGB": "50" });
        check(&zero, None, "io2:100GiB,iops=5000");
        // The story: each became a 0 in the address, which the catalog refused.
        let zeros = json!({ "type": "gp3", "iopsPerGB": "0", "throughput": "0" });
        check(&zeros, None, "gp3:100GiB");
        // The driver passes over what the type does not have; the catalog refused the address.
        let without = json!({ "type": "gp2", "iopsPerGB": "50", "throughput": "250" });
        check(&without, None, "gp2:100GiB");
        let raised = json!({
            "type": "io1", "iopsPerGB": "0", "allowAutoIOPSPerGBIncrease": "true",
        });
        check(&raised, None, "io1:100GiB,iops=100");
        check(
            &json!({ "Type": "gp2", "csi.storage.k8s.io/fstype": "xfs" }),
            None,
            "gp2:100GiB",
        );
    }

    /// The story: a class of 6,000 IOPS and a small claim became an address with more IOPS than its size
    /// allows, which the catalog refused. The driver lowers them.
    #[test]
    fn iops_are_those_that_the_driver_makes_of_them() {
        check(
            &json!({ "type": "io1", "iops": "6000" }),
            None,
            "io1:100GiB,iops=5000",
        );
        check(
            &json!({ "type": "io1", "iopsPerGB": "80" }),
            None,
            "io1:100GiB,iops=5000",
        );
        let few = json!({ "type": "gp3", "iops": "2000", "allowAutoIOPSPerGBIncrease": "true" });
        check(&few, None, "gp3:100GiB,iops=3000");
        // Not below the least: the driver leaves it to the vendor to refuse this.
        let tiny = address(
            &class(&json!({ "type": "gp3", "iops": "4000" })),
            None,
            Bytes(1 << 30),
        );
        assert_eq!(tiny.as_deref(), Ok("gp3:1GiB,iops=4000"));
    }

    /// A class of another vendor was refused, whoever it was.
    #[test]
    fn classes_of_other_vendors_become_addresses() {
        let address_of = |provisioner: &str, parameters: Value, instance: &str, region: &str| {
            let class = class(&parameters).replace("ebs.csi.aws.com", provisioner);
            let node = json!({
                "kind": "Node",
                "metadata": { "name": "n", "labels": {
                    "node.kubernetes.io/instance-type": instance,
                    "topology.kubernetes.io/region": region,
                }},
            });
            let found = address(&class, Some(&node.to_string()), Bytes(100 << 30));
            found.expect("an address")
        };
        let v2 = json!({ "skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "6000",
            "DiskMBpsReadWrite": "300" });
        assert_eq!(
            address_of("disk.csi.azure.com", v2, "Standard_D8s_v5", "northeurope"),
            "azure/PremiumV2_LRS:100GiB,iops=6000,throughput=300,region=northeurope\
             @azure/Standard_D8s_v5"
        );
        let hyperdisk = json!({ "type": "hyperdisk-balanced",
            "provisioned-throughput-on-create": "250Mi" });
        assert_eq!(
            address_of(
                "pd.csi.storage.gke.io",
                hyperdisk,
                "c3-standard-8",
                "europe-west1"
            ),
            "gcp/hyperdisk-balanced:100GiB,throughput=250,region=europe-west1@gcp/c3-standard-8"
        );
        let usual = address_of(
            "pd.csi.storage.gke.io",
            json!({}),
            "n2-standard-8",
            "europe-west1",
        );
        assert!(usual.starts_with("gcp/pd-standard:100GiB,"), "{usual}");
    }

    #[test]
    fn a_list_of_one_is_that_one() {
        let list = format!("{{\"kind\": \"List\", \"items\": [{}]}}", class(&json!({})));
        assert!(address(&list, None, Bytes::GIB).is_ok());
        let none = address("{\"kind\": \"List\", \"items\": []}", None, Bytes::GIB);
        assert!(none.is_err_and(|error| error.0.contains("0 objects")));
    }

    #[test]
    fn what_says_nothing_of_a_volume_is_refused_with_what_would_work() {
        let other = class(&json!({})).replace("ebs.csi.aws.com", "rook-ceph.rbd.csi.ceph.com");
        for (class, node, words) in [
            ("", None, "not a StorageClass in JSON"),
            ("[1]", None, "not a StorageClass"),
            (&*other, None, "--expect ADDRESS"),
            (
                &*class(&json!({ "iops": "many" })),
                None,
                "not a whole number",
            ),
            (&*class(&json!({ "iops": 6000 })), None, "iops is 6000"),
            // The driver makes no volume of such a class, and an address was given for it.
            (
                &*class(&json!({ "type": "io2", "iops": "6000", "iopsPerGB": "50" })),
                None,
                "both iops and iopsPerGB",
            ),
            (
                &*class(&json!({})),
                Some("{\"kind\": \"Node\"}"),
                "no label",
            ),
            (
                &*class(&json!({})),
                Some("{\"kind\": \"Pod\"}"),
                "not a Node",
            ),
        ] {
            let error = address(class, node, Bytes::GIB).expect_err(words);
            assert!(error.0.contains(words), "{error}");
        }
    }
}
