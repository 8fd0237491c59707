#!/usr/bin/env bash
# usage: run.sh [LOG_FOLDER] [GTEST_FILTER]
# Runs all that needs a GPU, from the bundle that scripts/gpu-test makes. Exit
# code 0: everything passed; 77: there is no GPU; 1: something failed.
set -uo pipefail
cd "$(dirname "$0")"
logs=${1:-$(mktemp -d)}
filter=${2:-*}
mkdir -p "$logs"
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH=$PWD/lib:$cuda/lib64:$cuda/extras/CUPTI/lib64:${LD_LIBRARY_PATH:-}
export STAVE_MACHINES=$PWD/machines
passed=0
failed=0
seconds=$SECONDS

# check NAME COMMAND...: its output goes to a log of its own, its end is shown if it fails.
check() {
  local name=$1
  shift
  local start=$SECONDS
  if "$@" >"$logs/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok    $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAIL  $name ($((SECONDS - start)) s)"
    tail -n 12 "$logs/$name.log" | sed 's/^/      /'
  fi
}
# As check, for a command that must end with another exit code.
check_code() {
  local code=$2
  check "$1" bash -c 'wanted=$1; shift; "$@"; got=$?; echo "exit code $got, wanted $wanted"; [[ $got == "$wanted" ]]' - "$code" "${@:3}"
}

if ! ./stave-gpu --devices; then
  echo "SKIPPED: there is no GPU here"
  exit 77
fi

# One program for each suite, so that a crash in one costs only that one.
check unit timeout 300 ./stave_cuda_test --gtest_filter='CudaSource.*:CudaGpu.*'
grep '^GB/s' "$logs/unit.log"
check programs timeout 400 ./stave_cuda_test --gtest_filter="Programs/Conformance.*_cuda_*:-NONE"
# Left out: kernels whose source is a stand-in for their reference, and what checks the repository's own pages.
check suites timeout 400 ./stave_cuda_test \
  --gtest_filter='-CudaSource.*:CudaGpu.*:Programs/Conformance.*:*Compute.kernels_*:*Compute.a_kernel_without_*:ConformanceTable.*'

if [[ -x stave ]]; then
  for mode in eager captured captured_serial; do
    check "ring_$mode" ./stave run examples/ring_matmul_2.stave --backend cuda --mode $mode --param m=256 --param n=256 \
      --param k=256 --warmup 2 --repeat 5 -o "$logs/ring_$mode.sqlite"
    check "report_ring_$mode" ./stave report "$logs/ring_$mode.sqlite"
  done
  check collatz_captured ./stave run examples/collatz.stave --backend cuda --mode captured -o "$logs/collatz.sqlite"
  check predicted ./stave sim examples/ring_matmul_2.stave --param m=256 --param n=256 --param k=256 -o "$logs/predicted.sqlite"
  check compare ./stave compare "$logs/predicted.sqlite" "$logs/ring_eager.sqlite"
  check_code hang 3 ./stave run tests/run/hang_missing_recv.stave --backend cuda --timeout 3
  check plain ./stave run examples/all_reduce.stave --backend cuda --warmup 5 --repeat 20
fi

echo "SUMMARY: $passed passed, $failed failed, $((SECONDS - seconds)) s; logs in $logs"
[[ $failed == 0 ]]
