"""The packages as files."""

import io
import subprocess
import tarfile
from pathlib import Path


def member(package, name):
    """A member of the archive that a package is."""
    return subprocess.run(["ar", "p", package, name], check=True, stdout=subprocess.PIPE).stdout


def renewed(package, version, folder):
    """The same package as another version. Its files are not compressed again."""
    members = subprocess.run(["ar", "t", package], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    control, data = (next(name for name in members if name.startswith(kind)) for kind in ("control.tar", "data.tar"))
    old = package.name.split("_")[1]
    new = folder / package.name.replace(old, version)
    parts = folder / (new.stem + ".parts")
    parts.mkdir(parents=True)
    (parts / "debian-binary").write_text("2.0\n")
    (parts / data).write_bytes(member(package, data))
    with tarfile.open(fileobj=io.BytesIO(member(package, control))) as source, \
            tarfile.open(parts / "control.tar.gz", "w:gz", compresslevel=1) as target:
        for entry in source:
            content = source.extractfile(entry).read() if entry.isfile() else b""
            if Path(entry.name).name == "control":
                content = content.replace(f"Version: {old}\n".encode(), f"Version: {version}\n".encode())
                entry.size = len(content)
            target.addfile(entry, io.BytesIO(content))
    subprocess.run(["ar", "rc", new, "debian-binary", "control.tar.gz", data], cwd=parts, check=True)
    return new


def start_lintian(packages):
    """lintian with all packages, which takes a minute, so it runs beside the other checks."""
    changes = next(packages.glob("*.changes"))
    return subprocess.Popen(
        ["lintian", "--no-cfg", "--allow-root", "--fail-on=error,warning", "--tag-display-limit=0", changes], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
