#!/usr/bin/env python3
"""Compares Vectable's searches with hnswlib's and FAISS's, in one run on the same rows and queries.

The rows are the words of a GloVe text, 2,000 of them (seed 42) held out as queries. Everything is measured in turn,
ours and theirs, a few times; the medians are reported. Writes all figures as JSON and a page of tables as Markdown.
Run it by bench/compare.sh, which builds the programs first.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from bench_process import ENVIRONMENT, BenchProcess, EchoServer
from compare_report import render
from machine_facts import machine_facts
from server_process import Server

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTIONS = ("build", "graph", "exact", "memory", "served", "formats", "rows", "dimensions")
# Format, ending of its files, and how gensim loads them, if it does.
FILE_FORMATS = (("glove", "txt", {}), ("word2vec", "vec", {"no_header": False}),
                ("word2vec-bin", "bin", {"no_header": False, "binary": True}), ("jsonl", "jsonl", None),
                ("tsv", "tsv", None), ("npy", "npy", None), ("safetensors", "safetensors", None),
                ("fvecs", "fvecs", None), ("faiss", "faiss", None))
WIDTHS = (10, 20, 40, 70, 100, 150, 220, 320, 460, 660, 950, 1400)
RECALLS = (0.9, 0.95, 0.98, 0.99)
REPORTED = (0.95, 0.99)
BATCH = 100
OPEN_WIDTH = 200  # of the walks before memory is read
LIVE_ROWS_PER_SECOND = 1_000
HNSWLIB = "hnswlib M="
FAISS_FLAT = "faiss IndexFlatIP"
FAISS_GRAPH = "faiss IndexHNSWFlat M=32"


def note(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def at_recall(points, recall, key="qps"):
    """A figure at a recall: its logarithm is taken as linear in the recall between neighbouring points."""
    for before, after in zip([None, *points], points):
        if after["recall"] < recall:
            continue
        if before is None or before["recall"] >= recall:
            return after[key]
        share = (recall - before["recall"]) / (after["recall"] - before["recall"])
        return math.exp((1 - share) * math.log(before[key]) + share * math.log(after[key]))
    return None


def median_point(points):
    """Of each figure the median; with the least and greatest rate."""
    merged = dict(points[0])
    for key, value in points[0].items():
        if isinstance(value, float):
            merged[key] = statistics.median(point[key] for point in points)
    rates = [point["qps"] for point in points if "qps" in point]
    if rates:
        merged.update(repeats=len(rates), least_qps=min(rates), greatest_qps=max(rates))
    return merged


def summary_of_sweeps(sweeps):
    """Of several sweeps over the same widths the medians, by point and at the reported recalls."""
    points = [median_point(list(same)) for same in zip(*sweeps)]
    at = {}
    for recall in REPORTED:
        for key in ("qps", "cpu_qps", "p50_us", "p99_us"):
            values = [at_recall(sweep, recall, key) for sweep in sweeps]
            at.setdefault(str(recall), {})[key] = None if None in values else statistics.median(values)
    return {"points": points, "at_recall": at}


class Comparison:
    """One run: its options, its programs, and what was measured so far."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.results = json.loads(options.out.read_text()) if options.keep else {}
        self.results.update(machine=machine_facts(ROOT), options={k: str(v) for k, v in vars(options).items()})

    def program(self, name, *arguments):
        return BenchProcess(self.options.programs / ("vectable_" + name), *arguments)

    def repeat(self):
        return range(self.options.repeats)

    def data_set(self, rows=0, dimensions=0, words=False):
        """A data set's file and, if wanted, its rows as text."""
        path = self.folder / f"set-{rows}-{dimensions}.bin"
        text = self.folder / f"set-{rows}-{dimensions}.txt"
        if not path.exists() or (words and not text.exists()):
            note(f"makes a set of {rows or 'all'} rows, {dimensions or 'their own'} dimensions")
            command = [self.options.programs / "vectable_make_data_set", self.options.text, path, "--rows", str(rows),
                       "--dimensions", str(dimensions), "--queries", str(self.options.queries), "--seed", "42"]
            subprocess.run(command + (["--words", text] if words else []), env=ENVIRONMENT, check=True)
        return path, text

    @contextlib.contextmanager
    def engines(self, data, degrees, faiss_graph=False):
        """Processes by name: ours, hnswlib with each degree, FAISS."""
        with contextlib.ExitStack() as stack:
            names = ["ours", *(HNSWLIB + str(degree) for degree in degrees), *([FAISS_GRAPH] if faiss_graph else [])]
            yield {name: stack.enter_context(self.engine(name, data)) for name in names}

    def engine(self, name, data):
        if name.startswith(HNSWLIB):
            return self.program("hnswlib_bench", data, name.removeprefix(HNSWLIB))
        return self.program("faiss_bench" if name == FAISS_GRAPH else "index_bench", data)

    def file_of(self, name):
        return self.folder / (name.replace(" ", "-").replace("=", "") + ".index")

    def build(self, engines, thread_counts, repeats):
        """Builds every engine's index with each number of threads, in turn; the last one of each stays."""
        built = {name: {} for name in engines}
        for threads in thread_counts:
            rounds = {name: [] for name in engines}
            for _ in range(repeats):
                for name, engine in engines.items():
                    note(f"builds {name} on {threads} threads")
                    rounds[name].append(engine.ask("build", threads, self.file_of(name)))
            for name, figures in rounds.items():
                built[name][str(threads)] = median_point(figures)
        return built

    def sweep(self, engines, repeats):
        sweeps = {name: [] for name in engines}
        for _ in range(repeats):
            for name, engine in engines.items():
                note(f"walks {name}")
                sweeps[name].append(engine.ask("walks", self.options.queries, *WIDTHS))
        return {name: summary_of_sweeps(all_sweeps) for name, all_sweeps in sweeps.items()}

    def asked(self, ours, recalls, batches):
        """Searches of our engine with its own choice of width."""
        rounds = {(recall, batch): [] for recall in recalls for batch in batches}
        for _ in self.repeat():
            for (recall, batch), figures in rounds.items():
                figures.append(ours.ask("asked", recall, self.options.queries, batch))
        return [median_point(figures) for figures in rounds.values()]

    def exact(self, ours, faiss):
        """Exact search: ours, theirs, in turn."""
        found = {}
        for batch, queries in ((1, self.options.exact_queries), (BATCH, self.options.queries)):
            figures = {"ours": [], FAISS_FLAT: []}
            for _ in self.repeat():
                note(f"exact search, batches of {batch}")
                figures["ours"].append(ours.ask("asked", 0, queries, batch))
                figures[FAISS_FLAT].append(faiss.ask("exact", queries, batch))
            found[str(batch)] = {name: median_point(points) for name, points in figures.items()}
        return found

    def memory(self, names, data):
        """Each index opened from its file in a process of its own."""
        rounds = {name: [] for name in names}
        for _ in self.repeat():
            for name in names:
                with self.engine(name, data) as process:
                    rounds[name].append(process.ask("open", self.file_of(name), OPEN_WIDTH))
        return {name: median_point(figures) | {"file_bytes": self.file_of(name).stat().st_size}
                for name, figures in rounds.items()}

    # Sections.

    def measure_in_process(self):
        """The sections that share the indexes of the whole set."""
        wanted = self.options.only
        data, _ = self.data_set(self.options.rows)
        with self.engines(data, (16, 32), self.options.faiss_graph) as engines:
            build = "build" in wanted
            need_graphs = build or {"graph", "memory"} & wanted
            built = self.build(engines if need_graphs else {"ours": engines["ours"]}, (1, 2) if build else (2,),
                               self.options.build_repeats if build else 1)
            if build:
                self.results["build"] = built
                self.save("build")
            if "graph" in wanted:
                self.results["graph"] = self.sweep(engines, self.options.repeats)
                self.results["asked"] = self.asked(engines["ours"], RECALLS, (1, BATCH))
                self.save("graph", "asked")
            if "exact" in wanted:
                with self.program("faiss_bench", data) as faiss:
                    self.results["exact"] = self.exact(engines["ours"], faiss)
            names = list(engines)
        if "memory" in wanted:
            self.results["memory"] = self.memory(names, data)
        self.save(*(wanted & {"exact", "memory"}))

    def measure_growth(self, section, sizes):
        """How ours and hnswlib grow over (rows, dimensions); saved step by step."""
        steps = self.results[section] = []
        for rows, dimensions in sizes:
            data, _ = self.data_set(rows, dimensions)
            with self.engines(data, (self.options.growth_m,)) as engines:
                built = self.build(engines, (2,), 1)
                swept = self.sweep(engines, self.options.growth_repeats)
                asked = self.asked(engines["ours"], REPORTED, (1,))
                exact = engines["ours"].ask("asked", 0, self.options.exact_queries, 1)
            if rows != self.options.rows:
                data.unlink()
            steps.append({"rows": rows, "dimensions": dimensions, "build": built, "graph": swept, "asked": asked,
                          "exact": exact})
            self.save(section)

    def measure_rows(self):
        sizes = (5_000, 20_000, 40_000) if self.options.quick else (10_000, 100_000, 0, 1_000_000)
        self.measure_growth("rows", [(rows, 0) for rows in sizes])

    def measure_dimensions(self):
        rows = self.options.dimension_rows or (20_000 if self.options.quick else 100_000)
        self.measure_growth("dimensions", [(rows, dimensions) for dimensions in (0, 384, 768)])

    def measure_served(self):
        rows = [self.options.rows]
        if not self.options.quick:
            rows.append(1_000_000)
        self.results["served"] = []
        for i, count in enumerate(rows):
            self.results["served"].append(self.serve(count, with_rates=i == 0))
            self.save("served")

    def serve(self, rows, with_rates):
        """A server with the rows imported: rates, memory, disk, restarts."""
        data, text = self.data_set(rows, words=True)
        folder = self.folder / "server"
        server = Server(self.options.programs, folder)
        found = self.imports(server, text, self.options.repeats if with_rates else 1, with_rates and self.options.gensim)
        begin = time.monotonic()
        note("waits for the graph")
        server.ask("table", "optimize", "words", "--wait")
        found["optimize_seconds"] = round(time.monotonic() - begin, 2)
        table = server.ask("table", "show", "words")
        found.update(rows=table["rows"], dimensions=table["dimensions"])
        with self.program("served_bench", data, "words") as client:
            if with_rates:
                found["rates"] = self.served_rates(data, server.address, client)
            else:
                client.ask("nearest", server.address, 0.98, self.options.queries, 1)
            found.update(resident_bytes=server.resident_bytes(), anonymous_bytes=server.anonymous_bytes())
            server.stop()
            found["disk_bytes"] = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
            restarts = [self.restart(folder, client) for _ in self.repeat()]
            found["restarted"] = {key: statistics.median(one[key] for one in restarts) for key in restarts[0]}
            if with_rates:
                found["live"] = self.live(folder, client)
        shutil.rmtree(folder)
        text.unlink()
        return found

    def imports(self, server, text, repeats, gensim):
        """Imports the text a few times, in turn with gensim's load of it; the last table stays."""
        ours, theirs = [], []
        for i in range(repeats):
            if i > 0:
                server.ask("table", "drop", "words")  # or the building of its graph would slow gensim
            if gensim:
                theirs.append(gensim_load_seconds(text))
            note("imports")
            ours.append(server.ask("import", str(text), "--table", "words")["seconds"])
        found = {"import_seconds": statistics.median(ours), "imports_seconds": ours}
        if theirs and None not in theirs:
            found.update(gensim_load_seconds=statistics.median(theirs), gensim_loads_seconds=theirs)
        return found

    def measure_formats(self):
        """Exports all rows to a file of each format and imports it, in turn with gensim's load where it reads it."""
        _, text = self.data_set(self.options.rows, words=True)
        folder, files = self.folder / "server", self.folder / "files"
        files.mkdir(exist_ok=True)
        server = Server(self.options.programs, folder)
        server.ask("import", str(text), "--table", "words")
        found = {}
        for name, ending, theirs in FILE_FORMATS:
            path = files / f"words.{ending}"
            # Of word2vec's formats gensim reads words without blanks alone.
            written = server.ask("export", "words", str(path), "--on-bad", "skip")
            ours, gensim = [], []
            for _ in self.repeat():
                if theirs is not None and self.options.gensim:
                    gensim.append(gensim_load_seconds(path, **theirs))
                note(f"imports {name}")
                ours.append(server.ask("import", str(path), "--table", "again")["seconds"])
                server.ask("table", "drop", "again")
            found[name] = {"rows": written["rows_written"], "bytes": path.stat().st_size,
                           "export_seconds": written["seconds"], "import_seconds": statistics.median(ours)}
            if gensim and None not in gensim:
                found[name]["gensim_load_seconds"] = statistics.median(gensim)
            for made in written["files"]:
                pathlib.Path(made).unlink()
        server.stop()
        shutil.rmtree(folder)
        self.results["formats"] = found
        self.save("formats")

    def live(self, folder, client):
        """Latencies of searches alone, beside a steady writer, and alone again."""
        server = Server(self.options.programs, folder)
        client.ask("nearest", server.address, 0.98, self.options.queries, 1)
        rounds = {}
        for name, rate, share in (("idle before", 0, 1), ("beside upserts", LIVE_ROWS_PER_SECOND, 3),
                                  ("idle after", 0, 1)):
            note(f"searches, {name}")
            rounds[name] = client.ask("live", server.address, 0.98, self.options.live_seconds * share, rate)
        rounds["beside upserts"]["resident_bytes"] = server.peak_resident_bytes()
        server.stop()
        return rounds

    def restart(self, folder, client):
        """Seconds from the start of a server's process to its first answer; its memory then, and after all queries."""
        note("restarts")
        server = Server(self.options.programs, folder)
        first = client.ask("first", server.address)
        found = {"seconds": time.monotonic() - server.started, "first_resident_bytes": server.resident_bytes()}
        if first["hits"] != 10:
            sys.exit("the first answer after a restart isn't whole")
        client.ask("nearest", server.address, 0.98, self.options.queries, 1)
        found.update(resident_bytes=server.resident_bytes(), anonymous_bytes=server.anonymous_bytes())
        server.stop()
        return found

    def served_rates(self, data, address, client):
        """In process, served, and a bare echo, in turn."""
        queries = self.options.queries
        echo = EchoServer(self.options.programs)
        rounds = {}
        with self.program("index_bench", data) as ours:
            ours.ask("build", 2, self.file_of("ours"))
            # A processor that idles while the server computes wakes up later: so one echo that computes as long.
            busy_us = ours.ask("asked", 0.98, queries, 1)["p50_us"]
            busy_echo = EchoServer(self.options.programs, busy_us)
            for _ in self.repeat():
                note("serves")
                rounds.setdefault("echo", []).append(client.ask("nearest", echo.address, 0.98, queries, 1))
                rounds.setdefault(f"echo that computes {busy_us:.0f} us", []).append(
                    client.ask("nearest", busy_echo.address, 0.98, queries, 1) | {"busy_us": busy_us})
                rounds.setdefault("0.98, a stream of single queries, served", []).append(
                    client.ask("stream", address, 0.98, queries))
                for recall, batch in ((0.95, 1), (0.98, 1), (0.99, 1), (0.98, BATCH), (1, 1), (1, BATCH)):
                    exact = recall == 1
                    count = self.options.exact_queries if exact and batch == 1 else queries
                    name = f"{'exact' if exact else recall}, batch {batch}"
                    rounds.setdefault(name + ", in process", []).append(
                        ours.ask("asked", 0 if exact else recall, count, batch))
                    rounds.setdefault(name + ", served", []).append(
                        client.ask("nearest", address, recall, count, batch))
        echo.stop()
        busy_echo.stop()
        return {name: median_point(points) for name, points in rounds.items()}

    def save(self, *measured):
        """Writes all figures; notes at which commit these sections were measured."""
        commits = self.results.setdefault("commits", {})
        commits.update(dict.fromkeys(measured, self.results["machine"]["commit"]))
        self.results["machine"]["load_average_after"] = os.getloadavg()
        self.options.out.parent.mkdir(parents=True, exist_ok=True)
        self.options.out.write_text(json.dumps(self.results, indent=1) + "\n")

    def run(self):
        only = self.options.only
        if only & {"build", "graph", "exact", "memory"}:
            self.measure_in_process()
        if "served" in only:
            self.measure_served()
        if "formats" in only:
            self.measure_formats()
        if "rows" in only:
            self.measure_rows()
        if "dimensions" in only:
            self.measure_dimensions()
        self.save()


def gensim_load_seconds(text, binary=False, no_header=True):
    """How long gensim takes to load the file into memory, or nothing where it isn't installed."""
    code = ("import sys, time; from gensim.models import KeyedVectors; begin = time.monotonic(); "
            f"KeyedVectors.load_word2vec_format(sys.argv[1], binary={binary}, no_header={no_header}); "
            "print(time.monotonic() - begin)")
    note("loads the file with gensim")
    done = subprocess.run(["/usr/bin/python3", "-c", code, text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    if done.returncode != 0:
        note("gensim isn't installed, or failed")
        return None
    return float(done.stdout)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=pathlib.Path, help="the words as GloVe text")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bench/bin", help="the built programs")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench/compare.json", help="all figures")
    parser.add_argument("--markdown", type=pathlib.Path,
                        help="the page of tables; docs/benchmarks.md for a whole run, else stdout")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, of " + ",".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="few rows, one repeat")
    parser.add_argument("--rows", type=int, help="rows of the base; all if not given")
    parser.add_argument("--queries", type=int)
    parser.add_argument("--exact-queries", type=int, help="for exact searches one at a time")
    parser.add_argument("--repeats", type=int, help="of every other measurement of queries, imports and restarts")
    parser.add_argument("--live-seconds", type=int, default=20, help="of searches alone; three times as long beside upserts")
    parser.add_argument("--build-repeats", type=int, default=1)
    parser.add_argument("--growth-repeats", type=int, default=1, help="of the walks where rows and dimensions grow")
    parser.add_argument("--growth-m", type=int, default=16, help="hnswlib's M where rows and dimensions grow")
    parser.add_argument("--dimension-rows", type=int, help="rows of the sets that grow in dimensions")
    parser.add_argument("--faiss-graph", action="store_true", help="also build FAISS's HNSW, which takes minutes")
    parser.add_argument("--no-gensim", dest="gensim", action="store_false", help="don't load the text with gensim")
    parser.add_argument("--keep", action="store_true", help="keep the figures of other sections that --out has already")
    parser.add_argument("--render", action="store_true", help="only make the page again from the figures in --out")
    options = parser.parse_args()
    options.only = set(options.only.split(","))
    if options.only - set(SECTIONS):
        parser.error("no such section: " + ", ".join(options.only - set(SECTIONS)))
    defaults = (20_000, 500, 100, 1) if options.quick else (0, 2_000, 200, 3)
    for name, value in zip(("rows", "queries", "exact_queries", "repeats"), defaults):
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.keep and not options.out.exists():
        parser.error(f"--keep: there is no {options.out}")
    whole = options.keep or options.only == set(SECTIONS)
    if options.markdown is None and whole and not (options.quick or options.render):
        options.markdown = ROOT / "docs/benchmarks.md"
    return options


def main():
    options = parse_options()
    if not options.render:
        with tempfile.TemporaryDirectory(prefix="vectable-bench-") as folder:
            Comparison(options, pathlib.Path(folder)).run()
    page = render(json.loads(options.out.read_text()))
    if options.markdown is None:
        print(page, end="")
    else:
        options.markdown.write_text(page)


if __name__ == "__main__":
    main()
