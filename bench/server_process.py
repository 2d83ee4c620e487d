"""A server process for the measuring scripts."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time


class Server:
    """A server process on a free loopback port."""

    def __init__(self, programs, data):
        self.programs = programs
        self.started = time.monotonic()
        self.process = subprocess.Popen([programs / "vectable-server", "--data", data, "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"listening on (\S+)\n", line)
        if not match:
            sys.exit("the server didn't start:\n" + self.process.stderr.read())
        self.address = match.group(1)

    def ask(self, *arguments):
        done = subprocess.run([self.programs / "vectable", "--server", self.address, "--json", *arguments],
                              stdout=subprocess.PIPE, check=True, text=True)
        return json.loads(done.stdout)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()
        if self.process.returncode != 0:
            sys.exit(f"the server ended with {self.process.returncode}")

    def resident_bytes(self):
        return self.status_bytes("VmRSS")

    def anonymous_bytes(self):
        """The resident memory that no file stands behind."""
        return self.status_bytes("RssAnon")

    def peak_resident_bytes(self):
        return self.status_bytes("VmHWM")

    def status_bytes(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(name + r":\s+(\d+) kB", status).group(1)) * 1024
