import os
import pty
import select
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests import zygote
from tests.cli.command import Done, Run, environment, play, run, shell
from tests.cli.sample_project import make
from tests.unit.specs.download_server import LONGEST


def asked(shell: str, *words: str) -> dict[str, str]:
    """Return the environment in which a shell's script asks to complete the last word after `duvet`."""
    last = words[-1] if shell == "fish" else str(len(words))
    return {"_DUVET_COMPLETE": f"{shell}_complete", "COMP_WORDS": f"duvet {' '.join(words)}", "COMP_CWORD": last}


IN_BASH = r"""
rep | --off | help rep | -q -C . rep | report --off | report --format '' | report --format = s | report --format =
report --format = json --off | report --json '' | report --lcov '' | validate src/a.rs '' | completion z
recipe ch | recipe va | recipe --dry | recipe --form | recipe --format p | recipe run --dry | recipe '' | cache cl
recipe --h | config schema s | recipe run s | recipe check s | recipe check recipes/s | recipe validate recipes/s | help recipe r
--color al | frobnicate x | report --frobnicate x | report "'" | ''
"""
"""What somebody has typed after `duvet`."""


def test_bash_completes_commands_and_options(kettle: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/completion.md#completing
    ##% `duvet completion` MUST print a script for bash, zsh or fish that completes commands, subcommands, options and
    ##% their values.
    script = """
        source /dev/stdin <<< "$(duvet completion bash)"
        compopt() { COMPREPLY=("$2"); }
        complete_last() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _duvet_completion duvet
            printf '%s\\n' "${COMPREPLY[@]}"
            printf '%s\\n' --
        }
    """
    typed = IN_BASH.strip().replace("\n", " | ").split(" | ")
    done = shell(duvet_command, kettle, script + "".join(f"complete_last duvet {words}\n" for words in typed))
    assert (done.code, done.err) == (0, "")
    offered = [" ".join(part.split("\n")[:-1]) for part in done.out.split("--\n")[:-1]]
    told = [f"{words}: {found}".rstrip() for words, found in zip(typed, offered, strict=True)]
    gold.assert_match("\n".join(told) + "\n", "bash.txt")


def test_typing_into_bash(kettle: Path) -> None:
    (kettle / "a file.json").touch()
    reader, writer = pty.openpty()
    path = f"{zygote.commands()}{os.pathsep}{os.environ['PATH']}"
    environ = environment(PATH=path, HOME=str(kettle), TERM="dumb", INPUTRC=os.devnull)
    with subprocess.Popen(
        ["bash", "--norc", "-i"], cwd=kettle, env=environ, stdin=writer, stdout=writer, stderr=writer, process_group=0
    ) as shell:
        os.close(writer)
        typed = b"PS1=\nsource <(duvet completion bash)\nduvet unc\t--fail-on shou\t\nduvet config --config-path a\t\n"
        os.write(reader, typed + b"exit\n")
        shown = b""
        # Reading from a terminal without a writer is an error.
        with suppress(OSError):
            while select.select([reader], [], [], LONGEST)[0] and (part := os.read(reader, 4096)):
                shown += part
        assert shell.wait(LONGEST) == 1
    os.close(reader)
    assert b"duvet uncited --fail-on should " in shown
    assert rb"duvet config --config-path a\ file.json " in shown


@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_the_shell_accepts_its_script(name: str, kettle: Path, duvet: Run) -> None:
    done = duvet("completion", name)
    assert (done.code, done.err, "_DUVET_COMPLETE=" in done.out) == (0, "", True)
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} to read the script")
    assert run(program, make(kettle, {"script": done.out}), "-n", "script") == Done(0, "", "")


QUESTIONS = (
    *("zsh rep", "fish rep", "zsh report --format=s", "fish report --format=s", "zsh report --off"),
    *("fish report --json x", "zsh nothing x", "zsh validate --explain duv05", "fish prioritize --prompt w"),
    *("powershell rep", " rep"),
)
INVALID = ("", "COMP_WORDS='duvet x'", "COMP_WORDS='duvet x' COMP_CWORD=y", "COMP_WORDS= COMP_CWORD=9")
GONE = "COMP_WORDS='duvet -C /nowhere uncited --spec' COMP_CWORD=5"
RED = {"spec.md": "# Kett\x1b[31mle\n\n## Heating\n\nThe kettle MUST boil water.\n"}


def ask(line: str) -> str:
    """Return a line for the shell that asks a question."""
    return "$ " + " ".join(f"{name}={shlex.quote(value)}" for name, value in asked(*line.split(" ")).items()) + " duvet"


SPEC, SECTION = ask("zsh uncited --spec "), ask("bash -C kettle uncited --section ")
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "shells": tuple(map(ask, QUESTIONS)),
    "invalid": tuple(f"$ _DUVET_COMPLETE=bash_complete {words} duvet" for words in (*INVALID, GONE)),
    "cache": (SPEC, "$ ls .duvet", "-q uncited", {"spec.md": "# Pot\n"}, SPEC),
    "references": ("-q uncited", *(ask(f"bash show {word}") for word in ('""', "5d4d", "src/"))),
    "elsewhere": ("-q uncited", f"$ cd ..; {SECTION[2:]}", RED, "-q uncited", SPEC),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_answers_to_shells(name: str, kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/completion.md#completing
    ##% Completion MUST take the names of specifications, sections and requirements only from the cache.
    gold.assert_match(play(duvet, kettle, *SCENARIOS[name]), f"{name}.txt")


OF_PROMPTS = (
    *("prompt w", "prioritize --prompt s", 'prompt triage_uncited --arg ""', "prompt triage_uncited --arg level=m"),
    *("prompt triage_uncited --arg level = m", "prompt triage_uncited --arg level =", 'prompt --arg ""'),
    *("prompt triage_uncited --arg spec=t", "prompt triage_uncited --arg section="),
)


def test_names_arguments_and_values_of_prompts(tea: Run, gold: Snapshot) -> None:
    tea("uncited")
    told = [f"{line}\n{tea(environ=asked('bash', *line.split())).out}" for line in OF_PROMPTS]
    gold.assert_match("\n".join(told), "prompts.txt")
