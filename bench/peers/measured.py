"""Measures a load: seconds, CPU seconds and peak memory of this process and its children."""

import resource
import time


def measured(load):
    before = _cpu()
    started = time.monotonic()
    load()
    seconds = time.monotonic() - started
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Linux counts in KB.
    return {
        "seconds": seconds,
        "cpuSeconds": _cpu() - before,
        "megabytes": sum(one.ru_maxrss for one in of) / 1024,
    }


def _cpu():
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of)
