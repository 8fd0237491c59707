#!/usr/bin/env python3
"""Writes a ring all-gather and matmul as a schedule, with the standard library only.

A schedule is text: any program can make one. This one takes the number of ranks, the
sizes and the depth of the ring buffer, and writes the shifts out one by one, so that the
result can be changed by hand.

    write_ring.py --ranks 4 --depth 3 -o ring.stave
    stave check ring.stave
    stave sim ring.stave --machine h200-x8
"""
import argparse
import sys


def ring(ranks, m, k, n, dtype, depth):
    """The schedule's text. `depth` blocks of A are in flight or in use at a time."""
    lines = [
        "stave 1",
        f"mesh x = {ranks}",
        f"param m = {m}",
        f"param k = {k}",
        f"param n = {n}",
        "",
        f"// C = AllGather(A) x B around a ring of {ranks} with a buffer of {depth} blocks.",
        f"func @ring(%a: in {dtype}[m, k], %b: in {dtype}[k, n], %c: out {dtype}[{ranks} * m, n]) {{",
    ]
    if ranks > 1:
        lines.append(f"  %ring = scratch {dtype}[{depth}, m, k]")

    def block(step):
        """Where the block that arrives with a step stands; step 0 is the rank's own."""
        return "%a" if step == 0 else f"%ring[{(step - 1) % depth}]"

    def shift(step):
        if step < ranks:
            lines.extend([
                f"  %shift{step} = async_start (stream = communication 0) {{",
                f"    collective_permute {block(step - 1)} -> {block(step)} (axis = x, shift = 1)",
                "  }",
            ])

    # Shift s overwrites the block of step s - depth, so it is issued after that gemm.
    for step in range(1, depth + 1):
        shift(step)
    lines.append("  gemm %a, %b -> %c[axis_index(x) * m : +m]")
    for step in range(1, ranks):
        lines.append(f"  async_done %shift{step}")
        rows = f"((axis_index(x) - {step}) mod {ranks}) * m : +m"
        lines.append(f"  gemm {block(step)}, %b -> %c[{rows}]")
        shift(step + depth)
    lines.append("}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--m", type=int, default=4096, help="rows of A on each rank")
    parser.add_argument("--k", type=int, default=8192)
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--depth", type=int, default=2, help="blocks in the ring buffer, at least 2")
    parser.add_argument("-o", "--output", help="a file; by default standard output")
    options = parser.parse_args()
    if options.ranks < 1:
        parser.error(f"--ranks must be at least 1, got {options.ranks}")
    if options.depth < 2:
        parser.error(f"--depth must be at least 2: one block is read while another arrives; got {options.depth}")
    text = ring(options.ranks, options.m, options.k, options.n, options.dtype, options.depth)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
