"""A process that is measured: commands go down its pipe, answers come back, and /proc says what it used."""

import json
import subprocess
import time
from pathlib import Path

KIB_PER_MIB = 1024
IDLE_CHECK_SECONDS = 0.03  # three ticks of /proc's clock
IDLE_PATIENCE_SECONDS = 10.0


class PeerFailed(Exception):
    """A peer died, or answered with an error."""


class Peer:
    def __init__(self, name, command, environment):
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        self.proc = Path("/proc") / str(self.process.pid)
        self.memory_before = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, command, **fields):
        """Sends one command, and returns its answer once the peer is idle again."""
        try:
            print(json.dumps({"command": command, **fields}), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            raise PeerFailed(f"{self.name} has ended") from None
        line = self.process.stdout.readline()
        if not line:
            raise PeerFailed(f"{self.name} ended during `{command}`")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerFailed(f"{self.name}: {answer['error']}")
        self.wait_until_idle()
        return answer

    def wait_until_idle(self):
        """Thread pools spin for a while after their work, on processors that the next peer needs."""
        deadline = time.monotonic() + IDLE_PATIENCE_SECONDS
        used = self.cpu_ticks()
        while time.monotonic() < deadline:
            time.sleep(IDLE_CHECK_SECONDS)
            before, used = used, self.cpu_ticks()
            if used == before:
                return
        raise PeerFailed(f"{self.name} does not come to rest")

    def cpu_ticks(self):
        """Of all threads, user and system."""
        fields = (self.proc / "stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def start_memory_count(self):
        """What is in memory now, code of libraries above all, does not count."""
        (self.proc / "clear_refs").write_text("5")  # the peak begins anew
        self.memory_before = self.status_kib("VmRSS")

    def peak_mib(self):
        return (self.status_kib("VmHWM") - self.memory_before) / KIB_PER_MIB

    def status_kib(self, field):
        lines = (self.proc / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))
