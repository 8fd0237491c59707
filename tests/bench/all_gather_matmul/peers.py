#!/usr/bin/env python3
"""The same product by PyTorch and JAX on two GPUs, one line of JSON for each way and shape.

    peers.py torch|jax [REPEAT]

Microseconds a step: five steps between two events (PyTorch), or ten between two looks at the clock (JAX), the median
of REPEAT. NVLink multicast stays off, as it does for ours.
"""
import json
import os
import statistics
import sys
import time

from run import SHAPES

os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"


def report(name, shape, us):
    print(json.dumps({"name": name, "shape": shape, "us": statistics.median(us), "min": min(us), "max": max(us)}),
          flush=True)


def torch_rank(rank, repeat):
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name

    def measure(step, steps=5):
        for _ in range(5):
            step()
        us = []
        for _ in range(repeat):
            torch.cuda.synchronize()
            dist.barrier()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(steps):
                step()
            end.record()
            end.synchronize()
            us.append(begin.elapsed_time(end) * 1e3 / steps)
        return us

    for shape in SHAPES:
        m, n, k = shape
        own = torch.randn(m // 2, k, device="cuda", dtype=torch.bfloat16)
        weights = torch.randn(n // 2, k, device="cuda", dtype=torch.bfloat16).t()
        whole = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)
        out = torch.empty(m, n // 2, device="cuda", dtype=torch.bfloat16)

        def serial():
            dist.all_gather_into_tensor(whole, own)
            torch.mm(whole, weights, out=out)

        us = measure(serial)
        if rank == 0:
            report("PyTorch, NCCL and mm", shape, us)
        try:
            symmetric.enable_symm_mem_for_group(group)
            shared = symmetric.empty(m // 2, k, device="cuda", dtype=torch.bfloat16)
            shared.copy_(own)
            us = measure(lambda: torch.ops.symm_mem.fused_all_gather_matmul(shared, [weights], gather_dim=0,
                                                                            group_name=group))
            if rank == 0:
                report("PyTorch, symmetric memory, fused", shape, us)
        except Exception as error:  # what is missing differs between releases
            print(f"symmetric memory: {error!r}"[:300], file=sys.stderr)
    dist.destroy_process_group()


def with_jax(repeat):
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(jax.devices()[:2], ("x",))
    rows, columns = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("x", None), (None, "x")))
    for shape in SHAPES:
        m, n, k = shape
        a = jax.device_put(jax.random.normal(jax.random.key(0), (m, k), jnp.bfloat16), rows)
        b = jax.device_put(jax.random.normal(jax.random.key(1), (k, n), jnp.bfloat16), columns)
        product = jax.jit(lambda a, b: a @ b, out_shardings=columns)
        for _ in range(4):
            product(a, b).block_until_ready()
        us = []
        for _ in range(repeat):
            begin = time.perf_counter()
            for _ in range(10):
                out = product(a, b)
            out.block_until_ready()
            us.append((time.perf_counter() - begin) * 1e5)
        report("JAX", shape, us)


if __name__ == "__main__":
    repeat = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    if sys.argv[1] == "torch":
        import torch.multiprocessing

        torch.multiprocessing.spawn(torch_rank, args=(repeat,), nprocs=2)
    else:
        with_jax(repeat)
