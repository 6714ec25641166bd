#!/usr/bin/env python3
"""PyTorch beside Draftmill: the same shapes, bf16 and the same loss, in eager mode.

  benchmarks/torch_models.py [--smoke] [--layers N] [--out FILE]

Measures causal attention (SDPA's FlashAttention, and flash-attn where it is installed), the forward pass of a target at
the shape of Qwen3-8B with N of its layers (transformers' own model, random weights), and an optimizer step of a block
diffusion drafter for it. Writes the figures as JSON, which `benchmarks/run.sh models` and `benchmarks/run.sh cuda` read.
--smoke takes tiny shapes, and then the CPU will do.
"""

import argparse
import json
import math
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LARGE = dict(hidden=4096, heads=32, key_heads=8, head_dim=128, inner=12288, vocabulary=151936, attention_rows=8192,
             documents=4, length=3072, drafter_documents=2, anchors=512, block=16, loss_rows=1920)
TINY = dict(hidden=64, heads=4, key_heads=2, head_dim=16, inner=96, vocabulary=160, attention_rows=32,
            documents=2, length=24, drafter_documents=2, anchors=4, block=4, loss_rows=8)
TAPS = 5
DRAFT_LAYERS = 5
EPS = 1e-6
THETA = 1e6


class Clock:
    """The shortest time of a round, in seconds, after rounds to warm up."""

    def __init__(self, device, rounds):
        self.device = device
        self.rounds = rounds

    def best(self, work):
        shortest = math.inf
        for _ in range(2 + self.rounds):
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            shortest = min(shortest, time.perf_counter() - start)
        return shortest

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def attention(shape, device, clock, figures):
    rows, heads, key_heads, width = shape["attention_rows"], shape["heads"], shape["key_heads"], shape["head_dim"]
    flops = 2.0 * rows * rows * heads * width  # half of all pairs: causal
    q = torch.randn(1, heads, rows, width, device=device, dtype=torch.bfloat16)
    k, v = (torch.randn(1, key_heads, rows, width, device=device, dtype=torch.bfloat16) for _ in range(2))
    with torch.no_grad():
        seconds = clock.best(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))
        figures["sdpa_teraflops"] = 1e-12 * flops / seconds
        try:
            from flash_attn import flash_attn_func
        except ImportError:
            return
        q, k, v = (x.transpose(1, 2).contiguous() for x in (q, k, v))
        seconds = clock.best(lambda: flash_attn_func(q, k, v, causal=True))
        figures["flash_attention_2_teraflops"] = 1e-12 * flops / seconds


def target(shape, layers, device, clock, figures):
    from transformers import Qwen3Config, Qwen3Model

    config = Qwen3Config(
        hidden_size=shape["hidden"], intermediate_size=shape["inner"], num_hidden_layers=layers,
        num_attention_heads=shape["heads"], num_key_value_heads=shape["key_heads"], head_dim=shape["head_dim"],
        vocab_size=shape["vocabulary"], rms_norm_eps=EPS, use_cache=False, attn_implementation="sdpa")
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = Qwen3Model(config).eval()
    torch.set_default_dtype(torch.float32)
    ids = torch.randint(0, shape["vocabulary"], (shape["documents"], shape["length"]), device=device)

    def forward():
        states = model(input_ids=ids, output_hidden_states=True, use_cache=False).hidden_states
        return torch.cat([states[1 + round(i * (layers - 1) / (TAPS - 1))] for i in range(TAPS)], -1)

    with torch.no_grad():
        seconds = clock.best(forward)
    figures["target_tokens_per_second"] = ids.numel() / seconds


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS) * self.weight).to(x.dtype)


def rotated(x, positions):
    """x[..., rows, width] turned by the angles of its positions[rows]."""
    half = x.shape[-1] // 2
    frequency = THETA ** (-torch.arange(half, device=x.device) / half)
    angle = positions[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    low, high = x[..., :half].float(), x[..., half:].float()
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1).to(x.dtype)


class Layer(nn.Module):
    """A decoder layer whose queries are draft blocks; keys and values are of the context and of the blocks."""

    def __init__(self, shape):
        super().__init__()
        hidden, inner, self.width = shape["hidden"], shape["inner"], shape["head_dim"]
        self.heads, self.key_heads = shape["heads"], shape["key_heads"]
        linear = lambda inputs, outputs: nn.Linear(inputs, outputs, bias=False)
        self.q, self.o = linear(hidden, self.heads * self.width), linear(self.heads * self.width, hidden)
        self.k, self.v = (linear(hidden, self.key_heads * self.width) for _ in range(2))
        self.gate, self.up, self.down = linear(hidden, inner), linear(hidden, inner), linear(inner, hidden)
        self.q_norm, self.k_norm = Norm(self.width), Norm(self.width)
        self.before_attention, self.before_mlp = Norm(hidden), Norm(hidden)

    def forward(self, x, context, positions, context_positions, mask):
        normed = self.before_attention(x)
        both = torch.cat([context, normed])
        split = lambda y, heads: y.view(-1, heads, self.width).transpose(0, 1)
        q = rotated(self.q_norm(split(self.q(normed), self.heads)), positions)
        k = rotated(self.k_norm(split(self.k(both), self.key_heads)), torch.cat([context_positions, positions]))
        v = split(self.v(both), self.key_heads)
        # SDPA's kernels for masks want as many heads of keys as of queries.
        k, v = (y.repeat_interleave(self.heads // self.key_heads, 0) for y in (k, v))
        seen = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]
        x = x + self.o(seen.transpose(0, 1).reshape(x.shape[0], -1))
        normed = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Drafter(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.block, self.loss_rows = shape["block"], shape["loss_rows"]
        self.fc = nn.Linear(TAPS * shape["hidden"], shape["hidden"], bias=False)
        self.hidden_norm, self.norm = Norm(shape["hidden"]), Norm(shape["hidden"])
        self.layers = nn.ModuleList(Layer(shape) for _ in range(DRAFT_LAYERS))

    def forward(self, taps, ids, anchors, embedding, head):
        """Σ w·ce and Σ w of the blocks at `anchors` of one document: ids[length], taps[length, TAPS·hidden]."""
        device = ids.device
        context = self.hidden_norm(self.fc(taps))
        slots = torch.arange(self.block, device=device)
        positions = (anchors[:, None] + slots).flatten()
        tokens = torch.full((len(anchors), self.block), embedding.shape[0] - 1, device=device)
        tokens[:, 0] = ids[anchors]
        x = F.embedding(tokens.flatten(), embedding)
        block = torch.arange(len(positions), device=device) // self.block
        there = torch.arange(len(ids), device=device)
        mask = torch.cat([there < anchors[block, None], block == block[:, None]], 1)
        for layer in self.layers:
            x = layer(x, context, positions, there, mask)
        x = self.norm(x).view(len(anchors), self.block, -1)[:, 1:].reshape(len(anchors) * (self.block - 1), -1)
        targets = anchors[:, None] + slots[1:]
        supervised = (targets < len(ids)).flatten()
        labels = ids[targets.clamp(max=len(ids) - 1)].flatten()
        weights = supervised * torch.exp(-(slots[1:] - 1) / 7.0).repeat(len(anchors))
        total = x.new_zeros((), dtype=torch.float32)
        for begin in range(0, len(x), self.loss_rows):
            part = slice(begin, begin + self.loss_rows)
            total = total + checkpoint(part_of_loss, x[part], head, labels[part], weights[part], use_reentrant=False)
        return total, weights.sum()


def part_of_loss(x, head, labels, weights):
    return (F.cross_entropy(F.linear(x, head).float(), labels, reduction="none") * weights).sum()


def drafter(shape, device, clock, figures):
    with torch.device(device):
        model = Drafter(shape)
        embedding, head = (0.02 * torch.randn(shape["vocabulary"], shape["hidden"], dtype=torch.bfloat16)
                           for _ in range(2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.0)
    length = shape["length"]
    documents = []
    for _ in range(shape["drafter_documents"]):
        taps = 0.1 * torch.randn(length, TAPS * shape["hidden"], dtype=torch.bfloat16)
        documents.append((taps.pin_memory() if device.type == "cuda" else taps,
                          torch.randint(0, shape["vocabulary"], (length,), device=device),
                          torch.randperm(length - 1, device=device)[:shape["anchors"]].sort().values))

    def step():
        denominator = 0
        for taps, ids, anchors in documents:
            with torch.autocast(device.type, torch.bfloat16):
                total, weight = model(taps.to(device, non_blocking=True), ids, anchors, embedding, head)
            total.backward()
            denominator = denominator + weight
        for parameter in model.parameters():
            parameter.grad /= denominator
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    figures["drafter_steps_per_second"] = 1 / clock.best(step)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--out", default="benchmarks/results/torch.json")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu" and not arguments.smoke:
        parser.exit(1, "PyTorch sees no GPU\n")
    torch.manual_seed(1)
    shape = TINY if arguments.smoke else LARGE
    clock = Clock(device, 1 if arguments.smoke else 5)
    figures = {}
    for name, work in (("attention", lambda: attention(shape, device, clock, figures)),
                       ("target", lambda: target(shape, arguments.layers, device, clock, figures)),
                       ("drafter", lambda: drafter(shape, device, clock, figures))):
        try:
            work()
        except (ImportError, RuntimeError) as failure:  # out of memory is one
            print(f"  {name}: left out, {failure}".splitlines()[0])
        if device.type == "cuda":
            torch.cuda.empty_cache()
    for name, value in figures.items():
        print(f"  {name:<52} {value:14,.2f}")
    with open(arguments.out, "w") as out:
        json.dump({"benchmark": "torch", "torch": torch.__version__, "device": str(device), "smoke": arguments.smoke,
                   "layers": arguments.layers, "figures": figures}, out, indent=2)


if __name__ == "__main__":
    main()
