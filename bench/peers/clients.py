"""Prints the versions of what the server's Python clients are tested with."""

from importlib.metadata import version

for name in ("httpx", "mcp", "pandas", "polars", "pytest", "mypy", "nbclient"):
    print(name, version(name))
