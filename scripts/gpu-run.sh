#!/usr/bin/env bash
# usage: run.sh [LOG_FOLDER [tests|measurements]]
# Runs all that needs a GPU, from the bundle that scripts/gpu-test makes, or one
# half of it (some 4 and 8 minutes on two GPUs). Exit code 0: everything passed;
# 77: there is no GPU; 1: something failed. On two GPUs or more it also runs two
# processes. On a machine with other work the measurements mean nothing.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
logs=${1:-$(mktemp -d)}
half=${2:-}
case $half in
  '' | tests | measurements) ;;
  *)
    echo "run.sh: there is no half \"$half\": tests, measurements" >&2
    exit 2
    ;;
esac
mkdir -p "$logs"
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH=$PWD/lib:$cuda/lib64:$cuda/extras/CUPTI/lib64:${LD_LIBRARY_PATH:-}
export STAVE_MACHINES=$PWD/machines
passed=0
failed=0
began=$SECONDS

# say NAME CODE START: one line; a failure also shows the end of its log.
say() {
  if [[ $2 == 0 ]]; then
    passed=$((passed + 1))
    echo "ok    $1 ($((SECONDS - $3)) s)"
    return
  fi
  failed=$((failed + 1))
  echo "FAIL  $1 (exit code $2, $((SECONDS - $3)) s)"
  grep -hE '^\[  FAILED' "$logs/$1.log" | sort -u | head -n 20 | sed 's/^/      /'
  tail -n 6 "$logs/$1.log" | sed 's/^/      /'
}
# check NAME COMMAND...: its output goes to a log of its own.
check() {
  local name=$1 start=$SECONDS
  shift
  "$@" >"$logs/$name.log" 2>&1
  say "$name" $? "$start"
}
# As check, for a command that must end with another exit code.
check_code() {
  local code=$2
  check "$1" bash -c 'wanted=$1; shift; "$@"; got=$?; echo "exit code $got, wanted $wanted"; [[ $got == "$wanted" ]]' - "$code" "${@:3}"
}
# As check, but not waited for here.
declare -A running=()
begin() {
  local name=$1
  shift
  "$@" >"$logs/$name.log" 2>&1 &
  running[$name]=$!
}
# In two processes, one GPU each; both must succeed. What the second one says comes after the first.
in_two() {
  local folder first second
  folder=$(mktemp -d)
  STAVE_RANK=1 STAVE_WORLD_SIZE=2 STAVE_RENDEZVOUS=file:$folder/rendezvous "$@" >"$folder/second" 2>&1 &
  STAVE_RANK=0 STAVE_WORLD_SIZE=2 STAVE_RENDEZVOUS=file:$folder/rendezvous "$@"
  first=$?
  wait $!
  second=$?
  echo "-- the second process, exit code $second"
  grep -hE 'FAILED|Failure|error' "$folder/second" | head -n 40
  rm -rf "$folder"
  return $((first != 0 ? first : second))
}

if ! ./stave-gpu --devices; then
  echo "SKIPPED: there is no GPU here"
  exit 77
fi
gpus=$(./stave-gpu --devices | wc -l)

run_tests() {
  # The programs of examples/ and tests/run, and the suites. Left out of the suites: kernels whose source is a
  # stand-in for their reference, and what checks the repository's own pages.
  programs='Programs/Conformance.*_cuda_*:-NONE'
  suites='-CudaSource.*:CudaGpu.*:Programs/Conformance.*:*Compute.kernels_*:*Compute.a_kernel_without_*:ConformanceTable.*'
  check unit timeout 300 ./stave_cuda_test --gtest_filter='CudaSource.*:CudaGpu.*'
  grep '^GB/s' "$logs/unit.log"
  # Most of their time is spent in making communicators: side by side they take a third of it.
  start=$SECONDS
  begin programs timeout 400 ./stave_cuda_test --gtest_filter="$programs"
  begin suites timeout 400 ./stave_cuda_test --gtest_filter="$suites"
  if [[ $gpus -gt 1 ]]; then
    begin programs_two in_two timeout 400 ./stave_cuda_test --gtest_filter="$programs"
    begin suites_two in_two timeout 400 ./stave_cuda_test --gtest_filter="$suites"
  fi
  for name in "${!running[@]}"; do
    wait "${running[$name]}"
    say "$name" $? "$start"
  done
  grep -h 'plans ran' "$logs"/*_two.log 2>/dev/null

  small=(--param m=256 --param n=256 --param k=256 --warmup 2 --repeat 3)
  for mode in eager captured captured_serial; do
    check "ring_$mode" ./stave run examples/ring_matmul_2.stave --backend cuda --mode $mode "${small[@]}" \
      -o "$logs/ring_$mode.sqlite"
    check "report_ring_$mode" ./stave report "$logs/ring_$mode.sqlite"
  done
  if [[ $gpus -gt 1 ]]; then
    check ring_two in_two ./stave run examples/ring_matmul_2.stave --backend cuda --mode captured "${small[@]}" -o "$logs/ring_two.sqlite"
    check report_ring_two ./stave report "$logs/ring_two.sqlite"
    if command -v mpirun >/dev/null; then
      check ring_mpirun env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 ./stave run \
        examples/ring_matmul_2.stave --backend cuda --mode captured "${small[@]}" -o "$logs/ring_mpirun.sqlite"
      check report_ring_mpirun ./stave report "$logs/ring_mpirun.sqlite"
    else
      echo "skip  ring_mpirun: mpirun is not there"
    fi
  fi
  check predicted ./stave sim examples/ring_matmul_2.stave --param m=256 --param n=256 --param k=256 -o "$logs/predicted.sqlite"
  check compare ./stave compare "$logs/predicted.sqlite" "$logs/ring_eager.sqlite"
  check_code hang_eager 3 ./stave run tests/run/hang_missing_recv.stave --backend cuda --no-check --timeout 3
  check_code hang_captured 3 ./stave run tests/run/hang_missing_recv.stave --backend cuda --no-check --mode captured --progress command --timeout 3
  if command -v compute-sanitizer >/dev/null; then
    check sanitizer env CUDA_VISIBLE_DEVICES=0 timeout 300 compute-sanitizer --error-exitcode 9 ./stave_cuda_test \
      --gtest_filter='Programs/Conformance.*examples*_cuda_captured:CudaGpu.KernelsOfCudaText:CudaGpu.MemsetsOfAnyPattern'
    tail -n 1 "$logs/sanitizer.log"
  else
    echo "skip  sanitizer: compute-sanitizer is not there"
  fi
}

run_measurements() {
  if [[ -x cuda_bench ]]; then
    check bench ./cuda_bench --benchmark_report_aggregates_only=true --benchmark_enable_random_interleaving=true
    # Of each benchmark the mean of its steps and, as median_us, their median: docs/benchmarks.md quotes the latter.
    grep -E '_(median|cv) ' "$logs/bench.log" | cut -c1-160
  fi
  for mode in eager captured; do
    for profile in off graph full; do
      [[ $mode == eager && $profile == graph ]] && continue
      check "observer_${mode}_$profile" ./stave run examples/ring_matmul_2.stave --backend cuda --mode $mode --warmup 10 --repeat 30 \
        --profile $profile -y -o "$logs/observer.sqlite"
      grep -h median "$logs/observer_${mode}_$profile.log"
    done
  done
  if [[ $gpus -gt 1 ]]; then
    check all_gather_matmul python3 tests/bench/all_gather_matmul/run.py --stave ./stave --peers
    cat "$logs/all_gather_matmul.log"
  else
    echo "skip  two processes, all_gather_matmul: there is one GPU"
  fi
}

[[ $half == measurements ]] || run_tests
[[ $half == tests ]] || run_measurements
echo "SUMMARY: $passed passed, $failed failed, $((SECONDS - began)) s; logs in $logs"
[[ $failed == 0 ]]
