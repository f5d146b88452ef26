"""What a load took: seconds, CPU seconds and the most memory of this process and of those that it started."""

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
