#!/usr/bin/env python3
"""Installs Vectable to a fresh folder, builds a small project against the C++ client found there, and runs it
against the installed server. Exits 1, with what went wrong, if any of that fails."""

import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder to install from")
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    consumer = pathlib.Path(__file__).parent / "consumer"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # The file below /etc goes to the fresh folder, too.
        run(arguments.cmake, "--install", arguments.build, "--prefix", "/usr", env={"DESTDIR": str(folder / "root")})
        root = folder / "root" / "usr"
        for path in ("bin/vectable", "bin/vectable-server", "share/vectable/proto/vectable/v1/search.proto",
                     "lib/systemd/system/vectable-server.service"):
            if not (root / path).is_file():
                sys.exit(f"{path} wasn't installed")
        run(arguments.cmake, "-S", consumer, "-B", folder / "build", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={arguments.compiler}", f"-DCMAKE_PREFIX_PATH={root}")
        run(arguments.cmake, "--build", folder / "build")
        server = subprocess.Popen([root / "bin/vectable-server", "--data", folder / "data", "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = server.stdout.readline().split()[-1]
            word = run(folder / "build" / "consumer", address).strip()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        if word != "dog":
            sys.exit(f"the consumer printed {word!r}")


if __name__ == "__main__":
    main()
