"""Programs of bench/ that take commands on stdin and answer each with a line of JSON."""

import json
import os
import select
import subprocess
import sys

# One thread for a search, and no spinning between OpenMP's loops. OpenMP's own build threads are set by the program.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


class BenchProcess:
    """A program that waits for commands; `with` ends it."""

    def __init__(self, *command, limit_seconds=3600):
        self.command = [str(part) for part in command]
        self.limit_seconds = limit_seconds
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=ENVIRONMENT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, *words):
        line = " ".join(str(word) for word in words)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit_seconds)
        if not ready:
            self.process.kill()
            sys.exit(f"no answer after {self.limit_seconds} s: {' '.join(self.command)}: {line}")
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"failed: {' '.join(self.command)}: {line}")
        return json.loads(answer)



class EchoServer:
    """A bare gRPC server that answers every Nearest after so much computing, on a free loopback port."""

    def __init__(self, programs, busy_micros=0):
        self.process = subprocess.Popen([programs / "vectable_rpc_api_bench", "--serve", "callback",
                                         "--busy-micros", str(round(busy_micros))],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = "127.0.0.1:" + self.process.stdout.readline().strip()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
