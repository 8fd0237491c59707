#!/usr/bin/env python3
"""All-gather and matmul on two GPUs: schedules of ours beside what people would use instead.

C = AllGather(A) x B: each rank holds M / 2 rows of A and N / 2 columns of B, bf16. Prints tables in microseconds a
step, medians over runs of five steps each, one after the other on the GPUs.

    run.py [--stave PATH] [--rounds N] [--peers] [M,N,K ...]    measures; --peers also runs PyTorch and JAX
    run.py --simulate MACHINE [M,N,K ...]                       predicts the same table, without a GPU

A card that was idle works at its full clock until its power limit lowers it (two H200s: after some 30 ms of gemms, by
a tenth). Both states count: `cool` is the first work after a pause, `sustained` what comes after a while. Each form
runs in a process of its own, whose start is the pause. --rounds measures all forms of a shape several times, every
other time in the opposite order, and takes the runs of all rounds together.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

SHAPES = [(8192, 2048, 8192), (8192, 4096, 8192), (8192, 8192, 8192), (16384, 2048, 8192), (4096, 4096, 4096)]
STEPS = 5
COOL_US = 16e3  # of work behind the warm-up
SECONDS = 0.6  # of all work; the second half is sustained
STATES = ("cool", "sustained")
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


def by_state(runs):
    """Of runs in the order of time, microseconds each: those of each state. The first is cool, however long."""
    cool, worked = [], 0.0
    for us in runs:
        if worked > COOL_US:
            break
        cool.append(us)
        worked += us
    return {"cool": cool, "sustained": runs[len(runs) // 2:]}


def runs_us(options, schedule, mode, shape, more):
    """Microseconds of each run in the order of time; none, and why on stderr, if it does not run."""
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
        command += ["--backend", "cuda", "--warmup", "2", "--duration", str(SECONDS), "--timeout", "20"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{schedule} {mode} {shape}: {done.stdout[-300:]} {done.stderr[-300:]}", file=sys.stderr)
        return []
    result = json.loads(done.stdout)
    times = [result["makespan_ps"]] if options.simulate else result["durations_ps"]
    return [t / 1e6 for t in times]


def shape_of(text):
    sizes = text.split(",")
    if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise argparse.ArgumentTypeError(f"a shape is M,N,K, got {text!r}")
    return tuple(int(size) for size in sizes)


def peer_lines(shapes):
    """What peers.py measures: {(name, shape, state): microseconds a step}."""
    found = {}
    for peer in ("torch", "jax"):
        command = [sys.executable, os.path.join(FOLDER, "peers.py"), peer]
        command += [",".join(str(size) for size in shape) for shape in shapes]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if not line.startswith("{"):
                    continue
                print(line, end="", file=sys.stderr, flush=True)
                row = json.loads(line)
                for state in STATES:
                    found[row["name"], tuple(row["shape"]), state] = row[state]
        if process.returncode != 0:
            print(f"{peer}: exit code {process.returncode}", file=sys.stderr)
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


def print_table(shapes, names, us, state):
    print("| M, N, K | " + " | ".join(names) + " | hidden, copy engine | hidden, NCCL |")
    print("|---" * (len(names) + 3) + "|")
    for shape in shapes:
        at = {name: us.get((name, shape, state)) for name in names}
        serial, gemm = at["NCCL all-gather, then gemm"], at["gemm alone"]
        hidden = efficiency(serial, best_of(at, "copy-engine ring"), gemm, at["copy engine alone"])
        hidden_nccl = efficiency(serial, best_of(at, "NCCL ring"), gemm, at["NCCL shift alone"])
        cells = ["-" if at[name] is None else f"{at[name]:.0f}" for name in names]
        print(f"| {shape[0]}, {shape[1]}, {shape[2]} | " + " | ".join(cells) + f" | {hidden} | {hidden_nccl} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stave", default="stave")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--simulate", metavar="MACHINE")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("shapes", nargs="*", type=shape_of, metavar="M,N,K")
    options = parser.parse_args()
    shapes = options.shapes or SHAPES
    us = peer_lines(shapes) if options.peers else {}
    names = [column[0] for column in COLUMNS] + sorted({name for name, _, _ in us})
    spreads, failed = {state: [] for state in STATES}, 0
    for shape in shapes:
        times = {(column[0], state): [] for column in COLUMNS for state in STATES}
        for turn in range(options.rounds):
            for name, schedule, mode, more in COLUMNS if turn % 2 == 0 else reversed(COLUMNS):
                runs = runs_us(options, schedule, mode, shape, more)
                failed += not runs
                for state, of_state in by_state(runs).items():
                    times[name, state] += [run / STEPS for run in of_state]
        for (name, state), all_runs in times.items():
            if all_runs:
                us[name, shape, state] = statistics.median(all_runs)
                spreads[state].append((max(all_runs) - min(all_runs)) / us[name, shape, state])
        # Said at once: a run that is cut off has shown something.
        for state in () if options.simulate else STATES:
            cells = (f"{n} {us[n, shape, state]:.1f}" for n in names if (n, shape, state) in us)
            print(f"{shape} {state}: " + ", ".join(cells), file=sys.stderr, flush=True)
    if options.simulate:
        print_table(shapes, names, us, "cool")
        return 1 if failed else 0
    for state in STATES:
        print(f"{state}:\n")
        print_table(shapes, names, us, state)
        if spreads[state]:
            print(f"\n(max - min) / median of ours: median {statistics.median(spreads[state]):.1%}, "
                  f"largest {max(spreads[state]):.1%}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
