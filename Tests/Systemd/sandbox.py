"""The checks of the sandbox: by what systemd says about the units, and by what the kernel says about the processes."""

from harness.waiting import Failure
from hub import CANARY, EMULATOR, IDENTITY_EMULATOR

# The services that call other servers, or are called by programs of this machine. A new service has no network unless it is added.
WITH_NETWORK = {
    "msi-fcm-relay@1.service", "msi-webpush.service", "msi-people.service", EMULATOR, IDENTITY_EMULATOR, CANARY,
}
# In tenths, as systemd-analyze takes them.
MAX_EXPOSURE, MAX_EXPOSURE_WITH_NETWORK = 10, 15


def units_are_safe_enough(hub):
    """systemd-analyze security finds at most 1.5 for each unit, and at most 1.0 for one without a network"""
    exposures = []
    for unit in [*hub.units(), EMULATOR, IDENTITY_EMULATOR, CANARY]:
        limit = MAX_EXPOSURE_WITH_NETWORK if unit in WITH_NETWORK else MAX_EXPOSURE
        output = hub.container.run("systemd-analyze", "security", "--no-pager", f"--threshold={limit}", unit)
        exposures.append(f"{unit.removesuffix('.service')} {output.split('exposure level for ')[1].split()[1]}")
    return ", ".join(exposures)


def the_sandbox_holds(hub):
    """The processes have no rights, no other's files and, if they need none, no network"""
    outside = namespaces(hub, 1)
    for unit in hub.units():
        process = hub.process(unit)
        status = dict(line.split(":\t", 1) for line in proc(hub, process, "status").splitlines() if ":\t" in line)
        user = hub.container.run("id", "--user", "msi").strip()
        complaints = []
        if set(status["Uid"].split()) != {user}:
            complaints.append(f"its users are {status['Uid']}")
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            if int(status[name], 16):
                complaints.append(f"{name} is {status[name]}")
        if status["NoNewPrivs"] != "1" or status["Seccomp"] != "2":
            complaints.append(f"NoNewPrivs is {status['NoNewPrivs']} and Seccomp {status['Seccomp']}")
        inside = namespaces(hub, process)
        shared = {name for name in ("mnt", "user", "ipc", "uts") if inside[name] == outside[name]}
        if shared:
            complaints.append(f"it shares namespaces with the system: {shared}")
        if (inside["net"] == outside["net"]) != (unit in WITH_NETWORK):
            complaints.append("its network is the system's" if inside["net"] == outside["net"] else "it has no network")
        complaints += mounts(hub, unit, process)
        if complaints:
            raise Failure(f"{unit}: " + "; ".join(complaints))


def proc(hub, process, name):
    return hub.container.path(f"/proc/{process}/{name}").read_text()


def namespaces(hub, process):
    links = hub.container.run("find", f"/proc/{process}/ns", "-type", "l", "-printf", "%f %l\n").splitlines()
    return dict(line.split() for line in links)


def mounts(hub, unit, process):
    """What a process can write. For a process of the services' user, systemd has mounted the rest read-only or hidden it."""
    options = {}
    for line in proc(hub, process, "mountinfo").splitlines():
        fields = line.split()
        options[fields[4]] = fields[5].split(",")
    complaints = []
    if "ro" not in options["/"]:
        complaints.append("it can write to /")
    if "/home" not in options or "/tmp" not in options or "/dev" not in options:
        complaints.append("/home, /tmp or /dev is the system's")
    keeps_files = bool(hub.show(unit, "StateDirectory")["StateDirectory"])
    if ("rw" in options.get("/var/lib/msi", [])) != keeps_files:
        complaints.append("it can write to /var/lib/msi" if not keeps_files else "it cannot write to /var/lib/msi")
    return complaints
