#!/usr/bin/env bash
# usage: python_examples.sh STAVE
#
# Runs examples/python against the built program. Without python3 it says so and
# ends with 77, which the test runner counts as skipped.
set -euo pipefail

if ! command -v python3 >/dev/null; then
  echo "skipped: there is no python3 here"
  exit 77
fi
if ! python3 -c 'import sqlite3, argparse, json' 2>/dev/null; then
  echo "skipped: this python3 has no sqlite3 module"
  exit 77
fi

stave=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples/python")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "failed: $*" >&2
  exit 1
}

# What it writes is a formatted schedule that keeps all rules, for rings that are shorter
# and longer than the buffer.
for ranks in 1 2 3 4 8; do
  for depth in 2 3 5; do
    python3 "$examples/write_ring.py" --ranks "$ranks" --depth "$depth" --m 2 --k 4 --n 2 -o ring.stave
    "$stave" fmt --check ring.stave || fail "ranks $ranks, depth $depth: not formatted"
    "$stave" check ring.stave >check.txt 2>&1 || { cat check.txt; fail "ranks $ranks, depth $depth: check"; }
  done
done

# Its product is that of the ring in examples/: bit by bit, from the same inputs.
for ranks in 2 4; do
  python3 "$examples/write_ring.py" --ranks "$ranks" --depth 3 --m 2 --k 4 --n 2 -o ring.stave
  "$stave" run ring.stave --input a=random:7 --input b=random:8 --save c=written.npy >/dev/null
  "$stave" run "$examples/../ring_matmul_$ranks.stave" --param m=2 --param k=4 --param n=2 \
    --input a=random:7 --input b=random:8 --save c=shipped.npy >/dev/null
  cmp written.npy shipped.npy || fail "ranks $ranks: another product than ring_matmul_$ranks"
done

if python3 "$examples/write_ring.py" --depth 1 >/dev/null 2>message.txt; then fail "--depth 1 is an error"; fi
grep -q "at least 2" message.txt || fail "--depth 1 does not say the rule"

# The busy time of each stream is what `stave report` says.
python3 "$examples/write_ring.py" --ranks 2 -o ring.stave
"$stave" sim ring.stave --machine h200-x2 -o run.sqlite >/dev/null
python3 "$examples/read_run.py" run.sqlite --json >read.json
"$stave" report run.sqlite --json >report.json
python3 - <<'PYTHON'
import json

read = {(s["rank"], s["stream"]): s["busy_ps"] for s in json.load(open("read.json"))}
report = {
    (rank["rank"], stream["stream"]): stream["busy_ps"]
    for rank in json.load(open("report.json"))["ranks"]
    for stream in rank["streams"]
}
assert len(read) == 4, f"two ranks with two streams each, got {sorted(read)}"
assert all(busy > 0 for busy in read.values()), read
assert read == report, f"read_run.py says {read}, stave report {report}"
PYTHON
python3 "$examples/read_run.py" run.sqlite >table.txt
grep -q "communication 0" table.txt || { cat table.txt; fail "the table has no communication stream"; }

# A file that is no run, and one that is not there, are told in a line.
echo "no database, but long enough to be looked at" >other.sqlite
for file in other.sqlite missing.sqlite; do
  if python3 "$examples/read_run.py" "$file" 2>message.txt; then fail "$file is no run"; fi
  [[ $(wc -l <message.txt) == 1 ]] || { cat message.txt; fail "$file: one line"; }
done
[[ ! -e missing.sqlite ]] || fail "reading made a file"
echo "passed"
