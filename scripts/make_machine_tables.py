#!/usr/bin/env python3
"""Makes the CSV tables of machines/ from NVIDIA aiconfigurator data (Apache-2.0).

usage: make_machine_tables.py gemm      INPUT OUTPUT
       make_machine_tables.py nccl      INPUT OUTPUT
       make_machine_tables.py permute   INPUT OUTPUT
       make_machine_tables.py held_out  INPUT OUTPUT

INPUT is CSV, plain or .gz, with the header line that aiconfigurator writes.
  gemm      columns gemm_dtype, m, n, k, latency (ms): the rows with a bfloat16
            product whose m is in TABLE_M -> m,n,k,sm_count,ctas,time_ps
  held_out  the same input: every 16th of the rows that `gemm` leaves out
  nccl      columns nccl_dtype, op_name, num_gpus, message_size (elements),
            latency (ms): the rows of half (2 B) -> op,ranks,bytes,time_ps
  permute   the same input: the all_to_all rows of 2 ranks as a permute of half
            the bytes, which is what goes over the wire
Rows come out sorted; the sha256 of the output is printed.
"""
import csv
import gzip
import hashlib
import sys

TABLE_M = {1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}
OPS = {"alltoall": "all_to_all"}


def rows_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def picoseconds(milliseconds):
    return round(float(milliseconds) * 1e9)


def products(path):
    rows = {}
    for row in rows_of(path):
        if row["gemm_dtype"] == "bfloat16":
            key = (int(row["m"]), int(row["n"]), int(row["k"]))
            rows.setdefault(key, picoseconds(row["latency"]))
    return sorted(rows.items())


def gemm(path):
    return ["m,n,k,sm_count,ctas,time_ps"] + [
        f"{m},{n},{k},0,0,{time}" for (m, n, k), time in products(path) if m in TABLE_M
    ]


def held_out(path):
    left = [item for item in products(path) if item[0][0] not in TABLE_M]
    return ["m,n,k,sm_count,ctas,time_ps"] + [f"{m},{n},{k},0,0,{time}" for (m, n, k), time in left[::16]]


def collectives(path):
    rows = {}
    for row in rows_of(path):
        if row["nccl_dtype"] == "half":
            op = OPS.get(row["op_name"], row["op_name"])
            rows[(op, int(row["num_gpus"]), 2 * int(row["message_size"]))] = picoseconds(row["latency"])
    return sorted(rows.items())


def nccl(path):
    return ["op,ranks,bytes,time_ps"] + [f"{op},{n},{size},{time}" for (op, n, size), time in collectives(path)]


def permute(path):
    return ["op,ranks,bytes,time_ps"] + [
        f"collective_permute,2,{size // 2},{time}"
        for (op, n, size), time in collectives(path)
        if op == "all_to_all" and n == 2
    ]


def main():
    makers = {"gemm": gemm, "held_out": held_out, "nccl": nccl, "permute": permute}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    text = "\n".join(makers[sys.argv[1]](sys.argv[2])) + "\n"
    with open(sys.argv[3], "w", newline="") as file:
        file.write(text)
    print(hashlib.sha256(text.encode()).hexdigest(), sys.argv[3])


if __name__ == "__main__":
    main()
