# SPDX-License-Identifier: Apache-2.0
"""trial.py: runs a test, which a mutant may have made do anything: with a limit of time, memory and bytes written, and in a group of
processes of its own, which is ended with it."""
import os
import re
import resource
import signal
import subprocess
import threading

FAILED = re.compile(r"\[  FAILED  \] \w")  # of cmocka: the rest of the program adds nothing
MEMORY, WRITTEN = 12 << 30, 4 << 30  # bytes


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(command, folder, environment, limit, stops=True, bounded=True):
    """How a command ends within `limit` seconds: "passed", "failed", "skipped", "late", or "the kernel does not build"; the lines that it wrote; and the seconds of processors that it took, which hang less on what else the machine does. `stops`: it is ended where it says that a test failed. `bounded`: its memory and files are limited."""
    running = subprocess.Popen(command, cwd=folder, env=environment, text=True, errors="replace", start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=limits if bounded else None)

    def end():
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    late = threading.Timer(limit, end)
    late.start()
    lines, failed = [], False
    for line in running.stdout:
        lines.append(line.rstrip())
        if stops and FAILED.match(line):
            failed = True
            break
        if len(lines) > 20000:  # what a mutant may write without end
            del lines[:10000]
    if failed:
        end()
    running.stdout.close()
    _, status, used = os.wait4(running.pid, 0)
    code = running.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    in_time = late.is_alive()
    late.cancel()
    end()  # what it left running
    if any("does not build" in line for line in lines):
        return "the kernel does not build", lines, seconds
    if failed:
        return "failed", lines, seconds
    if not in_time:
        return "late", lines, seconds
    return {0: "passed", 77: "skipped"}.get(code, "failed"), lines, seconds
