import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.unit.queries.query_projects import SEARCH_FILES as FILES

pytestmark = pytest.mark.skipif("DUVET_MODEL" not in os.environ, reason="DUVET_MODEL doesn't name a folder for a model")
QUESTION = "When does the server have to warm the pot?"


@pytest.fixture
def model(tmp_path: Path) -> Iterator[str]:
    command = [str(ROOT / ".ci" / "model"), os.environ["DUVET_MODEL"] or str(tmp_path / "model")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        url = process.stdout.readline().strip()
        assert url, f"{command} has not started"
        yield url
        process.stdin.close()


def test_a_real_model_answers_with_sources(model: str, duvet_command: str, tmp_path: Path) -> None:
    provider = {"baseUrl": f"{model}/v1", "defaultModel": "small", "timeout": 300, "discover": True}
    project = make(tmp_path / "tea", {**FILES, "duvet.config.json": json.dumps({"providers": {"local": provider}})})
    command = [duvet_command, "ask", QUESTION, "--format", "json"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=400, check=False)
    print(done.stdout, done.stderr)
    found = json.loads(done.stdout)
    assert (done.returncode, found["model"]) == (0, "local/small")
    assert found["sources"] and found["answer"].strip()
    assert {int(number) for number in re.findall(r"\[([0-9]+)\]", found["answer"])} <= {
        source["number"] for source in found["sources"]
    }
    assert any("lists no model small" in words for words in found["warnings"])
