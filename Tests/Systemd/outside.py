"""What runs outside of the container's namespaces: it makes them, checks the packages, and cleans up.

    outside.py WORK PACKAGES TOOLCHAIN [CHECK...]
"""

import subprocess
import sys
from pathlib import Path

from container import isolated

# Of all checks together, in seconds, on a machine that is busy with other tests.
DEADLINE = 1800


def main():
    work, packages, toolchain = (Path(text) for text in sys.argv[1:4])
    # Memory, since an overlay cannot be above a part of itself.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8g,mode=755", "tmpfs", work], check=True)
    if subprocess.run(["mount", "-t", "overlay", "overlay", "-o", overlay_options(work), work / "probe/root"],
            stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("Tests/Systemd/run needs an overlay file system on this machine's root, which its kernel does not allow", file=sys.stderr)
        return 77
    subprocess.run(["umount", work / "probe/root"], check=True)
    inside = Path(__file__).with_name("inside.py")
    return isolated(
        work, "timeout", "--kill-after=10", str(DEADLINE), sys.executable, str(inside), str(work), str(packages), str(toolchain), *sys.argv[4:])


def overlay_options(work):
    layers = {name: work / "probe" / name for name in ("root", "upper", "work")}
    for folder in layers.values():
        folder.mkdir(parents=True)
    return f"lowerdir=/,upperdir={layers['upper']},workdir={layers['work']}"


if __name__ == "__main__":
    sys.exit(main())
