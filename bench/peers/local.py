"""Reports of the local model by multi-freq-ldpy, for collect/local's benchmarks.

Prints one line of JSON: microseconds of processor time for a report, and to count one, of
unary encoding and local hashing with 1,000 values at epsilon 1. Compiling comes before.
"""

import argparse
import importlib.metadata
import json
import time

from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

VALUES, EPSILON = 1000, 1.0


def timed(work, n):
    start = time.process_time()
    result = work()
    return (time.process_time() - start) / n * 1e6, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=3000)
    parser.add_argument("--versions", action="store_true")
    given = parser.parse_args()
    if given.versions:
        print(json.dumps({p: importlib.metadata.version(p) for p in ["multi-freq-ldpy", "numpy", "xxhash"]}))
        return
    n = given.reports
    out = {}
    for name, client, aggregate in [
        ("oue", lambda v: UE_Client(v, VALUES, EPSILON, True), lambda r: UE_Aggregator_MI(r, EPSILON, True)),
        ("olh", lambda v: LH_Client(v, VALUES, EPSILON, True), lambda r: LH_Aggregator_MI(r, VALUES, EPSILON, True)),
    ]:
        aggregate([client(v) for v in range(10)])
        out[name + " report"], reports = timed(lambda: [client(i % VALUES) for i in range(n)], n)
        out[name + " count"], _ = timed(lambda: aggregate(reports), n)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
