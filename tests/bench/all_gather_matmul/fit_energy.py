#!/usr/bin/env python3
"""The energies of a machine file's [energy], from cool and sustained times of one shape.

    fit_energy.py [--idle-w W] [--limit-w W] [--shape M,N,K] [TIMES.csv]

TIMES.csv has what run.py measured: run, m, n, k, form, cool_us, sustained_us. Sustained, power is the limit:

    idle + (flops * E_flop * c + bytes * E_byte) / T = limit,    T = cool + (1 / c - 1) * gemm alone, cool

with c the part of the full clock (docs/models.md, "Clock and power"). Prints the values on a grid with which T is least
off, in squares of relative errors, for several powers of c; the model has the square. Then what they give for every row.
"""
import argparse
import csv
import itertools
import os
import statistics

from run import FOLDER, shape_of


def read(path):
    """{(shape, form): (cool, sustained)} in seconds, means over runs."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = (int(row["m"]), int(row["n"]), int(row["k"])), row["form"]
            found.setdefault(key, []).append((float(row["cool_us"]) * 1e-6, float(row["sustained_us"]) * 1e-6))
    return {key: tuple(statistics.mean(values) for values in zip(*runs)) for key, runs in found.items()}


def sustained(times, key, energies, power, options):
    """Seconds at the limit. `energies`: joules per flop, per byte of NCCL, per byte of a copy engine."""
    (m, n, k), form = key
    cool = times[key][0]
    multiplies = form not in ("copy engine alone", "NCCL shift alone")
    products = energies[0] * 2 * m * (n // 2) * k if multiplies else 0
    sent = 0 if form == "gemm alone" else energies[2 if form.startswith("copy") else 1] * (m // 2) * k * 2
    gemm = times[key[0], "gemm alone"][0] if multiplies else 0

    def above(clock):
        time = cool + (1 / clock - 1) * gemm
        return options.idle_w + (products * clock ** (power - 1) + sent) / time > options.limit_w

    if not above(1):
        return cool
    low, high = 1 / 3, 1
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return cool + (1 / low - 1) * gemm


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle-w", type=float, default=120)
    parser.add_argument("--limit-w", type=float, default=700)
    parser.add_argument("--shape", type=shape_of, default=(8192, 8192, 8192), metavar="M,N,K")
    parser.add_argument("times", nargs="?", default=os.path.join(FOLDER, "h200-x2_2026-12-01.csv"), metavar="TIMES.csv")
    options = parser.parse_args()
    times = read(options.times)
    fitted = [key for key in times if key[0] == options.shape]
    flop = [i * 0.02e-12 for i in range(35, 60)]
    byte = [i * 0.1e-9 for i in range(16)]
    for power in (1.5, 2, 2.5, 3):
        def error(energies):
            return sum((sustained(times, key, energies, power, options) / times[key][1] - 1) ** 2 for key in fitted)
        best = min(itertools.product(flop, byte, byte), key=error)
        print(f"clock^{power}: {best[0] * 1e12:.2f} pJ a flop, {best[1] * 1e12:.0f} pJ a byte of collectives, "
              f"{best[2] * 1e12:.0f} of copy engines; root mean square {(error(best) / len(fitted)) ** 0.5:.1%}")
        for key in times if power == 2 else ():
            got = sustained(times, key, best, power, options)
            print(f"  {key[0]} {key[1]:28s} cool {times[key][0] * 1e6:6.1f}, sustained {times[key][1] * 1e6:6.1f}, "
                  f"model {got * 1e6:6.1f} us ({got / times[key][1] - 1:+.1%})")


if __name__ == "__main__":
    main()
