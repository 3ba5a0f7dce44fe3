"""Feedback that could be packed into very little."""

from __future__ import annotations

import os

from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from tests.unit.knowledge.upkeep.made import CLOCK, made


def test_one_that_could_be_packed_well(kept: StorePaths) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet restore` MUST change nothing for an archive that contains anything but a backup, differs from its
    ##% manifest, or does not fit on the disk.
    with open(kept.feedback, "ab") as file:
        file.writelines(
            b'{"request_id": "%d", "note": "%s"}\n' % (number, "🍵".encode() * 20_000) for number in range(900)
        )
    archive = made(kept)
    assert os.path.getsize(archive) * 200 < os.path.getsize(kept.feedback)
    os.unlink(kept.feedback)
    assert restore_backup(kept, archive, CLOCK).votes == 901
