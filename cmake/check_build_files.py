#!/usr/bin/env python3
"""Checks the build files: every source is named, nothing is globbed or downloaded, packages are found in one file.

Usage: check_build_files.py [ROOT]. Prints one line per violation, exits 1 if any.
"""

import os
import re
import sys

BANNED = {
    r"\bfile\s*\(\s*GLOB": "sources are listed by name",
    r"\b(FetchContent|ExternalProject)": "a build downloads nothing",
    r"\bfile\s*\(\s*DOWNLOAD": "a build downloads nothing",
}
FIND_PACKAGE = re.compile(r"\b(find_package|find_library|pkg_check_modules|pkg_search_module)\s*\(", re.I)
DEPENDENCIES = "cmake/Dependencies.cmake"
# A project of its own, which finds ours as others do.
CONSUMER = "tests/package/consumer/CMakeLists.txt"
SKIPPED_FOLDERS = frozenset(["build", "data"])


def walk(root):
    """Paths from `root` of all files but those of hidden and built folders."""
    for where, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name for name in subfolders if not name.startswith(".") and name not in SKIPPED_FOLDERS
        )
        for name in sorted(names):
            yield os.path.relpath(os.path.join(where, name), root).replace(os.sep, "/")


def read_commands(path):
    """The build file's lines without their comments."""
    with open(path, encoding="utf-8") as text:
        return [line.split("#", 1)[0] for line in text]


def is_named(source, build_files):
    """Whether a build file of the source's folder, or of one above it, names the source."""
    folder = os.path.dirname(source)
    while True:
        build_file = os.path.join(folder, "CMakeLists.txt").lstrip("/")
        if build_file in build_files:
            name = os.path.relpath(source, folder or ".").replace(os.sep, "/")
            if name in re.split(r"[\s()\"]+", "\n".join(build_files[build_file])):
                return True
        if not folder:
            return False
        folder = os.path.dirname(folder)


def check_tree(root):
    """All violations under `root`, as lines of text."""
    found = []
    paths = list(walk(root))
    build_files = {
        path: read_commands(os.path.join(root, path))
        for path in paths
        if path.endswith(("CMakeLists.txt", ".cmake"))
    }
    for path, lines in build_files.items():
        for number, line in enumerate(lines, 1):
            for pattern, reason in BANNED.items():
                if re.search(pattern, line, re.I):
                    found.append(f"{path}:{number}: {reason}: {line.strip()}")
            if path not in (DEPENDENCIES, CONSUMER) and FIND_PACKAGE.search(line):
                found.append(f"{path}:{number}: only {DEPENDENCIES} finds packages: {line.strip()}")
    for path in paths:
        if path.endswith((".cc", ".proto")) and not path.startswith("cmake/"):
            if not is_named(path, build_files):
                found.append(f"{path}: no CMakeLists.txt names it, so it isn't built")
    return found


def main(arguments):
    root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    violations = check_tree(root)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
