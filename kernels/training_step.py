#!/usr/bin/env python3
"""Two training steps of a transformer layer in PyTorch, in single precision without TF32.

    gputomo capture --out step -- python3 kernels/training_step.py
    ncu --profile-from-start off --clock-control none --cache-control all --csv --page raw \\
        --metrics gpc__cycles_elapsed.max,smsp__inst_executed.sum python3 kernels/training_step.py

Width 512, 8 heads, 2,048 inner columns, 8 sequences of 128 tokens, AdamW. The profiler counts the second step; the first
one lets PyTorch and cuBLAS load their kernels. docs/results/accuracy.md has what came of it.
"""
import torch


def main():
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True, device="cuda")
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-3)
    inputs, targets = (torch.randn(8, 128, 512, device="cuda") for _ in range(2))

    def step():
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.mse_loss(layer(inputs), targets).backward()
        optimizer.step()
        torch.cuda.synchronize()

    step()
    torch.cuda.cudart().cudaProfilerStart()
    step()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main()
