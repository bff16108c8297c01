"""Reads the runs of blocklab: one file, nothing but Python's own library (3.8 or newer).

    import blocklab
    run = blocklab.load("latest")            # an id, its end, a name, a path, or a file of `export`
    run.totals                               # a row for each measurement, job and direction
    run.frame("totals")                      # the same as a pandas DataFrame, where pandas is there
    run.series                               # a row for each interval
    run.histogram("rand4k-q1-read", "read")  # all passes together: quantile(0.999), bins()
    run.findings                             # what `blocklab show` says of it

The figures are those of `blocklab export --format csv`, to the last digit. Unknown is None, never 0.
Licence: MIT OR Apache-2.0.
"""

import base64
import json
import math
import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

# The newest format of a record that is read here.
FORMAT = 2

PERCENTILES = {
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "p9999": 0.9999,
}


class NotARun(ValueError):
    """A file that is no run, or one that a newer blocklab wrote."""


def store():
    """The folder of the runs: as the program finds it."""
    given = os.environ.get("BLOCKLAB_STORE")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(given) if given else Path(data) / "blocklab/runs"


def runs(folder=None):
    """All finished runs, the newest first; what cannot be read is left out."""
    found = []
    for path in sorted(Path(folder or store()).glob("*/record.json"), reverse=True):
        # A folder with an ending holds what a run has not finished.
        if "." not in path.parent.name:
            try:
                found.append(Run(json.loads(path.read_text())))
            except (NotARun, ValueError, KeyError):
                continue
    return found


def load(spec="latest", folder=None):
    """One run: by id, the last part of it, the name of the run, a path, or `latest`."""
    path = Path(spec)
    if path.is_dir():
        path = path / "record.json"
    if path.is_file():
        return Run(json.loads(path.read_text()))
    known = runs(folder)
    for run in known:
        if spec in ("latest", run.id, run.id[-3:], run.name):
            return run
    raise NotARun(f"no run {spec!r} in {folder or store()} ({len(known)} runs are there)")


class Run:
    """A run with its figures. `record` is all of it, as docs/json.md describes."""

    def __init__(self, record):
        if not isinstance(record, dict) or "measurements" not in record:
            raise NotARun("this is no record of blocklab")
        if record.get("format") != FORMAT:
            raise NotARun(
                f"format {record.get('format')} is not read here (only {FORMAT}): "
                "`blocklab export RUN --format json` writes older runs in the present format"
            )
        self.record = record
        self.id = record["id"]
        requested = record.get("requested") or record["asked"]  # the name in older records
        self.name = requested["name"]

    def __repr__(self):
        return f"<run {self.id}: {self.name}, {self.record['status']}>"

    @property
    def totals(self):
        """A list of dicts: one for each measurement, job and direction."""
        rows = []
        for measurement in self.record["measurements"]:
            for job in measurement["jobs"]:
                directions = job["directions"].items() or [(None, None)]
                rows += [self._total(measurement, job, *it) for it in directions]
        return rows

    @property
    def series(self):
        """A list of dicts: one for each interval of each measurement."""
        rows = []
        for measurement in self.record["measurements"]:
            rows += [self._interval(measurement, it) for it in measurement["series"]]
        return rows

    @property
    def findings(self):
        """What blocklab says of the run; the program must be there, and know the run."""
        program = os.environ.get("BLOCKLAB") or shutil.which("blocklab")
        if program is None:
            raise FileNotFoundError("findings are the program's: put `blocklab` into PATH")
        told = subprocess.run([program, "show", self.id, "--json"], capture_output=True, text=True)
        if told.returncode != 0:
            raise NotARun(told.stderr.strip())
        return json.loads(told.stdout)["findings"]

    def histogram(self, case=None, direction=None, latency="service"):
        """All latencies of a case and a direction, all passes that count together."""
        merged = Histogram()
        for measurement in self.record["measurements"]:
            if measurement["pass"] == 0 or case not in (None, measurement["case"]):
                continue
            for job in measurement["jobs"]:
                for name, did in job["directions"].items():
                    if direction in (None, name) and did[latency]:
                        merged += Histogram.decode(did[latency]["histogram_hdr"])
        return merged

    def frame(self, what="totals"):
        """`totals` or `series` as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(getattr(self, what))

    def _head(self, measurement):
        targets = " ".join(target["path"] for target in self.record["targets"])
        row = {"run": self.id, "study": self.name, "target": targets}
        row["origin"] = self.record["origin"]
        row["run_status"] = self.record["status"]
        row["case"] = measurement["case"]
        row["pass"] = measurement["pass"]
        row.update({f"setting_{name}": value for name, value in measurement["settings"]})
        return row

    def _total(self, measurement, job, direction, did):
        row = self._head(measurement)
        row.update(job=job["name"], access=job["access"], durability=job["durability"])
        row.update(threads=job["threads"], depth=job["depth"], direct=job["direct"])
        row.update(stopped=job["stopped"], direction=direction, measured_ns=job["elapsed_ns"])
        seconds = max(job["elapsed_ns"], 1) / 1e9
        row["ios"] = did and did["ios"]
        row["bytes"] = did and did["bytes"]
        row["iops"] = did and did["ios"] / seconds
        row["bytes_per_s"] = did and did["bytes"] / seconds
        for which in ("service", "response", "submit"):
            row.update(_latency(which, did and did[which]))
        return row

    def _interval(self, measurement, interval):
        row = self._head(measurement)
        row.update({name: interval[name] for name in ("end_ns", "length_ns", "ramp")})
        seconds = max(interval["length_ns"], 1) / 1e9
        for direction in ("read", "write", "trim"):
            did = interval[direction]
            amounts = {"ios": did["ios"], "bytes": did["bytes"]}
            amounts["iops"] = did["ios"] / seconds
            amounts["bytes_per_s"] = None if did["bytes"] is None else did["bytes"] / seconds
            row.update({f"{direction}_{name}": value for name, value in amounts.items()})
            for statistic in ("mean", "p50", "p99", "max"):
                # Without operations there is no latency.
                value = did[f"{statistic}_ns"] if did["ios"] else None
                row[f"{direction}_service_ns_{statistic}"] = value
        return row


def _latency(which, latency):
    column = lambda statistic: f"{which}_ns_{statistic}"
    names = ("min", "mean", "stddev", *PERCENTILES, "max")
    if not latency:
        return {column(name): None for name in names}
    row = {column(name): latency.get(f"{name}_ns") for name in names}
    for name, share in PERCENTILES.items():
        # The record keeps some percentiles; the others come from its histogram.
        if f"{name}_ns" not in latency and latency["histogram_hdr"]:
            value = Histogram.decode(latency["histogram_hdr"]).quantile(share)
            row[column(name)] = min(max(value, latency["min_ns"]), latency["max_ns"])
    return row


class Histogram:
    """Counts of latencies in nanoseconds, 64 buckets for every power of two.

    A quantile is the middle of its bucket, so it is within 1/128 of the true value.
    """

    def __init__(self, counts=None):
        self.counts = dict(counts or {})

    @classmethod
    def decode(cls, text):
        """Reads HdrHistogram V2, compressed, in base64 (https://hdrhistogram.github.io)."""
        packed = base64.b64decode(text)
        cookie, length = struct.unpack_from(">II", packed)
        if cookie & ~0xF0 != 0x1C849304:
            raise NotARun("this is no compressed histogram of version 2")
        plain = zlib.decompress(packed[8 : 8 + length])
        _, length, _, digits, lowest = struct.unpack_from(">IIIIQ", plain)
        half = 1 << (math.ceil(math.log2(2 * 10**digits)) - 1)
        unit = int(math.log2(max(lowest, 1)))
        counts, index = {}, 0
        for count in _zigzag(plain[40 : 40 + length]):
            if count < 0:
                index -= count
                continue
            if count:
                bucket = _bucket(_hdr_value(index, half) << unit)
                counts[bucket] = counts.get(bucket, 0) + count
            index += 1
        return cls(counts)

    def __add__(self, other):
        counts = dict(self.counts)
        for bucket, count in other.counts.items():
            counts[bucket] = counts.get(bucket, 0) + count
        return Histogram(counts)

    @property
    def count(self):
        return sum(self.counts.values())

    def quantile(self, share):
        """Nanoseconds below which this share (0 to 1) of the operations stayed; 0 without any."""
        total = self.count
        rank = min(max(math.ceil(share * total), min(1, total)), total)
        seen = value = 0
        for bucket in sorted(self.counts):
            if seen >= rank:
                break
            seen += self.counts[bucket]
            value = _middle(bucket)
        return value

    def bins(self):
        """(lowest ns, highest ns, operations) of each bucket that holds some."""
        edges = ((_lowest(it), _lowest(it + 1) - 1, self.counts[it]) for it in sorted(self.counts))
        return list(edges)


def _zigzag(data):
    """Integers in LEB128 with the sign in the lowest bit; a ninth byte has eight bits."""
    at = 0
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte if shift == 56 else byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 56:
                break
        yield (value >> 1) ^ -(value & 1)


def _hdr_value(index, half):
    bucket, sub = index // half - 1, index % half + half
    return sub - half if bucket < 0 else sub << bucket


def _bucket(value):
    shift = max((value | 64).bit_length() - 7, 0)
    return min((shift << 6) + (value >> shift), (35 << 6) - 1)


def _lowest(bucket):
    shift = max((bucket >> 6) - 1, 0)
    return (bucket - (shift << 6)) << shift


def _middle(bucket):
    return _lowest(bucket) + (_lowest(bucket + 1) - 1 - _lowest(bucket)) // 2
