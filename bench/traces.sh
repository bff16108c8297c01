#!/bin/sh
# The speed of traces, measured here: analysis from the own format and from
# CSV, and a replay at 50,000 operations a second on the null target.
#
#   bench/traces.sh [BLOCKLAB] [OPERATIONS] [MINUTES]
#
# Needs about 60 bytes of disk an operation in $TMPDIR. A replay wants a processor of its own.
set -eu

blocklab=${1:-target/release/blocklab}
operations=${2:-20000000}
minutes=${3:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# 20 µs apart, 64 GiB, one in three reads, one in four goes on where the one before ended.
awk -v n="$operations" 'BEGIN {
    x = 1; end = 0
    for (i = 0; i < n; i++) {
        x = (x * 69069 + 1) % 4294967296
        offset = x % 4 == 0 ? end : (x % 16777216) * 4096
        length_ = x % 8 == 1 ? 65536 : 4096
        end = offset + length_
        printf "%d,%s,%.0f,%d\n", i * 20, x % 3 ? "W" : "R", offset, length_
    }
}' > "$folder/made.csv"
columns=time=1:us,op=2,offset=3,length=4

timed() {
    name=$1
    shift
    began=$(date +%s.%N)
    "$@" > "$folder/out"
    ended=$(date +%s.%N)
    echo "$name $began $ended $operations" |
        awk '{ s = $(NF - 1) - $(NF - 2); printf "%s: %.2f s, %.2f million operations a second\n", substr($0, 1, index($0, $(NF - 2)) - 2), s, $NF / s / 1e6 }'
}

timed "import from CSV" "$blocklab" trace import "$folder/made.csv" --columns $columns -o "$folder/made.trace" --json
timed "show from CSV, without reuse" "$blocklab" trace show "$folder/made.csv" --columns $columns --no-reuse
timed "show from the own format, without reuse" "$blocklab" trace show "$folder/made.trace" --no-reuse
timed "show from the own format, with reuse" "$blocklab" trace show "$folder/made.trace"
ls -l "$folder/made.trace" | awk -v n="$operations" '{ printf "own format: %.1f bytes an operation\n", $5 / n }'

awk -v n="$((minutes * 60 * 50000))" 'BEGIN { for (i = 0; i < n; i++) printf "%d,W,%.0f,4096\n", i * 20, i % 1000000 * 4096 }' |
    "$blocklab" trace import - --columns $columns -o "$folder/even.trace" --json > "$folder/out"
"$blocklab" run --trace "$folder/even.trace" --target null --quiet --no-save
