#!/usr/bin/env python3
"""Compares the memory that the ledger names with what the server process grew by.

Imports a table of random rows over standard input, asks `size`, and sets the sum of the ledger's parts in
memory beside the growth of the process's resident memory. Prints a JSON document; exits 1 when they differ
by more than 5 % of the growth.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from server_process import Server


def write_rows(pipe, rows, dimensions):
    generator = random.Random(1)
    values = [f"{generator.gauss(0, 1):.4f}" for _ in range(100_003)]
    for row in range(rows):
        start = row * 7919 % (len(values) - dimensions)
        pipe.write(f"word{row} {' '.join(values[start:start + dimensions])}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/release/bin"),
                        help="folder of vectable and vectable-server")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        server = Server(arguments.programs, data)
        server.ask("table", "create", "random", "--dim", str(arguments.dimensions),
                   "--precision", arguments.precision)
        before = server.resident_bytes()
        importer = subprocess.Popen(
            [arguments.programs / "vectable", "--server", server.address, "--json", "import", "-",
             "--table", "random"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        write_rows(importer.stdin, arguments.rows, arguments.dimensions)
        importer.stdin.close()
        imported = json.loads(importer.stdout.read())
        if importer.wait() != 0:
            sys.exit("the import failed")
        growth = server.resident_bytes() - before
        size = server.ask("size", "random")
        server.stop()
    table = size["measured"]["memory"]
    database = size["measured"]["database"]["memory"]
    named = table["total"] - table["memtables"] + sum(database.values())
    share = (named - growth) / growth
    print(json.dumps({
        "rows": size["rows"], "dimensions": size["dimensions"], "precision": size["precision"],
        "import_seconds": imported["seconds"], "resident_growth_bytes": growth, "ledger_bytes": named,
        "difference_share": round(share, 4), "table": table, "database": database,
    }, indent=2))
    sys.exit(0 if abs(share) <= 0.05 and size["rows"] == arguments.rows else 1)


if __name__ == "__main__":
    main()
