#!/usr/bin/env python3
"""All-gather and matmul on two GPUs: schedules of ours beside what people would use instead.

C = AllGather(A) x B: each rank holds M / 2 rows of A and N / 2 columns of B, bf16. Prints a table in
microseconds a step, the median of --repeat runs of five steps each, one after the other on the GPUs.

    run.py [--stave PATH] [--repeat N] [--rounds N] [--peers]    measures; --peers also runs PyTorch and JAX
    run.py --simulate MACHINE                                    predicts the same table, without a GPU

A card that warms up slows down what comes later. --rounds measures all forms of a shape several times, every other
time in the opposite order, and takes the runs of all rounds together.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

SHAPES = [(8192, 2048, 8192), (8192, 4096, 8192), (8192, 8192, 8192), (16384, 2048, 8192), (4096, 4096, 4096)]
STEPS = 5
# Column, schedule, mode, parameters.
COLUMNS = [
    ("gemm alone", "gemm", "captured", {}),
    ("NCCL all-gather, then gemm", "gather_then_gemm", "captured", {}),
    ("NCCL ring, whole", "ring_nccl", "captured", {"chunks": 1}),
    ("NCCL ring, 2 chunks", "ring_nccl", "captured", {"chunks": 2}),
    ("copy-engine ring, whole", "ring", "captured", {"chunks": 1}),
    ("copy-engine ring, 2 chunks", "ring", "captured", {"chunks": 2}),
    ("copy-engine ring, 2 streams", "ring_streams", "captured", {}),
    ("copy engine alone", "shift", "captured", {"chunks": 1}),
    ("NCCL shift alone", "shift_nccl", "captured", {"chunks": 1}),
]
FOLDER = os.path.dirname(os.path.abspath(__file__))


def steps_us(options, schedule, mode, shape, more):
    """Microseconds a step, of each run; none, and why on stderr, if it does not run."""
    m, n, k = shape
    params = {"m": m // 2, "k": k, "steps": STEPS, **more}
    if "shift" not in schedule:
        params["n"] = n // 2
    command = [options.stave, "sim" if options.simulate else "run", os.path.join(FOLDER, schedule + ".stave"),
               "--mode", mode, "--json"]
    for name, value in params.items():
        command += ["--param", f"{name}={value}"]
    if options.simulate:
        command += ["--machine", options.simulate]
    else:
        command += ["--backend", "cuda", "--warmup", "5", "--repeat", str(options.repeat), "--timeout", "20"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{schedule} {mode} {shape}: {done.stdout[-300:]} {done.stderr[-300:]}", file=sys.stderr)
        return []
    result = json.loads(done.stdout)
    times = [result["makespan_ps"]] if options.simulate else result["durations_ps"]
    return [t / 1e6 / STEPS for t in times]


def peer_lines(options):
    """What peers.py measured: {(name, shape): microseconds}."""
    found = {}
    for peer in ("torch", "jax"):
        done = subprocess.run([sys.executable, os.path.join(FOLDER, "peers.py"), peer, str(options.repeat)],
                              capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                found[(row["name"], tuple(row["shape"]))] = row["us"]
        if done.returncode != 0:
            print(f"{peer}: {done.stderr[-500:]}", file=sys.stderr)
    return found


def efficiency(serial, overlapped, gemm, communication):
    """(serial - overlapped) / (serial - the longer of the two parts): 1 hides all that can be hidden."""
    if None in (serial, overlapped, gemm, communication):
        return "-"
    could = serial - max(gemm, communication)
    return f"{(serial - overlapped) / could:.2f}" if could > 0 else "-"


def best_of(row, form):
    """The least of the columns of one form; None if none ran."""
    return min((us for name, us in row.items() if name.startswith(form) and us), default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stave", default="stave")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--simulate", metavar="MACHINE")
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    names = [column[0] for column in COLUMNS]
    us, spread, failed = {}, 0.0, 0
    if options.peers:
        us = peer_lines(options)
        names += sorted({name for name, _ in us})
    for shape in SHAPES:
        times = {column[0]: [] for column in COLUMNS}
        for turn in range(options.rounds):
            for name, schedule, mode, more in COLUMNS if turn % 2 == 0 else reversed(COLUMNS):
                measured = steps_us(options, schedule, mode, shape, more)
                times[name] += measured
                failed += not measured
        for name, all_runs in times.items():
            us[(name, shape)] = statistics.median(all_runs) if all_runs else None
            if all_runs:
                spread = max(spread, (max(all_runs) - min(all_runs)) / us[(name, shape)])
        # Said at once: a run that is cut off has shown something.
        print(f"{shape}: " + ", ".join(f"{n} {us[(n, shape)]:.1f}" for n in names if us.get((n, shape))),
              file=sys.stderr, flush=True)
    print("| M, N, K | " + " | ".join(names) + " | hidden, copy engine | hidden, NCCL |")
    print("|---" * (len(names) + 3) + "|")
    for shape in SHAPES:
        row = [us.get((name, shape)) for name in names]
        at = {name: us.get((name, shape)) for name in names}
        serial, gemm = at["NCCL all-gather, then gemm"], at["gemm alone"]
        hidden = efficiency(serial, best_of(at, "copy-engine ring"), gemm, at["copy engine alone"])
        hidden_nccl = efficiency(serial, best_of(at, "NCCL ring"), gemm, at["NCCL shift alone"])
        cells = ["-" if value is None else f"{value:.0f}" for value in row]
        print(f"| {shape[0]}, {shape[1]}, {shape[2]} | " + " | ".join(cells) + f" | {hidden} | {hidden_nccl} |")
    print(f"\nLargest spread of ours, (max - min) / median over {options.repeat * options.rounds} runs: {spread:.1%}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
