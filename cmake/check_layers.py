#!/usr/bin/env python3
"""Checks which folder includes what.

The distribution's headers sit on the compiler's default path, so linking can't keep a library out of a
folder; this table does. Usage: check_layers.py [ROOT]. Prints one line per violation, exits 1 if any.
"""

import fnmatch
import os
import re
import sys

# Third-party libraries, by the beginning of the header's name.
LIBRARIES = {
    "absl": ("absl/",),
    "highway": ("hwy/",),
    "json": ("nlohmann/",),
    "rocksdb": ("rocksdb/",),
    "faiss": ("faiss/",),
    "openmp": ("omp.h",),
    "xxhash": ("xxhash.h",),
    "protobuf": ("google/protobuf/",),
    "grpc": ("grpc/", "grpcpp/", "grpc++/"),
    "fmt": ("fmt/",),
    "spdlog": ("spdlog/",),
    "cli11": ("CLI/",),
    "prometheus": ("prometheus/",),
    "httplib": ("httplib.h",),
    "openssl": ("openssl/",),
    "systemd": ("systemd/",),
    "fast_float": ("fast_float/",),
    "zlib": ("zlib.h",),
    "zstd": ("zstd.h",),
    "hdf5": ("hdf5.h", "H5", "hdf5/"),
    "utf8proc": ("utf8proc.h",),
    "gtest": ("gtest/", "gmock/"),
    "benchmark": ("benchmark/",),
    "hnswlib": ("hnswlib/",),
    "blas": ("cblas.h", "openblas/"),
}

EVERYWHERE = ("*",)
ALL_OURS = ("common", "sizing", "storage", "index", "engine", "proto", "server", "client", "tests", "bench")


class Folder:
    """What the files of one folder may include."""

    def __init__(self, ours=(), libraries=None, exceptions=None):
        # Names of our folders, besides the folder itself.
        self.ours = ours
        # Library -> patterns (on the path inside the folder) of the files that may include it.
        self.libraries = libraries or {}
        # File inside the folder -> our folders that it may include too, their private headers with them.
        self.exceptions = exceptions or {}


def all_files(*libraries):
    return {library: EVERYWHERE for library in libraries}


FAISS_FILES = ("*.cc", "kernels/*", "faiss_*.h", "gpu_*.h")

TABLE = {
    "common": Folder((), all_files("absl", "highway")),
    "sizing": Folder(("common",), all_files("absl", "json")),
    "storage": Folder(("common",), {**all_files("absl"), "rocksdb": ("*.cc", "rocks_*.h"), "xxhash": ("*.cc",)}),
    "index": Folder(
        ("common",),
        {
            **all_files("absl"),
            "faiss": FAISS_FILES,
            "highway": FAISS_FILES,
            "openmp": FAISS_FILES,
            "xxhash": ("*.cc",),
            "blas": FAISS_FILES,
        },
    ),
    "engine": Folder(("storage", "index", "sizing", "common"), all_files("absl")),
    "server": Folder(
        ("engine", "sizing", "proto", "common"),
        all_files(
            *("absl", "grpc", "protobuf", "spdlog", "fmt", "cli11", "json"),
            *("prometheus", "httplib", "openssl", "systemd"),
        ),
        {"main.cc": ("storage", "index")},
    ),
    "client": Folder(
        ("proto", "sizing", "common"),
        all_files(
            *("absl", "grpc", "protobuf", "spdlog", "fmt", "cli11", "json", "fast_float"),
            *("zlib", "zstd", "hdf5", "utf8proc"),
        ),
    ),
    "tests": Folder(ALL_OURS, all_files(*LIBRARIES)),
    "bench": Folder(ALL_OURS, all_files(*LIBRARIES)),
    "cmake": Folder((), all_files("absl")),
}

# Headers that other folders don't include: they show a library that the folder keeps to itself.
PRIVATE = {
    "storage": ("rocks_*",),
    "index": ("kernels/*", "faiss_*", "gpu_*"),
}
SEES_PRIVATE = ("tests", "bench")

CPP_FILE = re.compile(r".*\.(h|hh|hpp|inc|c|cc|cpp|cxx)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
# The C++ standard library has neither a dot nor a slash in its names.
STANDARD = re.compile(r"^[a-z0-9_]+$")
SYSTEM_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "asm/", "sanitizer/")
SYSTEM_HEADERS = frozenset(
    "assert.h cpuid.h ctype.h cxxabi.h dirent.h dlfcn.h errno.h execinfo.h fcntl.h fenv.h float.h "
    "getopt.h glob.h immintrin.h arm_neon.h inttypes.h limits.h locale.h malloc.h math.h netdb.h poll.h "
    "pthread.h pwd.h sched.h semaphore.h signal.h spawn.h stdarg.h stddef.h stdint.h stdio.h stdlib.h "
    "string.h strings.h syslog.h termios.h time.h ucontext.h unistd.h wchar.h x86intrin.h".split()
)
SKIPPED_FOLDERS = frozenset(["build", "data"])


def library_of(header):
    for library, prefixes in LIBRARIES.items():
        if header.startswith(prefixes):
            return library
    return None


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def check_include(folder, path, header):
    """Why `header` may not be included by `path` of `folder`, or None."""
    rules = TABLE[folder]
    if header.startswith("vectable/v1/"):
        target, inside = "proto", header
    else:
        target, _, inside = header.partition("/")
    if inside and (target in TABLE or target == "proto"):
        if target == folder:
            return None
        excepted = target in rules.exceptions.get(path, ())
        if target not in rules.ours and not excepted:
            return f"{folder}/ may not include {target}/"
        if matches(inside, PRIVATE.get(target, ())) and folder not in SEES_PRIVATE and not excepted:
            return f"{target}/{inside} is private to {target}/"
        return None
    library = library_of(header)
    if library is not None:
        if library not in rules.libraries:
            return f"{folder}/ may not include {library}"
        if not matches(path, rules.libraries[library]):
            allowed = " ".join(rules.libraries[library])
            return f"in {folder}/ only {allowed} may include {library}"
        return None
    if STANDARD.match(header) or header.startswith(SYSTEM_FOLDERS) or header in SYSTEM_HEADERS:
        return None
    return "neither a path from the project's root nor a known library (see cmake/check_layers.py)"


def cpp_files(root):
    """(folder, path inside it) of each C++ file, sorted."""
    for folder in sorted(os.listdir(root)):
        if folder.startswith(".") or folder in SKIPPED_FOLDERS:
            continue
        top = os.path.join(root, folder)
        if not os.path.isdir(top):
            continue
        for where, subfolders, names in os.walk(top):
            subfolders.sort()
            for name in sorted(names):
                if CPP_FILE.match(name):
                    yield folder, os.path.relpath(os.path.join(where, name), top).replace(os.sep, "/")


def check_tree(root):
    """All violations under `root`, as lines of text."""
    found = []
    for folder, path in cpp_files(root):
        if folder not in TABLE:
            found.append(f"{folder}/{path}: {folder}/ isn't in the table of cmake/check_layers.py")
            continue
        with open(os.path.join(root, folder, path), encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                include = INCLUDE.match(line)
                if not include:
                    continue
                header = include.group(1) or include.group(2)
                reason = check_include(folder, path, header)
                if reason:
                    found.append(f"{folder}/{path}:{number}: {header}: {reason}")
    return found


def main(arguments):
    root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    violations = check_tree(root)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
