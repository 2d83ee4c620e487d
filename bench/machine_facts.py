"""What a benchmark's figures depend on besides the code."""

import os
import pathlib
import re
import subprocess
import time

FLAGS = ("avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
         "avx_vnni", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimddp", "sve")
PACKAGES = ("libhnswlib-dev", "libfaiss-dev", "libopenblas0-pthread", "libgrpc++-dev", "libprotobuf-dev",
            "librocksdb-dev", "libhwy-dev", "libgomp1", "python3-gensim")


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
    except OSError:
        return ""


def chosen(text):
    """The word in brackets of a kernel setting."""
    found = re.search(r"\[(\w+)\]", text)
    return found.group(1) if found else "unknown"


def machine_facts(source_folder):
    cpu = read("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.*)", cpu)
    flags = re.search(r"(?:flags|Features)\s*:\s*(.*)", cpu)
    present = set(flags.group(1).split()) if flags else set()
    memory = re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo"))
    os_name = re.search(r'PRETTY_NAME="(.*)"', read("/etc/os-release"))
    versions = output("dpkg-query", "-W", "-f", "${binary:Package} ${Version}\n", *PACKAGES)
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": output("git", "-C", str(source_folder), "describe", "--always", "--dirty"),
        "cpu": model.group(1) if model else "unknown",
        "cpu_flags": [flag for flag in FLAGS if flag in present],
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else None,
        "l2_bytes": output("getconf", "LEVEL2_CACHE_SIZE"),
        "l3_bytes": output("getconf", "LEVEL3_CACHE_SIZE"),
        "os": os_name.group(1) if os_name else "unknown",
        "kernel": os.uname().release,
        "transparent_huge_pages": chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "compiler": output("g++", "--version").splitlines()[:1],
        "packages": {name.split(":")[0]: version
                     for name, version in (line.split(" ", 1) for line in versions.splitlines() if " " in line)},
        "load_average_before": os.getloadavg(),
    }
