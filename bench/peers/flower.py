"""Says which Flower is installed, for bench/peers/setup."""

import importlib.metadata
import json

print(json.dumps({p: importlib.metadata.version(p) for p in ["flwr", "numpy"]}))
