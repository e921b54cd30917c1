"""The further checks of Tests/Systemd/run --all: they restart more, under load and with the product's own times."""

import time

from checks import MESSAGE_LOG, RELAY, removal_keeps_data, replaced_under_load, require
from harness.waiting import eventually
from hub import EMULATOR, Connections


def executables_need_only_debian(hub):
    """The executables are stripped, contain Swift's runtime, and link only libraries of Debian packages"""
    files = set()
    for name in hub.names():
        if name == "msi-common":
            continue
        program = f"/usr/lib/msi/{name}"
        libraries = hub.container.run("ldd", program)
        require("not found" not in libraries and "swift" not in libraries.lower(), f"{program} needs {libraries}")
        files |= {line.split()[2] for line in libraries.splitlines() if "=>" in line}
        sections = hub.container.run("readelf", "--sections", "--wide", program)
        require(".debug_info" not in sections and ".symtab" not in sections, f"{program} is not stripped")
    real = set(hub.container.run("realpath", *files).split())
    # dpkg knows a library by its name below /usr or below /.
    found = hub.container.run("dpkg", "--search", *real, *[file.removeprefix("/usr") for file in real], check=False)
    known = {line.rpartition(": ")[2].removeprefix("/usr") for line in found.splitlines()}
    unknown = {file for file in real if file.removeprefix("/usr") not in known}
    require(not unknown, f"of no package: {unknown}")
    return f"{len(real)} libraries"


def scales_while_messages_flow(hub):
    """A second relay and message log are found without a restart, take over while the first ones are away, and can be removed"""
    load = hub.load()
    first = [f"{name}@1.service" for name in (RELAY, MESSAGE_LOG)]
    second = [f"{name}@2" for name in (RELAY, MESSAGE_LOG)]
    processes = {unit: hub.process(unit) for unit in hub.units() if unit not in first}
    hub.systemctl("enable", "--now", *second)
    hub.wait_until_active([f"{unit}.service" for unit in second])
    hub.systemctl("stop", *first)
    # No other instance can take and relay these.
    for number in range(5):
        output = hub.container.run("msi", "send", "Campus/Weather/Storms", "--wait", f"Message {number} to the second ones.")
        require("relayed" in output, "the second instances relay nothing")
    hub.systemctl("start", *first)
    hub.systemctl("disable", "--now", *second)
    output = hub.container.run("msi", "send", "Campus/Weather/Storms", "--wait", "A message to the first ones.")
    require("relayed" in output, "the first instances relay nothing")
    counts = load.finish()
    changed = [unit for unit, process in processes.items() if hub.process(unit) != process]
    require(not changed, f"restarted: {changed}")
    return counts


def restarts_lose_nothing(hub):
    """A restart of each unit under load loses and doubles nothing, and refuses no connection"""
    hub.systemctl("start", *[f"{name}@2.service" for name in (RELAY, MESSAGE_LOG)])
    load, connections = hub.load(), Connections(hub.container)
    for unit in [*hub.units(), f"{RELAY}@2.service", f"{MESSAGE_LOG}@2.service"]:
        before = hub.process(unit)
        hub.systemctl("restart", unit)
        require(hub.process(unit) not in (0, before), f"{unit} has not restarted")
        time.sleep(0.5)
    counts = load.finish(gateway_restarts=True)
    answered, refused, unanswered = connections.finish()
    hub.systemctl("stop", *[f"{name}@2.service" for name in (RELAY, MESSAGE_LOG)])
    require(refused == 0 and unanswered == 0 and answered > 100,
        f"of the connections {refused} were refused, {unanswered} had no answer, {answered} had one")
    return f"{counts}; {answered} connections, none refused"


def the_watchdog_restarts(hub):
    """A service that hangs is killed by the watchdog and started again"""
    units = hub.units()
    before = {unit: hub.process(unit) for unit in units}
    counts = {unit: int(hub.show(unit, "NRestarts")["NRestarts"]) for unit in units}
    limit = max(int(hub.show(unit, "WatchdogUSec")["WatchdogUSec"].removesuffix("s")) for unit in units)
    require(limit > 0, "there is no watchdog")
    hub.container.run("kill", "-STOP", *[str(process) for process in before.values()])
    start = time.monotonic()
    try:
        for unit in units:
            eventually(f"{unit} still hangs", lambda: hub.process(unit) not in (0, before[unit]), limit + 120)
            require(int(hub.show(unit, "NRestarts")["NRestarts"]) > counts[unit], f"systemd has not restarted {unit}")
    finally:
        # Those that still hang would make all later checks fail.
        hub.container.run("kill", "-CONT", *[str(process) for process in before.values()], check=False)
    hub.wait_until_active(units)
    hub.wait_until_well()
    return f"all of them within {time.monotonic() - start:.0f} s"


def upgrades_and_downgrades(hub):
    """An upgrade and a downgrade under load restart the running services, keep the configuration and lose nothing"""
    version = hub.version()
    hub.systemctl("enable", "--now", f"{RELAY}@2")
    hub.systemctl("stop", "msi-broadcast.service")
    units = [unit for unit in [*hub.units(), f"{RELAY}@2.service"] if unit != "msi-broadcast.service"]
    counts = []
    for packages, expected in ((hub.renewed(hub.packages, version + ".1"), version + ".1"), (hub.packages, version)):
        counts.append(replaced_under_load(hub, packages, units))
        require(set(hub.installed().values()) == {expected}, f"the versions are {hub.installed()}")
        require(not hub.is_active("msi-broadcast.service"), "a stopped service was started")
    hub.systemctl("start", "msi-broadcast.service")
    hub.wait_until_well()
    return " / ".join(counts)


def a_new_installation_goes_on(hub):
    """An installation after a removal continues with the data"""
    removal_keeps_data(hub)
    hub.install(hub.packages)
    hub.systemctl("start", EMULATOR, "msi.target")
    hub.wait_until_active(hub.units())
    require("relayed" in hub.container.run("msi", "send", "Campus/Weather/Storms", "--wait", "After the removal."), "no message is relayed")
    require(hub.is_active(f"{RELAY}@2.service"), "the second relay is not enabled any more")


def lintian_has_no_complaint(hub):
    """lintian has no complaint"""
    # It has run beside the other checks.
    out, _ = hub.lintian.communicate(timeout=600)
    complaints = [line for line in out.splitlines() if line[:2] in ("E:", "W:")]
    require(hub.lintian.returncode == 0 and not complaints, out)
