//! Clients that others wrote, by TLS: what they send arrives, and nobody else gets anything.

mod stand;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use blocklab_proof::{Lab, root};
use stand::serving::Served;
use stand::{skip, tool};

fn run(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.output().expect("it starts")
}

/// Certificates in a folder of the lab; `false`: there is nothing to make them with.
fn certify(lab: &Lab, folder: &str) -> bool {
    if tool("openssl", &["version"]).is_none() {
        return false;
    }
    let script = root().join("scripts/certificates");
    let made = Command::new(script).arg(lab.path().join(folder)).status();
    made.expect("a script").success()
}

fn uri(lab: &Lab, folder: &str) -> String {
    let path = lab.path().display();
    format!("nbds+unix://localhost/?socket={path}/s&tls-certificates={path}/{folder}")
}

fn serve(lab: &Lab) -> Served {
    let arguments = "gp3:1GiB --name db --nbd unix:s --tls-certificates pki --size 8MiB --no-save";
    Served::start(lab, &arguments.split(' ').collect::<Vec<_>>())
}

#[test]
fn libnbd_copies_by_tls_and_strangers_get_nothing() {
    let lab = Lab::new();
    if tool("nbdcopy", &["--version"]).is_none() || !certify(&lab, "pki") {
        return;
    }
    let served = serve(&lab);
    let (own, path) = (uri(&lab, "pki"), |name: &str| {
        lab.path().join(name).display().to_string()
    });
    let data: Vec<u8> = (0..3u32 << 20).map(|at| (at / 4099) as u8).collect();
    fs::write(path("data"), &data).expect("written");
    let copied = run("nbdcopy", &[&path("data"), &own]);
    assert!(copied.status.success(), "{copied:?}");
    let copied = run("nbdcopy", &[&own, &path("back")]);
    assert!(copied.status.success(), "{copied:?}");
    let back = fs::read(path("back")).expect("copied");
    assert!(back[..data.len()] == data, "the same bytes");
    assert_eq!(back.len(), 8 << 20);

    // Without TLS, without a certificate, with one of another authority.
    assert!(certify(&lab, "stranger"));
    fs::create_dir(path("nobody")).expect("made");
    for folder in ["stranger", "nobody"] {
        let authority = Path::new(folder).join("ca-cert.pem");
        fs::copy(path("pki/ca-cert.pem"), lab.path().join(authority)).expect("copied");
    }
    let plain = format!("nbd+unix:///?socket={}/s", lab.path().display());
    for refused in [plain, uri(&lab, "nobody"), uri(&lab, "stranger")] {
        let ran = run("nbdinfo", &[&refused]);
        assert!(!ran.status.success(), "{refused}: {ran:?}");
        assert!(!String::from_utf8_lossy(&ran.stdout).contains("export-size"));
    }
    let size = run("nbdinfo", &["--size", &own]);
    assert_eq!(size.stdout, b"8388608\n", "served as before: {size:?}");
    assert_eq!(served.end(), Some(0));
}

#[test]
fn qemu_reads_what_it_wrote_by_tls() {
    let lab = Lab::new();
    if tool("qemu-io", &["--version"]).is_none() || !certify(&lab, "pki") {
        return;
    }
    let served = serve(&lab);
    let path = lab.path().display();
    let image = format!(
        "driver=nbd,server.type=unix,server.path={path}/s,export=db,tls-creds=t,\
         tls-hostname=localhost"
    );
    let object = format!("tls-creds-x509,id=t,dir={path}/pki,endpoint=client");
    let mut words = vec!["--object", &object, "--image-opts", &image];
    words.extend(["-c", "write -P 7 12345 100000", "-c", "flush"]);
    words.extend(["-c", "read -P 7 12345 100000"]);
    let ran = run("qemu-io", &words);
    let text = String::from_utf8_lossy(&ran.stderr).into_owned();
    if text.contains("TLS") && text.contains("not") && text.contains("support") {
        skip("QEMU by TLS", &text);
        return;
    }
    assert!(ran.status.success(), "{ran:?}");
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(printed.contains("read 100000/100000"), "{printed}");
    assert!(!printed.contains("verification failed"), "{printed}");
    assert_eq!(served.end(), Some(0));
}
