"""Reports of the local model by other libraries, for bench/local.

Prints one line of JSON: by library and protocol, microseconds of processor time for a report,
and to count one, at epsilon 1. Compiling comes before. None of them but OpenDP draws from a
cryptographic generator.
"""

import argparse
import importlib.metadata
import json
import math
import time

import opendp.prelude as opendp
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles import DEClient, DEServer, HadamardMechClient, HadamardMechServer, LHClient, LHServer, UEClient, UEServer

FEW, VALUES, EPSILON = 100, 1000, 1.0


def timed(work, n):
    start = time.process_time()
    result = work()
    return (time.process_time() - start) / n * 1e6, result


def multi_freq():
    yield "grr", lambda v: GRR_Client(v % FEW, FEW, EPSILON), lambda r: GRR_Aggregator_MI(r, FEW, EPSILON)
    yield "oue", lambda v: UE_Client(v, VALUES, EPSILON, True), lambda r: UE_Aggregator_MI(r, EPSILON, True)
    yield "olh", lambda v: LH_Client(v, VALUES, EPSILON, True), lambda r: LH_Aggregator_MI(r, VALUES, EPSILON, True)


def pure():
    def pair(client, server):
        def count(reports):
            for r in reports:
                server.aggregate(r)

        return lambda v: client.privatise(v % client.d + 1), count

    yield "grr", *pair(DEClient(EPSILON, FEW), DEServer(EPSILON, FEW))
    yield "oue", *pair(UEClient(EPSILON, VALUES, use_oue=True), UEServer(EPSILON, VALUES, use_oue=True))
    yield "olh", *pair(LHClient(EPSILON, VALUES, use_olh=True), LHServer(EPSILON, VALUES, use_olh=True))
    yield "hadamard", *pair(HadamardMechClient(EPSILON, VALUES, 1), HadamardMechServer(EPSILON, VALUES, 1))


def open_dp():
    opendp.enable_features("contrib")
    categories = [str(v) for v in range(FEW)]
    truth = math.exp(EPSILON) / (math.exp(EPSILON) + FEW - 1)
    yield "grr", (lambda m: lambda v: m(categories[v % FEW]))(opendp.m.make_randomized_response(categories, prob=truth)), None
    # f of RAPPOR's permanent answer: two bits differ, each by (2-f)/f.
    bits = opendp.m.make_randomized_response_bitvec(
        opendp.bitvector_domain(max_weight=1), opendp.discrete_distance(), f=2 / (1 + math.exp(EPSILON / 2)))
    hot = [bytes(0x80 >> v % 8 if i == v // 8 else 0 for i in range(VALUES // 8)) for v in range(VALUES)]
    yield "sue", lambda v: bits(hot[v]), None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=1000)
    parser.add_argument("--versions", action="store_true")
    given = parser.parse_args()
    if given.versions:
        print(json.dumps({p: importlib.metadata.version(p) for p in ["multi-freq-ldpy", "pure-ldp", "opendp", "numpy", "xxhash"]}))
        return
    n = given.reports
    out = {}
    for library, protocols in [("multi-freq-ldpy", multi_freq), ("pure-LDP", pure), ("OpenDP", open_dp)]:
        for name, client, count in protocols():
            first = [client(v) for v in range(10)]
            if count:
                count(first)
            out[f"{library} {name} report"], reports = timed(lambda: [client(i % VALUES) for i in range(n)], n)
            if count:
                out[f"{library} {name} count"], _ = timed(lambda: count(reports), n)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
