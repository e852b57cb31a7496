# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Hosts and DPUs of a fleet without cards: tests/fleet/probe.c, which drives libdpumap-fleet."""

import json
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

PATIENCE = 120  # seconds; only a hung test needs them
TOKEN = object()


def probe_program():
    return str(pathlib.Path(os.environ["DPUMAP_BIN"]).parent / "tests" / "fleet_probe")


class Probe:
    """fleet_probe as a process: its lines are in self.seen, in order."""

    def __init__(self, *words, endpoints=(), clock=None, **options):
        self.command = [probe_program(), *map(str, words)]
        for url in endpoints:
            self.command += ["--endpoint", url]
        for name, value in options.items():
            self.command += [f"--{name.replace('_', '-')}", str(value)]
        environment = clock.environment() if clock else None
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )
        self.seen = []
        self.lines = queue.Queue()
        self.place = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(TOKEN)

    def take(self, seconds):
        """The next line; None if there is none in that time; fails if the probe has ended."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        assert line is not TOKEN, f"the probe has ended with {self.process.wait()}"
        self.seen.append(line)
        return line

    def expect(self, event, condition=lambda line: True, **fields):
        """The next line of this event with these fields that is new since the last expect()."""

        def is_it(line):
            return (
                line["event"] == event
                and all(line.get(key) == value for key, value in fields.items())
                and condition(line)
            )

        end = time.monotonic() + PATIENCE
        while True:
            while self.place < len(self.seen):
                self.place += 1
                if is_it(self.seen[self.place - 1]):
                    return self.seen[self.place - 1]
            left = end - time.monotonic()
            assert left > 0, f"no {event} {fields} came; there were {self.seen[-20:]}"
            self.take(left)

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def ask(self, *words, event=None):
        """A command and its answer, whatever else comes meanwhile."""
        place = self.place
        self.place = len(self.seen)
        self.say(*words)
        answer = self.expect(event or words[0])
        self.place = place
        return answer

    def logged(self):
        """All lines of the log so far."""
        while self.take(0):
            pass
        return [line["line"] for line in self.seen if line["event"] == "log"]

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0])

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def end(self):
        """Closes the input, and returns the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE)


class Host(Probe):
    """A watching host."""

    def __init__(self, endpoints, fleet="f", timeout=30000, **options):
        super().__init__("watch", fleet, endpoints=endpoints, timeout=timeout, **options)

    def started(self, result="DOCA_SUCCESS"):
        answer = self.expect("started")
        assert answer["result"] == result, answer
        return self

    def names(self, *words):
        """DPU:EXPORT of a list."""
        return [f"{one['dpu']}:{one['export']}" for one in self.ask("list", *words)["list"]]

    def dpus(self):
        return [one["dpu"] for one in self.ask("dpus")["list"]]

    def status(self):
        return self.ask("status")


class Dpu(Probe):
    """A DPU that publishes."""

    def __init__(self, endpoints, name="dpu1", fleet="f", ttl=3, **options):
        super().__init__("publish", fleet, name, endpoints=endpoints, ttl=ttl, **options)
        self.generation = 1

    def created(self, result="DOCA_SUCCESS"):
        answer = self.expect("created")
        assert answer["result"] == result, answer
        return self

    def set(self, *exports, address="tls:127.0.0.1:7470", result="DOCA_SUCCESS"):
        """exports: "NAME,SIZE,GENERATION,LABEL..." """
        answer = self.ask("set", address, self.generation, *exports)
        assert answer["result"] == result, answer
        return answer

    def state(self):
        return self.ask("state")

    def published(self):
        """Until all is published."""
        end = time.monotonic() + PATIENCE
        while True:
            state = self.state()
            if state["phase"] == "published" and state["wanted"] == state["published"]:
                return self
            assert time.monotonic() < end, (state, self.logged())
            self.take(0.05)

    def await_phase(self, phase):
        end = time.monotonic() + PATIENCE
        while True:
            state = self.state()
            if state["phase"] == phase:
                return state
            assert time.monotonic() < end, (state, self.logged())
            self.take(0.05)


def publish(publisher, cluster, name="dpu1", *exports, **more):
    """A DPU whose exports are published: `a` if none is named."""
    one = publisher(cluster, name, **more).created()
    one.set(*(exports or ("a,1,1",)))
    return one.published()
