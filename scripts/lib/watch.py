#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run a lane, watch whether it goes on, and measure it.

usage: watch.py SILENCE RESULTS COMMAND... [-- PATTERN...]

A lane goes on as long as it prints something, or a file that matches a PATTERN changes: builds and tests write such
files. After SILENCE seconds without either, print the lane's processes and the last lines of the files that changed
last, and kill the lane. What the lane leaves behind when it ends is killed, too.

The file RESULTS.used gets one line "SECONDS PROCESSOR-SECONDS PROCESSES". PROCESSES is how many processes and threads
the whole machine started in that time: Linux counts them for no smaller unit. If the lane is killed, RESULTS.killed
gets what it was doing.

Exit status: that of the command, or 124 if it was killed.
"""

import ctypes
import glob
import os
import resource
import selectors
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
LOOK_SECONDS = 2  # how often the files are looked at
TAIL_LINES = 10


def started():
    """Return how many processes and threads this machine has started."""
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes "))


def newest(patterns):
    """Return the files that match the patterns as (time of change, path), the last changed one first."""
    found = []
    for pattern in patterns:
        for path in glob.glob(pattern):
            try:
                found.append((os.stat(path).st_mtime, path))
            except OSError:  # removed since
                pass
    return sorted(found, reverse=True)


def parents():
    """Return {PID: parent's PID} of all processes."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    found[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    return found


def descendants():
    """Return the PIDs of what this process has started, directly or not."""
    parent, found, new = parents(), set(), {os.getpid()}
    while new:
        new = {pid for pid, above in parent.items() if above in new} - found
        found |= new
    return found


def kill_all():
    # Twice: a process may start another one while the first round looks.
    for _ in range(2):
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def report(name, silence, patterns):
    """Return what the lane is doing, and what else may be the cause, as text."""
    pids = ",".join(map(str, sorted(descendants())))
    doing = f"   {name}: no test ended and nothing was printed for {silence:g} s; its processes, before they are killed:\n"
    doing += output_of("sh", "-c", 'ps --forest -o pid,ppid,stat,wchan:24,etimes,rss,args -p "$0" | cut -c1-200', pids)
    cause = ""
    for changed, path in newest(patterns)[:3]:
        cause += f"   {path}, changed {time.time() - changed:.0f} s ago, ends with:\n"
        cause += output_of("tail", "-n", str(TAIL_LINES), path)
    cause += output_of("free", "-m") + output_of("df", "-h", "/", os.environ.get("TMPDIR", "/tmp"))
    return doing, cause


class Watch:
    def __init__(self, command, silence, patterns):
        self.silence, self.patterns = silence, patterns
        self.name = os.path.basename(command[-1])
        # A process of the lane may look whether another one has ended, so those without a parent are waited for at once.
        self.ended, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
        self.heard = time.time()

    def reap(self):
        """Wait for what has ended of the lane; return whether the lane itself has."""
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if not ended or ended.si_pid == self.child.pid:
                return bool(ended)
            os.waitpid(ended.si_pid, 0)

    def pass_on(self):
        """Print what the lane prints until it ends; return whether it is to be killed."""
        output = self.child.stdout.fileno()
        os.set_blocking(output, False)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(self.ended, selectors.EVENT_READ)
            while True:
                ready = [key.fd for key, _ in selector.select(LOOK_SECONDS)]
                if self.ended in ready:
                    os.read(self.ended, 1 << 16)
                has_ended = self.reap()
                if output in ready:
                    data = os.read(output, 1 << 16)
                    if not data:
                        return False
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
                    self.heard = time.time()
                    continue
                # A process that the lane left behind may keep its output open.
                if has_ended:
                    return False
                self.heard = max([self.heard] + [changed for changed, _ in newest(self.patterns)[:1]])
                if time.time() - self.heard > self.silence:
                    return True

    def run(self, results):
        silent = self.pass_on()
        if silent:
            doing, cause = report(self.name, self.silence, self.patterns)
            print(doing + cause, end="", flush=True)
            with open(f"{results}.killed", "w", encoding="utf-8") as file:
                file.write(doing)
            kill_all()
        status = self.child.wait()
        kill_all()
        try:
            while True:
                os.wait()
        except ChildProcessError:
            pass
        return 124 if silent else status if status >= 0 else 128 - status


def main(silence, results, *rest):
    split = rest.index("--") if "--" in rest else len(rest)
    command, patterns = list(rest[:split]), list(rest[split + 1:])
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("watch.py: prctl(PR_SET_CHILD_SUBREAPER) failed")
    # The lane has the default actions, even if a caller ignored these signals.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda number, frame: (kill_all(), sys.exit(128 + number)))
    begin, before = time.monotonic(), started()
    watch = Watch(command, float(silence), patterns)
    status = watch.run(results)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(f"{results}.used", "w", encoding="ascii") as file:
        print(f"{time.monotonic() - begin:.0f} {usage.ru_utime + usage.ru_stime:.1f} {started() - before}", file=file)
    return status


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
