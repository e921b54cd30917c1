"""Copies of the built executables, whose pages a test may change."""

import os
import shutil


def copy_of(executables, folder):
    """Puts the executables with their pages into a folder. The executables themselves are links, if that is possible."""
    for path in executables.glob("msi*"):
        if path.is_file() and os.access(path, os.X_OK):
            try:
                os.link(path, folder / path.name)
            except OSError:
                shutil.copy(path, folder)
    for path in executables.glob("*.resources"):
        shutil.copytree(path, folder / path.name)
    return folder
