"""The checks of each change. A check returns what is worth knowing, or nothing."""

import json
import re

from harness.waiting import Failure, eventually
from hub import CANARY, CONFIGURATION, EMULATOR, IDENTITY_EMULATOR, STATE, Connections

# Of units.
RELAY, MESSAGE_LOG = "msi-fcm-relay", "msi-message-log"


def require(condition, complaint):
    if not condition:
        raise Failure(complaint)


def packages_install(hub):
    """The packages install: user, folders, configuration, manuals, completions; the units are enabled and wait for a start"""
    hub.files_before = hub.files()
    hub.install(hub.packages)
    hub.read_catalogue()
    run = hub.container.run
    modes = run("stat", "--format=%a %U %G %n", STATE, "/run/msi", CONFIGURATION, "/etc/credstore").splitlines()
    expected = [f"700 msi msi {STATE}", "750 msi msi /run/msi", f"640 root msi {CONFIGURATION}", "700 root root /etc/credstore"]
    require(modes == expected, f"modes and owners are {modes}")
    for unit in ["msi.target", "msi-gateway.socket", *hub.units()]:
        require(run("systemctl", "is-enabled", unit, check=False).strip() == "enabled", f"{unit} is not enabled")
        require(not hub.is_active(unit), f"{unit} runs before there is a configuration")
    for unit in (EMULATOR, IDENTITY_EMULATOR):
        require(run("systemctl", "is-enabled", unit, check=False).strip() == "static", f"{unit} could be enabled")
    require(run("systemctl", "is-enabled", CANARY, check=False).strip() == "disabled", "the canary is enabled before it is set up")
    for name in hub.names():
        if name != "msi-common":
            require(run("man", "--where", name, check=False).strip(), f"{name} has no manual")
            require(run(name, "--version").startswith(name + " "), f"{name} --version prints something else")
    for path in ("bash-completion/completions/msi", "zsh/vendor-completions/_msi", "fish/vendor_completions.d/msi.fish"):
        require(hub.container.path(f"/usr/share/{path}").stat().st_size > 1000, f"{path} is empty")
    require("_msi" in run("bash", "-c", "source /usr/share/bash-completion/completions/msi && complete -p msi"), "bash completes nothing")


def units_are_valid(hub):
    """systemd-analyze verify has no complaint about any unit, also not about its manual"""
    units = ["msi.target", "msi-gateway.socket", EMULATOR, IDENTITY_EMULATOR, CANARY, *hub.units(), f"{RELAY}@2.service"]
    output = hub.container.run("systemd-analyze", "verify", "--recursive-errors=yes", "--man=yes", *units)
    require(not output.strip(), output)


def invalid_configuration_does_not_restart(hub):
    """Without a key for FCM the relay ends with 78 and is not started again, and the credentials that are missing stop nothing else"""
    # It returns when each has started or failed.
    hub.container.run("systemctl", "start", "msi.target", check=False)
    unit = f"{RELAY}@1.service"
    eventually("the relay does not fail", lambda: hub.show(unit, "ActiveState")["ActiveState"] == "failed")
    state = hub.show(unit, "ExecMainStatus", "NRestarts", "Result")
    require(state == {"ExecMainStatus": "78", "NRestarts": "0", "Result": "exit-code"}, f"the relay's state is {state}")
    hub.wait_until_active(["msi-people.service", "msi-cube.service"])
    hub.systemctl("stop", "msi.target")
    hub.systemctl("reset-failed")


def everything_starts_in_order(hub):
    """With the configuration all units are active, each after those that it needs, with a status text"""
    hub.systemctl("start", EMULATOR, IDENTITY_EMULATOR)
    hub.configure()
    hub.systemctl("start", "msi.target")
    hub.wait_until_active(hub.units())
    for entry in hub.catalogue:
        for other in entry["starts_after"]:
            first, second = (unit_of(hub, name) for name in (other, entry["name"]))
            if first in hub.units():
                ready = int(hub.show(first, "ActiveEnterTimestampMonotonic")["ActiveEnterTimestampMonotonic"])
                started = int(hub.show(second, "ExecMainStartTimestampMonotonic")["ExecMainStartTimestampMonotonic"])
                require(ready <= started, f"{second} has started before {first} was ready")
    for unit in hub.units():
        require(hub.show(unit, "StatusText")["StatusText"], f"{unit} has no status text")


def unit_of(hub, name):
    entry = next(each for each in hub.catalogue if each["name"] == name)
    return entry["executable"] + ("@1" if entry["may_have_instances"] else "") + ".service"


def a_message_arrives(hub):
    """A message goes from msi send to FCM"""
    run = hub.container.run
    run("msi", "account", "add", "admin", "--role", "super_user", input="a-password-for-the-test\n")
    run("msi", "account", "token")
    run("msi", "sample")
    require("relayed" in run("msi", "send", "Campus/Weather/Storms", "--wait", "A storm is coming."), "the message is not relayed")
    hub.wait_until_well()


def the_canary_can_be_enabled(hub):
    """The canary with its own subject and token starts with the target, and its messages are stored"""
    run = hub.container.run
    rows = ["channel,area,subject,level,distribution", "Operation,Canary,Canary,Optional,Information"]
    run("msi", "cube", "import", "-", "--format=csv", input="\n".join(rows) + "\n")
    cube = json.loads(run("msi", "cube", "export", "--format=json"))
    channel = next(each for each in cube if each["name"] == "Operation")
    topic = channel["areas"][0]["subjects"][0]["topic_key"]
    token = hub.container.path(f"{STATE}/token").read_text().strip()
    run("install", "--mode=0600", "/dev/stdin", "/etc/credstore/msi-canary-token", input=token + "\n")
    before = hub.container.path(CONFIGURATION).read_text()
    hub.container.path(CONFIGURATION).write_text(f"{before}MSI_CANARY_TOPIC={topic}\nMSI_CANARY_INTERVAL=1\n")
    hub.systemctl("restart", f"{MESSAGE_LOG}@1.service")
    eventually("msi status does not say that the canary is silent", lambda: "canary: silent" in run("msi", "status", check=False))
    hub.systemctl("enable", "--now", CANARY)
    hub.wait_until_active([CANARY])
    eventually(
        "no message of the canary is relayed",
        lambda: '"state":"relayed"' in run("sh", "-c", (
            f"echo 'Authorization: Bearer '$(cat {STATE}/token) "
            f"| curl --silent --noproxy '*' --header @- 'http://127.0.0.1:8080/message?subject={topic[-24:]}&limit=1'")))
    hub.systemctl("disable", "--now", CANARY)
    hub.container.path(CONFIGURATION).write_text(before)
    hub.container.path("/etc/credstore/msi-canary-token").unlink()
    hub.systemctl("restart", f"{MESSAGE_LOG}@1.service")
    hub.wait_until_well()


def doctor_finds_nothing_wrong(hub):
    """msi doctor as root finds no failure; for others it says how to run it; it finds a service that is stopped and a key that others can read"""
    report = doctor(hub)
    failures = [each for each in report["findings"] if each["level"] == "failure"]
    require(not failures, f"msi doctor finds {failures}")
    for check in ("configuration", "secrets", "sockets", "FCM", "gateway", "processes"):
        require(any(each["check"] == check and each["level"] == "ok" for each in report["findings"]), f"msi doctor says nothing good about {check}")
    other = hub.container.run("setpriv", "--reuid=nobody", "--clear-groups", "msi", "doctor", check=False)
    require("sudo msi doctor" in other, f"another user is told {other}")
    key = "/etc/credstore/msi-fcm-service-account"
    hub.container.run("chmod", "644", key)
    hub.systemctl("stop", "msi-broadcast.service")
    found = [each["found"] + (each.get("advice") or "") for each in doctor(hub)["findings"] if each["level"] == "failure"]
    hub.systemctl("start", "msi-broadcast.service")
    hub.container.run("chmod", "600", key)
    require(any(f"chmod 600 {key}" in each for each in found), f"the open key is not among {found}")
    require(any("systemctl start msi-broadcast" in each for each in found), f"the stopped service is not among {found}")
    hub.wait_until_well()
    return f"{len(report['findings'])} findings"


def doctor(hub):
    return json.loads(hub.container.run("msi", "doctor", "--json", check=False).splitlines()[-1])


def reload_to_level(hub, level):
    """Reloads the settings, and waits until the journal has each unit's line about the change of its log level"""
    def changes(unit):
        matches = (f"--unit={unit}", "MSI_SETTING=MSI_LOG_LEVEL", f"MSI_NEW={level}")
        return len(hub.container.run("journalctl", "--no-pager", "--quiet", *matches, check=False).splitlines())

    before = {unit: changes(unit) for unit in hub.units()}
    hub.systemctl("reload", "msi.target")
    for unit in hub.units():
        eventually(f"{unit} does not change its level to {level}", lambda: changes(unit) > before[unit])


def logs_have_fields(hub):
    """The journal finds the log lines of one message, and of its trace, by a field; msi trace prints its life with them"""
    run, configuration = hub.container.run, hub.container.path(CONFIGURATION)
    original = configuration.read_bytes()
    # What goes well with a message is logged at this level.
    configuration.write_bytes(original + b"MSI_LOG_LEVEL=debug\n")
    reload_to_level(hub, "debug")
    key = run("msi", "send", "Campus/Weather/Storms", "--wait", "To be followed.").split()[0]

    def entries(match):
        run("journalctl", "--sync")
        lines = run("journalctl", "--no-pager", "--quiet", "--output=json", match, check=False).splitlines()
        return [json.loads(line) for line in lines]

    eventually("the journal has no line about a message", lambda: len(entries(f"MSI_KEY={key}")) >= 3)
    found = entries(f"MSI_KEY={key}")
    units = {entry["_SYSTEMD_UNIT"] for entry in found}
    require({"msi-gateway.service", f"{MESSAGE_LOG}@1.service"} <= units, f"only {units} have lines about {key}")
    require({entry["SYSLOG_IDENTIFIER"] for entry in found} <= {"msi-gateway", MESSAGE_LOG, RELAY}, f"the identifiers are {found}")
    traces = {entry["MSI_TRACE_ID"] for entry in found if "MSI_TRACE_ID" in entry}
    require(len(traces) == 1, f"the traces are {traces}")
    require(len(entries(f"MSI_TRACE_ID={traces.pop()}")) >= 3, "the journal does not find the trace")
    # The entry of the audit log comes a moment later.
    for part in (f"message {key}: relayed", "gateway", "message-log", "FCM has accepted the data component", "message.send by"):
        eventually(f"msi trace does not show: {part}", lambda part=part: part in run("msi", "trace", key))
    configuration.write_bytes(original)
    reload_to_level(hub, "info")


def a_reload_changes_settings(hub):
    """A reload changes the log level of every service without a restart, and says in the log which settings need one"""
    run, configuration = hub.container.run, hub.container.path(CONFIGURATION)
    original = configuration.read_bytes()
    processes = {unit: hub.process(unit) for unit in hub.units()}
    configuration.write_bytes(original + b"MSI_LOG_LEVEL=debug\nMSI_GATEWAY_MAX_CONNECTIONS=1234\n")

    def doctor_says(part, before=lambda: None):
        def is_found():
            before()
            found = [each["found"] + " " + (each.get("advice") or "") for each in doctor(hub)["findings"]]
            require(any(part in each for each in found), f"it says {found}")
            return True
        eventually(f"msi doctor does not say: {part}", is_found)

    # A change within the second of the last reading is not seen.
    doctor_says(f"{CONFIGURATION} has changed since these have read it", lambda: configuration.write_bytes(configuration.read_bytes()))
    reload_to_level(hub, "debug")
    restart = ("--unit=msi-gateway.service", "MSI_SETTING=MSI_GATEWAY_MAX_CONNECTIONS", "MSI_FORMER=4000", "MSI_NEW=1234")
    eventually(
        "the gateway does not ask for a restart",
        lambda: "restart" in run("journalctl", "--no-pager", "--quiet", *restart, check=False))
    doctor_says("msi-gateway.service still works with the old values of MSI_GATEWAY_MAX_CONNECTIONS systemctl restart msi-gateway.service")
    configuration.write_bytes(original)
    reload_to_level(hub, "info")
    require(processes == {unit: hub.process(unit) for unit in hub.units()}, "a service has restarted")
    require(all(hub.is_active(unit) for unit in hub.units()), "a service is not active")


def credentials_are_private(hub):
    """The relay's key is a credential that only its process can read"""
    unit = f"{RELAY}@1.service"
    path = f"/run/credentials/{unit}/msi-fcm-service-account"
    require(hub.container.run("stat", "--format=%a %U", path).strip() == "400 msi", "the credential has another mode or owner")
    environment = hub.container.path(f"/proc/{hub.process(unit)}/environ").read_bytes().split(b"\0")
    require(f"MSI_FCM_SERVICE_ACCOUNT_FILE={path}".encode() in environment, "the relay has not got the credential")
    # In the mount namespace of another service it is not there.
    other = hub.process("msi-cube.service")
    files = hub.container.run("nsenter", f"--target={other}", "--mount", "find", "/run/credentials", "-name", "msi-fcm*", check=False)
    readable = [path for path in files.split() if hub.container.status(
        "nsenter", f"--target={other}", "--mount", "setpriv", "--reuid=msi", "--clear-groups", "test", "-r", path) == 0]
    # All services are one user, so only a mount namespace could keep it from another service.
    return f"readable by the cube service too: {', '.join(readable)}" if readable else None


def drop_ins_open_the_network(hub):
    """The drop-in for MongoDB, which applies to all services, gives a service the network, and its removal takes it away"""
    run, unit = hub.container.run, "msi-cube.service"
    drop_in = "/etc/systemd/system/msi-.service.d/network.conf"
    run("install", "-D", "--mode=0644", "/usr/share/doc/msi-common/examples/network.conf", drop_in)
    for has_network, families in (("yes", {"AF_UNIX", "AF_INET", "AF_INET6"}), ("no", {"AF_UNIX"})):
        hub.systemctl("daemon-reload")
        hub.systemctl("restart", unit)
        state = hub.show(unit, "PrivateNetwork", "RestrictAddressFamilies")
        require(state["PrivateNetwork"] != has_network and set(state["RestrictAddressFamilies"].split()) == families, f"it is {state}")
        same = run("readlink", f"/proc/{hub.process(unit)}/ns/net") == run("readlink", "/proc/1/ns/net")
        require(same == (has_network == "yes"), "the process has another network than its unit says")
        run("rm", "--force", drop_in)


def members_of_the_group_operate(hub):
    """A user in the group msi runs the operator's command without root; another one cannot"""
    run = hub.container.run
    sockets = run("stat", "--format=%a %U %G", "/run/msi/cube.sock", "/run/msi/fcm-relay@1.sock").split("\n")
    require(set(filter(None, sockets)) == {"660 msi msi"}, f"the sockets are {sockets}")
    for name, groups, may in (("msi-test-member", ["--groups", "msi"], True), ("msi-test-visitor", [], False)):
        run("useradd", "--no-create-home", *groups, name)
        status = hub.container.status("runuser", "--user", name, "--", "env", "HOME=/tmp", "msi", "account", "list")
        run("userdel", name)
        require((status == 0) == may, f"{name}'s command ended with {status}")


def the_bus_works_over_tcp(hub):
    """With the files for several machines, here for one, the services talk over encrypted TCP, and msi too; without them as before"""
    run = hub.container.run
    drop_in = "/etc/systemd/system/msi-.service.d/network.conf"
    examples = "/usr/share/doc/msi-common/examples"
    host = run("hostname").strip()
    try:
        line = run("msi", "keys", "new", "/var/lib/msi/bus-key", "--name", "hub-1.example.edu").strip()
        key = hub.container.path("/var/lib/msi/bus-key")
        require(key.stat().st_mode & 0o777 == 0o600 and key.read_text().strip() not in line, "the key is not private")
        hub.container.path("/etc/msi/peers").write_text(line + "\n")
        settings = hub.container.path(f"{examples}/three-machines.env").read_text()
        for other in (2, 3):
            for name in re.findall(rf",tcp://hub-{other}[.]example[.]edu:[0-9]+", settings):
                settings = settings.replace(name, "")
        hub.container.path("/etc/msi/cluster.env").write_text(settings)
        hub.container.path("/etc/hosts").write_text(f"127.0.0.1 localhost {host} hub-1.example.edu\n")
        run("install", "-D", "--mode=0644", f"{examples}/network.conf", drop_in)
        hub.systemctl("daemon-reload")
        hub.systemctl("restart", *hub.units())
        hub.wait_until_active(hub.units())
        require(":1BBD " in hub.container.path(f"/proc/{hub.process('msi-cube.service')}/net/tcp").read_text(), "port 7101 is not used")
        hub.wait_until_well()
        run("msi", "account", "list")
        require("relayed" in run("msi", "send", "Campus/Weather/Storms", "--wait", "Over TCP."), "the message is not relayed")
    finally:
        run("rm", "--force", drop_in, "/etc/msi/cluster.env", "/etc/msi/peers", "/var/lib/msi/bus-key")
        hub.systemctl("daemon-reload")
        hub.systemctl("restart", *hub.units())
    hub.wait_until_active(hub.units())
    hub.wait_until_well()


def commands_read_the_environment_as_systemd_does(hub):
    """A file of settings with quotes, continued lines and comments has the same values for the units and for the commands"""
    run, path = hub.container.run, "/etc/msi/cases.env"
    text = r'''# a comment with MSI_NO=1
MSI_A=plain value
MSI_B="double  quoted "
MSI_C='single $HOME "x"'
MSI_D=one \
two
MSI_E="a\"b\\c\$d\`e\nf"
MSI_F=
 MSI_G = spaced
MSI_H=a"b"c
MSI_I=it's
MSI_J="a" b
MSI_K=back\slash\ \

MSI_L=x=y#z
; MSI_NO=2
MSI_M='it'\''s'
export MSI_NO=3
MSI_O=first
MSI_O="second"
MSI_P="three
[lines]
MSI_Q=no name"
MSI_R=last'''
    hub.container.path(path).write_text(text)

    def values(output):
        variables = (variable.partition("=") for variable in output.split("\0"))
        return {name: value for name, _, value in variables if name.startswith("MSI_")}

    units = values(run("systemd-run", "--quiet", "--wait", "--pipe", f"--property=EnvironmentFile={path}", "env", "--null"))
    commands = values(run("env", "-i", "PATH=/usr/bin:/bin", "sh", "-c", f'eval "$(/usr/lib/msi/environment-file {path})"; env --null'))
    run("rm", path)
    names = {f"MSI_{letter}" for letter in "ABCDEFGHIJKLMOPR"}
    require(units.keys() == names and units == commands, f"systemd reads {units}, and the commands read {commands}")


def metrics_can_be_read(hub):
    """The drop-in for metrics lets the machine read those of a service, and whether it is ready"""
    run, unit = hub.container.run, "msi-cube.service"
    drop_in = f"/etc/systemd/system/{unit}.d/metrics.conf"
    run("install", "-D", "--mode=0644", "/usr/share/doc/msi-common/examples/metrics.conf", drop_in)
    hub.systemctl("daemon-reload")
    hub.systemctl("restart", unit)
    fetch = ("curl", "--silent", "--fail", "--max-time", "10")
    eventually("the cube service is not ready", lambda: hub.container.status(*fetch, "http://127.0.0.1:9101/readyz") == 0)
    require("# TYPE " in run(*fetch, "http://127.0.0.1:9101/metrics"), "there are no metrics")
    run("rm", "--recursive", f"/etc/systemd/system/{unit}.d")
    hub.systemctl("daemon-reload")
    hub.systemctl("restart", unit)


def the_watchdog_stays_silent(hub):
    """The watchdog kills nothing that works"""
    journal = hub.container.run("journalctl", "--no-pager", "--quiet", "--unit=msi*", "--grep=Watchdog timeout", check=False)
    require(not journal.strip(), journal)


def a_hanging_service_is_restarted(hub):
    """A service that hangs is killed by the watchdog and started again, here after shorter times"""
    unit = "msi-cube.service"
    drop_in = f"/etc/systemd/system/{unit}.d/watchdog.conf"
    hub.container.run(
        "install", "-D", "--mode=0644", "/dev/stdin", drop_in, input="[Service]\nWatchdogSec=3\nTimeoutAbortSec=1\nRestartSec=100ms\n")
    hub.systemctl("daemon-reload")
    hub.systemctl("restart", unit)
    before = hub.process(unit)
    hub.container.run("kill", "-STOP", str(before))
    eventually(f"{unit} still hangs", lambda: hub.process(unit) not in (0, before))
    require(int(hub.show(unit, "NRestarts")["NRestarts"]) > 0, f"systemd has not restarted {unit}")
    hub.container.run("rm", "--recursive", drop_in.removesuffix("/watchdog.conf"))
    hub.systemctl("daemon-reload")
    hub.systemctl("restart", unit)
    hub.wait_until_well()


def an_upgrade_loses_nothing(hub):
    """An upgrade of the gateway and the message log under load restarts them, refuses no connection and loses nothing"""
    packages = [path for path in hub.packages if path.name.startswith(("msi-gateway_", f"{MESSAGE_LOG}_"))]
    version = hub.version() + ".0"
    counts = replaced_under_load(hub, hub.renewed(packages, version), ["msi-gateway.service", f"{MESSAGE_LOG}@1.service"])
    versions = hub.installed()
    require([versions["msi-gateway"], versions[MESSAGE_LOG]] == [version, version], f"the versions are {versions}")
    hub.wait_until_well()
    return counts


def replaced_under_load(hub, packages, units):
    """Installs packages while messages flow. Their units must restart. Returns a line with the counts."""
    configuration = hub.container.path(CONFIGURATION).read_bytes()
    load, connections = hub.load(rate=15), Connections(hub.container)
    before = {unit: hub.process(unit) for unit in units}
    hub.install(packages)
    counts = load.finish(gateway_restarts=True)
    answered, refused, unanswered = connections.finish()
    require(refused == 0 and unanswered == 0 and answered > 0,
        f"of the connections {refused} were refused, {unanswered} had no answer, {answered} had one")
    for unit in units:
        require(hub.is_active(unit) and hub.process(unit) != before[unit], f"{unit} has not restarted")
    require(hub.container.path(CONFIGURATION).read_bytes() == configuration, f"{CONFIGURATION} has changed")
    return counts


def removal_keeps_data(hub):
    """A removal stops the services, and keeps the data and the configuration"""
    hub.apt("remove", *hub.installed())
    require(not hub.container.run("pgrep", "--full", "/usr/lib/msi/", check=False).strip(), "services run after their removal")
    require(hub.container.path(f"{STATE}/message-log.sqlite").exists(), "the data is gone")
    require(hub.container.path(CONFIGURATION).exists(), "the configuration is gone")


def purge_removes_everything(hub):
    """A purge leaves neither data nor configuration nor units"""
    hub.apt("purge", *hub.installed("rc"))
    left = hub.files() - hub.files_before - KEPT
    require(not left, f"left: {left}")
    units = hub.container.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "msi*").strip()
    require(not units, f"systemd still knows {units}")


# The administrator's own.
KEPT = {"/etc/credstore/msi-fcm-service-account"}
