"""Packs target/dist/blocklab into what people install; called by scripts/dist.

Every package is made of the same files and, for the same commit, of the same bytes: sorted names,
one date (SOURCE_DATE_EPOCH), one owner.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
MACHINES = {"x86_64": ("amd64", "x86_64"), "aarch64": ("arm64", "aarch64")}
SUMMARY = "A lab bench for block storage"
ABOUT = """Benchmarks disks and cloud volumes, tells how far to trust each number, and
names the limit that holds a disk back. Runs the scripts of fio, DiskSpd,
Vdbench and CrystalDiskMark unchanged, and simulates or serves volumes that
nobody rented."""
# Who answers for a package is whoever publishes it. Debian wants an address; one below .invalid
# (RFC 2606) is known to be none.
MAINTAINER = os.environ.get("DEB_MAINTAINER", "The blocklab authors <blocklab@packager.invalid>")


# What a package page shows, and where people search.
CLASSIFIERS = """Development Status :: 4 - Beta
Environment :: Console
Intended Audience :: Developers
Intended Audience :: System Administrators
License :: OSI Approved :: Apache Software License
License :: OSI Approved :: MIT License
Operating System :: POSIX :: Linux
Programming Language :: Python :: 3
Programming Language :: Rust
Topic :: System :: Benchmark
Topic :: System :: Filesystems
Topic :: System :: Hardware"""


def of_cargo(key):
    text = Path("Cargo.toml").read_text() + Path("crates/cli/Cargo.toml").read_text()
    return re.search(rf'^{key} = "([^"]+)"', text, re.M).group(1)


def version():
    return of_cargo("version")


def repository():
    """Where the source is: what the publisher says, else the repository of the workflow, else unknown.

    Every link of every package comes from here; where it is unknown, they have none.
    """
    if os.environ.get("BLOCKLAB_REPOSITORY"):
        return os.environ["BLOCKLAB_REPOSITORY"].rstrip("/")
    if "GITHUB_REPOSITORY" in os.environ:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    return None


def revision():
    """The commit, where this is a checkout of one."""
    call = ["git", "rev-parse", "HEAD"]
    said = subprocess.run(call, capture_output=True, text=True)
    return os.environ.get("GITHUB_SHA") or said.stdout.strip()


def absolute(page):
    """A page whose links to other files of the source work everywhere."""
    if repository() is None:
        return page
    at = f"v{version()}"

    def link(found):
        mark, text, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found.group(0)
        kind = "raw" if mark else "blob"
        return f"{mark}[{text}]({repository()}/{kind}/{at}/{target})"

    return re.sub(r"(!?)\[([^]]*)\]\(([^)]+)\)", link, page)


def files(out):
    """What every package carries besides the binary: name in the archive, content."""
    found = {}
    for path in sorted((out / "tree/man").glob("*.1")):
        found[f"man/{path.name}"] = path.read_bytes()
    for path in sorted((out / "tree/completions").iterdir()):
        found[f"completions/{path.name}"] = path.read_bytes()
    for path in sorted(Path("studies").iterdir()):
        found[f"studies/{path.name}"] = path.read_bytes()
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md", "SECURITY.md"):
        found[name] = Path(name).read_bytes()
    found["THIRD-PARTY.txt"] = third_party().encode()
    found["sbom.cdx.json"] = sbom().encode()
    return found


def dependencies():
    """The crates that the binary is linked of, ours apart."""
    call = ["cargo", "metadata", "--format-version", "1", "--locked"]
    told = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
    by_id = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    todo = [id for id, package in by_id.items() if package["name"] == "blocklab"]
    seen = set(todo)
    while todo:
        for dep in nodes[todo.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dep["dep_kinds"])
            if is_linked and dep["pkg"] not in seen:
                seen.add(dep["pkg"])
                todo.append(dep["pkg"])
    linked = [by_id[id] for id in seen if by_id[id]["source"]]
    return sorted(linked, key=lambda package: (package["name"], package["version"]))


def third_party():
    lines = [
        "The binary is linked of these libraries, under the licences that each names.",
        "",
        "GNU C Library (glibc): LGPL-2.1-or-later, statically linked. The sources of this program",
        "and its build script (scripts/dist) are public, so it can be linked again with another",
        "version of that library, as section 6 of that licence asks. Its sources come with the",
        "distribution that the release was built on.",
        "Rust standard library: MIT OR Apache-2.0.",
        "",
    ]
    for package in dependencies():
        licence = package["license"] or f"see {package['license_file']}"
        lines.append(f"{package['name']} {package['version']}: {licence}")
    return "\n".join(lines) + "\n" + "".join(licence_texts())


def licence_texts():
    """The terms and copyright lines that come with each library, every text once."""
    names = {}
    for package in dependencies():
        folder = Path(package["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if re.match(r"(?i)(licen[cs]e|copying|copyright|notice)", path.name) and path.is_file():
                text = without_apache(path.read_text(errors="replace").strip())
                names.setdefault(text, []).append(f"{package['name']} {package['version']}")
    for text, of in sorted(names.items(), key=lambda it: it[1]):
        yield f"\n{'=' * 78}\n{', '.join(of)}\n{'=' * 78}\n\n{text}\n"


def without_apache(text):
    """Every package holds or names that licence once; what is a library's own is who wrote it."""
    if not re.search(r"Apache License\s+Version 2\.0, January 2004", text):
        return text
    own = re.findall(r"^ *Copyright (?!\[|\(c\) \[)[^\n]*\d{4}[^\n]*", text, re.M)
    own = sorted({line.strip() for line in own})
    return "\n".join(["Apache License 2.0, whose text is in LICENSE-APACHE.", *own])


def sbom():
    """CycloneDX 1.5."""
    components = []
    for package in dependencies():
        purl = f"pkg:cargo/{package['name']}@{package['version']}"
        component = {
            "type": "library",
            "bom-ref": purl,
            "name": package["name"],
            "version": package["version"],
            "purl": purl,
        }
        if package["license"]:
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        components.append(component)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    own = {"type": "application", "name": "blocklab", "version": version()}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    bom |= {"metadata": {"timestamp": stamp, "component": own}, "components": components}
    return json.dumps(bom, indent=1) + "\n"


def tar(entries, target):
    """`entries`: name, content (None: a folder), mode, owner."""
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode, owner in entries:
            info = tarfile.TarInfo(name)
            info.mode, info.mtime, info.uid, info.gid = mode, EPOCH, owner, owner
            if content is None:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


def zipped_tar(entries):
    plain = io.BytesIO()
    tar(entries, plain)
    return gzip.compress(plain.getvalue(), 9, mtime=0)


def archive(out, triple, binary, carried):
    top = f"blocklab-{version()}-{triple}"
    entries = [(f"{top}/blocklab", binary, 0o755, 0)]
    entries += [(f"{top}/{name}", content, 0o644, 0) for name, content in carried.items()]
    path = out / f"{top}.tar.gz"
    path.write_bytes(zipped_tar(entries))
    return path


def deb(out, triple, binary, carried):
    if shutil.which("dpkg-deb") is None:
        print("no dpkg-deb here: no Debian package")
        return None
    architecture = MACHINES[triple.split("-")[0]][0]
    path = out / f"blocklab_{version()}-1_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        doc = "usr/share/doc/blocklab"
        zipped = lambda content: gzip.compress(content, 9, mtime=0)
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(EPOCH))
        log = f"blocklab ({version()}-1) unstable; urgency=medium\n\n"
        log += "  * New release; CHANGELOG.md in the source tells what changed.\n\n"
        log += f" -- {MAINTAINER}  {date}\n"
        terms = b"blocklab: MIT OR Apache-2.0\n\n"
        terms += b"Copyright 2026 The blocklab authors\n\n" + carried["LICENSE-MIT"]
        terms += b"\nOr the Apache License 2.0: /usr/share/common-licenses/Apache-2.0\n\n"
        terms += carried["THIRD-PARTY.txt"]
        placed = {
            "usr/bin/blocklab": (binary, 0o755),
            f"{doc}/copyright": (terms, 0o644),
            f"{doc}/changelog.Debian.gz": (zipped(log.encode()), 0o644),
            "usr/share/bash-completion/completions/blocklab": (
                carried["completions/blocklab.bash"],
                0o644,
            ),
            "usr/share/zsh/vendor-completions/_blocklab": (
                carried["completions/blocklab.zsh"],
                0o644,
            ),
            "usr/share/fish/vendor_completions.d/blocklab.fish": (
                carried["completions/blocklab.fish"],
                0o644,
            ),
            # What is static by intent; as a position-independent program it looks like a library.
            "usr/share/lintian/overrides/blocklab": (
                b"blocklab: statically-linked-binary [usr/bin/blocklab]\n"
                b"blocklab: shared-library-lacks-prerequisites [usr/bin/blocklab]\n"
                b"blocklab: initial-upload-closes-no-bugs [usr/share/doc/blocklab/changelog.Debian.gz:1]\n",
                0o644,
            ),
        }
        for name, content in carried.items():
            if name.startswith("man/"):
                placed[f"usr/share/man/man1/{name[4:]}.gz"] = (zipped(content), 0o644)
            if name.startswith("studies/"):
                placed[f"{doc}/examples/{name[8:]}"] = (content, 0o644)
        for name, (content, mode) in placed.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(mode)
        size = sum(len(content) for content, _ in placed.values()) // 1024
        about = "".join(f" {line}\n" for line in ABOUT.splitlines())
        homepage = f"Homepage: {repository()}\n" if repository() else ""
        control = f"""Package: blocklab
Version: {version()}-1
Architecture: {architecture}
Maintainer: {MAINTAINER}
Installed-Size: {size}
Section: utils
Priority: optional
{homepage}Description: lab bench for block storage
{about}"""
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(control)
        sums = "".join(
            f"{hashlib.md5(content).hexdigest()}  {name}\n"
            for name, (content, _) in sorted(placed.items())
        )
        (root / "DEBIAN/md5sums").write_text(sums)
        for parent, folders, names in os.walk(root):
            os.chmod(parent, 0o755)
            for name in folders + names:
                os.utime(Path(parent) / name, (EPOCH, EPOCH))
        call = ["dpkg-deb", "--root-owner-group", "--build", str(root), str(path)]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    return path


def wheel(out, triple, binary, carried):
    """A wheel of the form that carries a program: pip puts it into the environment's `bin`."""
    machine = MACHINES[triple.split("-")[0]][1]
    # Static, so any kernel that Python's own wheels run on serves.
    tag = f"py3-none-manylinux2014_{machine}.manylinux_2_17_{machine}"
    name = f"blocklab-{version()}"
    meta = f"Metadata-Version: 2.1\nName: blocklab\nVersion: {version()}\nSummary: {SUMMARY}\n"
    meta += "License: MIT OR Apache-2.0\nRequires-Python: >=3.8\n"
    meta += "Keywords: benchmark,storage,iops,latency,disk,fio\n"
    meta += "".join(f"Classifier: {line}\n" for line in CLASSIFIERS.splitlines())
    if repository():
        at = f"{repository()}/blob/v{version()}"
        meta += f"Home-page: {repository()}\nProject-URL: Source, {repository()}\n"
        meta += f"Project-URL: Documentation, {at}/docs/README.md\n"
        meta += f"Project-URL: Changelog, {at}/CHANGELOG.md\n"
        meta += f"Project-URL: Issues, {repository()}/issues\n"
    meta += "Description-Content-Type: text/markdown\n\n" + absolute(carried["README.md"].decode())
    how = "Wheel-Version: 1.0\nGenerator: blocklab\nRoot-Is-Purelib: false\n"
    how += "".join(f"Tag: py3-none-{platform}\n" for platform in tag[9:].split("."))
    info = f"{name}.dist-info"
    placed = [
        # `import blocklab`: the reader of runs.
        ("blocklab.py", Path("contrib/python/blocklab.py").read_bytes(), 0o644),
        (f"{name}.data/scripts/blocklab", binary, 0o755),
        (f"{info}/METADATA", meta.encode(), 0o644),
        (f"{info}/WHEEL", how.encode(), 0o644),
        (f"{info}/LICENSE-MIT", carried["LICENSE-MIT"], 0o644),
        (f"{info}/LICENSE-APACHE", carried["LICENSE-APACHE"], 0o644),
        (f"{info}/THIRD-PARTY.txt", carried["THIRD-PARTY.txt"], 0o644),
    ]
    digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    record = "".join(
        f"{path},sha256={digest(content).rstrip(b'=').decode()},{len(content)}\n"
        for path, content, _ in placed
    )
    placed.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    path = out / f"{name}-{tag}.whl"
    date = max(time.gmtime(EPOCH)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file, content, mode in placed:
            entry = zipfile.ZipInfo(file, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)
    return path


def image(out, triple, binary, carried):
    """An OCI layout with one layer: the binary, its licences, an empty store and /tmp."""
    layer = io.BytesIO()
    entries = [
        ("blocklab", binary, 0o755, 0),
        ("THIRD-PARTY.txt", carried["THIRD-PARTY.txt"], 0o644, 0),
        ("LICENSE-MIT", carried["LICENSE-MIT"], 0o644, 0),
        ("LICENSE-APACHE", carried["LICENSE-APACHE"], 0o644, 0),
        ("data", None, 0o755, 65532),
        ("runs", None, 0o755, 65532),
        ("tmp", None, 0o1777, 0),
    ]
    tar(entries, layer)
    plain = layer.getvalue()
    packed = gzip.compress(plain, 9, mtime=0)
    digest = lambda data: "sha256:" + hashlib.sha256(data).hexdigest()
    as_json = lambda value: json.dumps(value, sort_keys=True).encode()
    architecture = MACHINES[triple.split("-")[0]][0]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    labels = {
        "org.opencontainers.image.title": "blocklab",
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.version": version(),
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        "org.opencontainers.image.created": stamp,
        "org.opencontainers.image.vendor": "The blocklab authors",
    }
    if revision():
        labels["org.opencontainers.image.revision"] = revision()
    if repository():
        labels["org.opencontainers.image.source"] = repository()
        labels["org.opencontainers.image.url"] = repository()
        labels["org.opencontainers.image.documentation"] = (
            f"{repository()}/blob/v{version()}/docs/README.md"
        )
    config = as_json(
        {
            "architecture": architecture,
            "os": "linux",
            "created": stamp,
            "config": {
                "User": "65532:65532",
                "Entrypoint": ["/blocklab"],
                "Env": ["BLOCKLAB_STORE=/runs", "HOME=/runs"],
                "WorkingDir": "/data",
                "Volumes": {"/runs": {}, "/data": {}},
                "Labels": labels,
            },
            "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
            "history": [{"created": stamp, "created_by": "scripts/dist"}],
        }
    )
    oci = "application/vnd.oci.image"
    described = lambda kind, data: {
        "mediaType": f"{oci}.{kind}",
        "digest": digest(data),
        "size": len(data),
    }
    manifest = as_json(
        {
            "schemaVersion": 2,
            "mediaType": f"{oci}.manifest.v1+json",
            "config": described("config.v1+json", config),
            "layers": [described("layer.v1.tar+gzip", packed)],
        }
    )
    entry = described("manifest.v1+json", manifest)
    entry["annotations"] = {"org.opencontainers.image.ref.name": version()}
    index = as_json({"schemaVersion": 2, "manifests": [entry]})
    blob = lambda data: (f"blobs/sha256/{digest(data)[7:]}", data, 0o644, 0)
    path = out / f"blocklab-{version()}-{architecture}.oci.tar"
    with path.open("wb") as file:
        layout = as_json({"imageLayoutVersion": "1.0.0"})
        parts = [("oci-layout", layout, 0o644, 0), ("index.json", index, 0o644, 0)]
        tar(parts + [blob(manifest), blob(config), blob(packed)], file)
    return path


def run(*call, **more):
    done = subprocess.run(call, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, call))}: {done.stdout}{done.stderr}")
    return done.stdout


def unpacked_image(path, root):
    """As a container runtime does it: index, manifest, layer."""
    layout = Path(root) / "layout"
    with tarfile.open(path) as packed:
        packed.extractall(layout)
    blob = lambda digest: layout / "blobs" / digest.replace(":", "/")
    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
    files = Path(root) / "files"
    for layer in manifest["layers"]:
        data = blob(layer["digest"]).read_bytes()
        assert "sha256:" + hashlib.sha256(data).hexdigest() == layer["digest"]
        with tarfile.open(fileobj=io.BytesIO(data)) as packed:
            packed.extractall(files)
    return files


def installed_in(root, deb):
    """As dpkg does it on a system that holds nothing else."""
    state = root / "var/lib/dpkg"
    for name in ("info", "updates", "triggers"):
        (state / name).mkdir(parents=True)
    for name in ("status", "available"):
        (state / name).touch()
    run("dpkg", f"--root={root}", "--install", str(deb))


def measure_in(root, program="/blocklab"):
    """The first command in a folder that holds nothing but what was installed."""
    small = ["run", "quick", "--target", "sim:gp3:1TiB", "--seed", "1", "--store", "/runs"]
    told = run("chroot", str(root), program, *small)
    assert "IOPS" in told, told


def check(out, triple):
    machine = MACHINES[triple.split("-")[0]]
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty"
        empty.mkdir()
        shutil.copy(out / "blocklab", empty / "blocklab")
        measure_in(empty)
        print("binary: runs in an empty root")

        measure_in(unpacked_image(next(out.glob("*.oci.tar")), folder))
        print("image: its layer unpacked runs")

        deb = next(out.glob(f"*_{machine[0]}.deb"), None)
        if deb:
            root = Path(folder) / "deb"
            installed_in(root, deb)
            assert version() in run("chroot", str(root), "/usr/bin/blocklab", "--version")
            measure_in(root, "/usr/bin/blocklab")
            if shutil.which("lintian"):
                said = run("lintian", "--fail-on", "error,warning", str(deb))
                print(f"deb: installed in an empty root, runs; lintian {said.strip() or 'is content'}")
            else:
                print("deb: installed in an empty root, runs; no lintian here")

        run(sys.executable, "-m", "venv", f"{folder}/venv")
        wheel = str(next(out.glob("*.whl")))
        run(f"{folder}/venv/bin/pip", "install", "-q", "--no-index", wheel)
        assert version() in run(f"{folder}/venv/bin/blocklab", "--version")
        run(f"{folder}/venv/bin/python", "-c", "import blocklab; blocklab.load")
        print("wheel: installed in a fresh environment, runs")


def main():
    arguments = sys.argv[1:]
    checks = arguments[0] == "--check"
    triple, out = arguments[-2], Path(arguments[-1])
    if checks:
        return check(out, triple)
    binary = (out / "blocklab").read_bytes()
    carried = files(out)
    made = [make(out, triple, binary, carried) for make in (archive, deb, wheel, image)]
    made = [path for path in made if path] + [out / "blocklab"]
    (out / "sbom.cdx.json").write_bytes(carried["sbom.cdx.json"])
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in made:
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")


main()
