"""Asks other libraries for epsilon at delta.

Reads one request a line from standard input, {"library", "plan", "delta", "limit_s"},
the plan as Discreet writes it, and answers with one line each: {"epsilon", "low",
"high", "seconds"} or {"error", "seconds"}. Importing a library is not timed; a
library's first call is made once before, untimed.
"""

import importlib.metadata
import json
import math
import resource
import signal
import sys
import time
import warnings

warnings.simplefilter("ignore")


def number(x):
    if isinstance(x, str):
        if x.startswith("sqrt("):
            return math.sqrt(number(x[5:-1]))
        if "/" in x:
            a, b = x.split("/")
            return float(a) / float(b)
    return float(x)


def terms(plan):
    """The plan as a list of (count, event name, arguments)."""
    [(name, args)] = plan.items()
    if name == "sum":
        return [t for p in args for t in terms(p)]
    if name == "repeat":
        return [(int(args["count"]) * c, n, a) for c, n, a in terms(args["event"])]
    return [(1, name, args)]


class Unsupported(Exception):
    pass


def noise_multiplier(args):
    return number(args["sigma"]) / number(args.get("sensitivity", 1))


def dp_accounting_pld(plan, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    def one(name, args, rate=1.0):
        sensitivity = number(args.get("sensitivity", 1))
        if name == "gaussian":
            return pld.from_gaussian_mechanism(number(args["sigma"]), sensitivity=sensitivity, sampling_prob=rate)
        if name == "laplace":
            return pld.from_laplace_mechanism(number(args["b"]), sensitivity=sensitivity, sampling_prob=rate)
        if name == "discrete_laplace":
            return pld.from_discrete_laplace_mechanism(1 / number(args["b"]), sensitivity=int(sensitivity), sampling_prob=rate)
        if name == "discrete_gaussian":
            return pld.from_discrete_gaussian_mechanism(number(args["sigma"]), sensitivity=int(sensitivity), sampling_prob=rate)
        if name in ("pure", "approx") and rate == 1.0:
            return pld.from_privacy_parameters(DifferentialPrivacyParameters(number(args["eps"]), number(args.get("delta", 0))))
        if name == "poisson" and rate == 1.0:
            [(inner, inner_args)] = args["event"].items()
            return one(inner, inner_args, number(args["rate"]))
        raise Unsupported(name)

    whole = None
    for count, name, args in terms(plan):
        loss = one(name, args)
        if count > 1:
            loss = loss.self_compose(count)
        whole = loss if whole is None else whole.compose(loss)
    return {"epsilon": whole.get_epsilon_for_delta(delta)}


def rdp_event(plan):
    from dp_accounting import dp_event as dpa

    def one(name, args):
        if name == "gaussian":
            return dpa.GaussianDpEvent(noise_multiplier(args))
        if name == "laplace":
            return dpa.LaplaceDpEvent(number(args["b"]) / number(args.get("sensitivity", 1)))
        if name == "zcdp":
            return dpa.ZCDpEvent(number(args["rho"]))
        if name == "poisson":
            return dpa.PoissonSampledDpEvent(number(args["rate"]), rdp_event(args["event"]))
        raise Unsupported(name)

    events = [dpa.SelfComposedDpEvent(one(n, a), c) if c > 1 else one(n, a) for c, n, a in terms(plan)]
    return events[0] if len(events) == 1 else dpa.ComposedDpEvent(events)


def dp_accounting_rdp(plan, delta):
    from dp_accounting.rdp import RdpAccountant

    return {"epsilon": RdpAccountant().compose(rdp_event(plan)).get_epsilon(delta)}


def prv(plan, delta):
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PureDPMechanism

    prvs, counts = [], []
    for count, name, args in terms(plan):
        if name == "poisson" and "gaussian" in args["event"]:
            prvs.append(PoissonSubsampledGaussianMechanism(noise_multiplier=noise_multiplier(args["event"]["gaussian"]), sampling_probability=number(args["rate"])))
        elif name == "gaussian":
            prvs.append(GaussianMechanism(noise_multiplier(args)))
        elif name == "laplace":
            prvs.append(LaplaceMechanism(number(args["b"]) / number(args.get("sensitivity", 1))))
        elif name == "pure":
            prvs.append(PureDPMechanism(number(args["eps"])))
        else:
            raise Unsupported(name)
        counts.append(count)
    # The error is a thousandth of epsilon where epsilon is about 1: the width that
    # Discreet promises.
    accountant = PRVAccountant(prvs=prvs, max_self_compositions=counts, eps_error=prv.eps_error, delta_error=delta / 1000)
    low, estimate, high = accountant.compute_epsilon(delta=delta, num_self_compositions=counts)
    return {"epsilon": estimate, "low": low, "high": high}


prv.eps_error = 0.01


def autodp(plan, delta):
    from autodp.mechanism_zoo import ExactGaussianMechanism, GaussianMechanism, LaplaceMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    mechanisms, counts = [], []
    for count, name, args in terms(plan):
        if name == "gaussian":
            m = ExactGaussianMechanism(noise_multiplier(args))
        elif name == "laplace":
            m = LaplaceMechanism(number(args["b"]) / number(args.get("sensitivity", 1)))
        elif name == "poisson" and "gaussian" in args["event"]:
            base = GaussianMechanism(noise_multiplier(args["event"]["gaussian"]))
            base.replace_one = False
            m = AmplificationBySampling(PoissonSampling=True)(base, number(args["rate"]), improved_bound_flag=True)
        else:
            raise Unsupported(name)
        mechanisms.append(m)
        counts.append(count)
    whole = mechanisms[0] if counts == [1] else Composition()(mechanisms, counts)
    return {"epsilon": float(whole.get_approxDP(delta))}


libraries = {
    "dp_accounting pld": dp_accounting_pld,
    "dp_accounting rdp": dp_accounting_rdp,
    "prv_accountant": prv,
    "autodp": autodp,
}


class OutOfTime(Exception):
    pass


def out_of_time(*_):
    raise OutOfTime


def answer(request):
    if "eps_error" in request:
        prv.eps_error = request["eps_error"]
    signal.alarm(int(request.get("limit_s", 60)))
    begun = time.perf_counter()
    try:
        result = libraries[request["library"]](request["plan"], request["delta"])
    except OutOfTime:
        result = {"error": "out of time"}
    except Unsupported as e:
        result = {"error": f"not supported: {e}"}
    except MemoryError:
        result = {"error": "out of memory"}
    except Exception as e:
        result = {"error": f"{type(e).__name__}: {e}"[:200]}
    finally:
        signal.alarm(0)
    result["seconds"] = time.perf_counter() - begun
    return {k: (None if isinstance(v, float) and not math.isfinite(v) else v) for k, v in result.items()}


def main():
    if sys.argv[1:] == ["--versions"]:
        for name in ["dp-accounting", "prv-accountant", "autodp"]:
            print(name, importlib.metadata.version(name))
        return
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    signal.signal(signal.SIGALRM, out_of_time)
    small = {"repeat": {"count": 10, "event": {"poisson": {"rate": 0.1, "event": {"gaussian": {"sigma": 2}}}}}}
    for name in libraries:
        answer({"library": name, "plan": small, "delta": 1e-5})
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
