#!/usr/bin/env python3
"""The same product by PyTorch and JAX on two GPUs, one line of JSON for each way and shape.

    peers.py torch|jax [M,N,K ...]

Microseconds a step, cool and sustained as run.py has it: five steps between two events (PyTorch), or ten between two
looks at the clock (JAX), medians. NVLink multicast stays off, as it does for ours.
"""
import json
import os
import statistics
import sys
import time

from run import SECONDS, SHAPES, STEPS, by_state, shape_of

os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"


PAUSE = 2  # seconds, until the clock is up again


def report(name, shape, runs, steps):
    """Runs in the order of time, in microseconds."""
    us = {state: statistics.median(of_state) / steps for state, of_state in by_state(runs).items()}
    print(json.dumps({"name": name, "shape": shape, **us}), flush=True)


def torch_rank(rank, shapes):
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name

    def one_run(step):
        torch.cuda.synchronize()
        dist.barrier()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(STEPS):
            step()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    def measure(step):
        for _ in range(3):
            one_run(step)
        torch.cuda.synchronize()
        time.sleep(PAUSE)
        for _ in range(2):
            one_run(step)
        runs = [one_run(step)]
        # All ranks run equally often.
        count = torch.tensor([SECONDS * 1e6 / runs[0]], device="cuda")
        dist.all_reduce(count, dist.ReduceOp.MAX)
        return runs + [one_run(step) for _ in range(int(count.item()))]

    for shape in shapes:
        m, n, k = shape
        own = torch.randn(m // 2, k, device="cuda", dtype=torch.bfloat16)
        weights = torch.randn(n // 2, k, device="cuda", dtype=torch.bfloat16).t()
        whole = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)
        out = torch.empty(m, n // 2, device="cuda", dtype=torch.bfloat16)

        def serial():
            dist.all_gather_into_tensor(whole, own)
            torch.mm(whole, weights, out=out)

        runs = measure(serial)
        if rank == 0:
            report("PyTorch, NCCL and mm", shape, runs, STEPS)
        try:
            symmetric.enable_symm_mem_for_group(group)
            shared = symmetric.empty(m // 2, k, device="cuda", dtype=torch.bfloat16)
            shared.copy_(own)
            runs = measure(lambda: torch.ops.symm_mem.fused_all_gather_matmul(shared, [weights], gather_dim=0,
                                                                              group_name=group))
            if rank == 0:
                report("PyTorch, symmetric memory, fused", shape, runs, STEPS)
        except Exception as error:  # what is missing differs between releases
            print(f"symmetric memory: {error!r}"[:300], file=sys.stderr)
    dist.destroy_process_group()


def with_jax(shapes):
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(jax.devices()[:2], ("x",))
    rows, columns = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("x", None), (None, "x")))
    for shape in shapes:
        m, n, k = shape
        a = jax.device_put(jax.random.normal(jax.random.key(0), (m, k), jnp.bfloat16), rows)
        b = jax.device_put(jax.random.normal(jax.random.key(1), (k, n), jnp.bfloat16), columns)
        product = jax.jit(lambda a, b: a @ b, out_shardings=columns)
        for _ in range(4):
            product(a, b).block_until_ready()
        time.sleep(PAUSE)
        runs = []
        while sum(runs) < SECONDS * 1e6:
            begin = time.perf_counter()
            for _ in range(10):
                out = product(a, b)
            out.block_until_ready()
            runs.append((time.perf_counter() - begin) * 1e6)
        report("JAX", shape, runs, 10)


if __name__ == "__main__":
    chosen = [shape_of(text) for text in sys.argv[2:]] or SHAPES
    if sys.argv[1] == "torch":
        import torch.multiprocessing

        torch.multiprocessing.spawn(torch_rank, args=(chosen,), nprocs=2)
    else:
        with_jax(chosen)
