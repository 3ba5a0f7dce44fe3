import os
import shutil

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium_program() -> str | None:
    return os.environ.get("DUVET_CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
