"""k-means of diffprivlib on six numbers of Adult, for bench/learn/classic.

Prints one line of JSON for each epsilon: the share of the points' variance that the
centers explain, in each run. Bounds are the declared ones, points on the scale [-1, 1].
"""

import argparse
import csv
import json
import sys

COLUMNS = {
    "age": (17, 90),
    "fnlwgt": (10_000, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
    "hours_per_week": (1, 99),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--epsilons", default="1,0.1")
    parser.add_argument("--versions", action="store_true")
    args = parser.parse_args()

    import diffprivlib
    import numpy as np
    import sklearn
    from diffprivlib.models import KMeans

    if args.versions:
        print("diffprivlib", diffprivlib.__version__, "scikit-learn", sklearn.__version__, "Python", sys.version.split()[0])
        return
    with open(args.data, newline="") as f:
        rows = list(csv.DictReader(f))
    x = np.array([[2 * (float(r[c]) - lo) / (hi - lo) - 1 for c, (lo, hi) in COLUMNS.items()] for r in rows]).clip(-1, 1)
    total = ((x - x.mean(axis=0)) ** 2).sum()

    def explained(centers):
        return 1 - np.min([((x - c) ** 2).sum(axis=1) for c in centers], axis=0).sum() / total

    for epsilon in map(float, args.epsilons.split(",")):
        shares = []
        for seed in range(args.runs):
            model = KMeans(n_clusters=args.clusters, epsilon=epsilon, bounds=(-1, 1), random_state=seed)
            shares.append(explained(model.fit(x).cluster_centers_))
        print(json.dumps({"epsilon": epsilon, "shares": shares}))
    from sklearn.cluster import KMeans as Plain

    model = Plain(args.clusters, n_init=4, random_state=0).fit(x)
    print(json.dumps({"epsilon": 0, "shares": [explained(model.cluster_centers_)]}))


main()
