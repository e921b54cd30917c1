"""The files that the rules look at."""
import fnmatch
import os
import subprocess
from pathlib import Path
from typing import NamedTuple


class Finding(NamedTuple):
    """A place that breaks a rule."""

    path: str
    line: int
    what: str
    # The name in counts.json, if some such places are still allowed.
    count: str = ""

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}"


class Tree:
    """Files by their paths, relative to the top folder, with `/` between folders."""

    def __init__(self, contents, executables=()):
        """`contents` has the bytes of a file, or its Path, by its path in the tree."""
        self.contents = contents
        self.executables = set(executables)
        self.folders = {folder for path in contents for folder in above(path)}
        self.texts = {}

    @classmethod
    def at(cls, top):
        """The tree of a folder: the files that git tracks, and those that `git add` would add."""
        # Not the links to folders, nor what has been deleted and is still in git's index.
        files = {path: Path(top, path) for path in paths(top) if Path(top, path).is_file()}
        return cls(files, [path for path, file in files.items() if os.access(file, os.X_OK)])

    def __contains__(self, path):
        return path in self.contents or path in self.folders

    def names(self, *endings, under=""):
        """The paths with one of the endings, in order."""
        return sorted(path for path in self.contents if path.endswith(endings or "") and path.startswith(under))

    def text(self, path):
        """The text of a file; the empty one for other data."""
        if path not in self.texts:
            contents = self.contents[path]
            data = contents.read_bytes() if isinstance(contents, Path) else contents
            self.texts[path] = "" if b"\0" in data else data.decode("utf-8", errors="replace")
        return self.texts[path]

    def with_files(self, changes):
        """The same tree with other contents of some files. `None` removes a file."""
        contents = {path: data for path, data in {**self.contents, **changes}.items() if data is not None}
        return Tree(contents, self.executables)


def above(path):
    """The folders that contain a path, the nearest one last."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def line(text, position):
    return text.count("\n", 0, position) + 1


def paths(top):
    """The paths below a folder. In a copy without git's folder, the patterns of .gitignore are applied to each name."""
    command = ["git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if Path(top, ".git").exists():
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode == 0:
            return set(filter(None, listed.stdout.split("\0")))
    ignore = Path(top, ".gitignore")
    patterns = [".git"] + ([row.rstrip("/") for row in ignore.read_text().split()] if ignore.exists() else [])
    found = []
    for folder, folders, files in os.walk(top):
        kept = lambda name: not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
        folders[:] = filter(kept, folders)
        found += [Path(folder, name).relative_to(top).as_posix() for name in filter(kept, files)]
    return found
