import gc
import os
import ssl
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from hypothesis import settings
from pytest_snapshot.plugin import Snapshot

from tests.unit.specs.download_server import Held, serving

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("DUVET_SHARED") or ROOT.parent / "shared").resolve()
CONFORMANCE = "conformance"
"""The property under which a test keeps how many cases of which set have passed."""

# `make test` tries a few examples of each property, `make test-slow` many.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile("quick")


@pytest.fixture
def snapshot(snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests/gold"
    return snapshot


@pytest.fixture
def problem_files(snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests/gold/problems"
    return snapshot


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        if os.environ.get("DUVET_REQUIRE_SHARED"):
            pytest.fail(f"{SHARED} is absent, and DUVET_REQUIRE_SHARED is set")
        pytest.skip(f"{SHARED} is absent: put the shared folder there, or name it in DUVET_SHARED")
    return SHARED


@pytest.fixture(scope="session")
def duvet_command() -> str:
    return str(Path(sys.executable).with_name("duvet"))


@pytest.fixture(autouse=True, scope="session")
def one_ssl_context() -> Iterator[None]:
    """Load the system's certificates once, because no test needs them and loading takes 25 ms."""
    with pytest.MonkeyPatch.context() as patch:
        make = httpcore2.default_ssl_context
        once = cache(make)

        def context(**given: bool) -> ssl.SSLContext:
            return (make if "SSL_CERT_FILE" in os.environ or "SSL_CERT_DIR" in os.environ else once)(**given)

        patch.setattr(httpcore2, "default_ssl_context", context)
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    cases: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for key, value in report.user_properties:
            if key == CONFORMANCE:
                name, count = value
                cases[name] += count
    if cases:
        terminalreporter.write_line("conformance: " + ", ".join(f"{cases[name]} {name}" for name in cases) + " passed")


def pytest_collection_finish() -> None:
    """Exclude collected tests from garbage collection, because they are many and stay alive."""
    gc.collect()
    gc.freeze()
