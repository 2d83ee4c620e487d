"""Compares the program's parameter counts with those of torch's own modules.

Usage: torch_modules_test.py PROGRAM. Exits 77, saying why, where torch or the program is missing.
"""

import json
import os
import subprocess
import sys

SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def ask(program, *arguments):
    done = subprocess.run(
        [program, "model", *map(str, arguments), "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)["parameters"]["total"]


def cases(nn):
    """What is compared: (arguments of `model`, the module)."""
    encoder = nn.TransformerEncoderLayer(d_model=768, nhead=12, dim_feedforward=3072)
    yield ("--preset", "pytorch-transformer-encoder-layer"), encoder
    yield ("--preset", "pytorch-transformer-encoder-layer-2048"), nn.TransformerEncoderLayer(768, 12)
    yield ("--preset", "pytorch-transformer-encoder"), nn.TransformerEncoder(encoder, 12)
    yield ("--preset", "pytorch-transformer-decoder-layer"), nn.TransformerDecoderLayer(768, 12, 3072)
    yield ("--preset", "pytorch-multihead-attention"), nn.MultiheadAttention(768, 12)
    yield ("--preset", "pytorch-transformer"), nn.Transformer()
    yield ("--preset", "pytorch-embedding"), nn.Embedding(30522, 768)
    yield ("embedding", 301, 7), nn.Embedding(301, 7)
    yield ("linear", 13, 5), nn.Linear(13, 5)
    yield ("linear", 13, 5, "--no-bias"), nn.Linear(13, 5, bias=False)
    yield ("attention", "--dim", 96, "--heads", 6), nn.MultiheadAttention(96, 6)
    yield ("attention", "--dim", 96, "--heads", 6, "--no-bias"), nn.MultiheadAttention(96, 6, bias=False)
    for d, heads, ffn, layers, crossing in [(64, 4, 100, 2, 3), (32, 8, 17, 1, 1), (48, 3, 192, 4, 2)]:
        shape = ("--dim", d, "--heads", heads, "--ffn", ffn, "--layers", layers, "--cross-layers", crossing)
        yield (*shape, "--final-norms", 2), nn.Transformer(d, heads, layers, crossing, ffn)


def main(program):
    try:
        from torch import nn
    except ImportError as error:
        skip(f"no torch here ({error}); Debian has it as python3-torch")
    if not os.access(program, os.X_OK):
        skip(f"{program} isn't built")
    failed = 0
    for arguments, module in cases(nn):
        got, expected = ask(program, *arguments), count(module)
        if got != expected:
            failed += 1
        print(f"{'ok' if got == expected else 'FAILED'}: {arguments}: {got}, torch has {expected}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
