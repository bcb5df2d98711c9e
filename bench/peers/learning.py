"""Times a private training step of Opacus on the processor.

Prints a line a model and mode: {"model", "mode", "milliseconds",
"processorMilliseconds", "samples_a_second"}, the best of as many steps as fit in
--seconds, at --batch examples, with noise, on --threads threads.
mode is plain (PyTorch alone), hooks (Opacus's default) or ghost (its ghost clipping).
"""

import argparse
import importlib.metadata
import json
import sys
import time
import warnings

warnings.simplefilter("ignore")

import torch
from opacus import GradSampleModule
from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import (
    GradSampleModuleFastGradientClipping,
)
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer_fast_gradient_clipping import (
    DPOptimizerFastGradientClipping,
)
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from torch import nn


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, stride=2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip


def step(make, mode, batch, rate=0.1, noise=1.1, clip=1.0):
    """A function that makes one step."""
    model = make()
    inner = torch.optim.SGD(model.parameters(), lr=rate)
    x, y = torch.rand(batch, 1, 28, 28), torch.randint(0, 10, (batch,))
    loss = nn.CrossEntropyLoss()
    options = dict(noise_multiplier=noise, max_grad_norm=clip, expected_batch_size=batch)
    if mode == "plain":
        optimizer = inner
    elif mode == "hooks":
        model = GradSampleModule(model)
        optimizer = DPOptimizer(inner, **options)
    else:
        model = GradSampleModuleFastGradientClipping(
            model, max_grad_norm=clip, use_ghost_clipping=True
        )
        optimizer = DPOptimizerFastGradientClipping(inner, **options)
        loss = DPLossFastGradientClipping(model, optimizer, loss, "mean")

    def once():
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()

    return once


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--batch", type=int, default=256)
    flags.add_argument("--seconds", type=float, default=5)
    flags.add_argument("--threads", type=int, default=0)
    flags.add_argument("--versions", action="store_true")
    flags = flags.parse_args()
    if flags.versions:
        for name in "torch", "opacus":
            print(name, importlib.metadata.version(name))
        return
    if flags.threads:
        torch.set_num_threads(flags.threads)
    for name, make in ("mlp", mlp), ("cnn", cnn):
        for mode in "plain", "hooks", "ghost":
            once = step(make, mode, flags.batch)
            once()
            best, least, end = float("inf"), float("inf"), time.perf_counter() + flags.seconds
            while time.perf_counter() < end:
                start, used = time.perf_counter(), time.process_time()
                once()
                best = min(best, time.perf_counter() - start)
                least = min(least, time.process_time() - used)
            json.dump(
                {
                    "model": name,
                    "mode": mode,
                    "milliseconds": 1000 * best,
                    "processorMilliseconds": 1000 * least,
                    "samples_a_second": flags.batch / best,
                },
                sys.stdout,
            )
            print(flush=True)


if __name__ == "__main__":
    main()
