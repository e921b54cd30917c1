"""What runs in the container's namespaces: boots the container, runs the checks one after the other, and prints how each ended.

    inside.py WORK PACKAGES TOOLCHAIN [CHECK...]

TEST_LEVEL=all adds the checks of at_length.py. With names, only these checks run, and those that they need.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import at_length
import checks
import debs
import sandbox
from container import Container, prepare_namespaces
from harness.waiting import Failure
from hub import Hub


# Each needs what those before it have left.
ORDER = [
    checks.packages_install,
    at_length.executables_need_only_debian,
    checks.units_are_valid,
    sandbox.units_are_safe_enough,
    checks.invalid_configuration_does_not_restart,
    checks.everything_starts_in_order,
    checks.a_message_arrives,
    checks.doctor_finds_nothing_wrong,
    checks.the_canary_can_be_enabled,
    checks.logs_have_fields,
    checks.a_reload_changes_settings,
    checks.commands_read_the_environment_as_systemd_does,
    checks.credentials_are_private,
    sandbox.the_sandbox_holds,
    checks.drop_ins_open_the_network,
    checks.members_of_the_group_operate,
    checks.the_bus_works_over_tcp,
    checks.metrics_can_be_read,
    at_length.scales_while_messages_flow,
    at_length.restarts_lose_nothing,
    checks.an_upgrade_loses_nothing,
    at_length.upgrades_and_downgrades,
    checks.the_watchdog_stays_silent,
    checks.a_hanging_service_is_restarted,
    at_length.the_watchdog_restarts,
    at_length.a_new_installation_goes_on,
    at_length.lintian_has_no_complaint,
    checks.removal_keeps_data,
    checks.purge_removes_everything,
]
# What each other one needs.
NEEDED = [checks.packages_install, checks.everything_starts_in_order, checks.a_message_arrives]


def main():
    work, packages, toolchain = (Path(text) for text in sys.argv[1:4])
    steps = chosen(sys.argv[4:])
    # A deadline of `timeout` ends in the clean-up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the deadline has passed"))
    lintian = debs.start_lintian(packages) if at_length.lintian_has_no_complaint in steps else None
    failed = 0
    container = None
    try:
        # Nothing of the product is in the container yet.
        try:
            prepare_namespaces()
            container = Container(work, [toolchain])
            container.boot()
        except (Failure, OSError, subprocess.SubprocessError) as error:
            print(f"Tests/Systemd/run needs a container with systemd, which this machine cannot boot: {error}", file=sys.stderr)
            return 77
        hub = Hub(container, packages, lintian)
        passed = 0
        for step in steps:
            if passes(step, hub):
                passed += 1
            else:
                failed += 1
                if step in NEEDED:
                    break
        print(f"{passed} passed, {failed} failed, {len(steps) - passed - failed} not run", flush=True)
    finally:
        if container:
            container.stop()
        if lintian:
            lintian.kill()
    return 1 if failed else 0


def chosen(names):
    if names:
        unknown = set(names) - {step.__name__ for step in ORDER}
        assert not unknown, f"no checks are named {unknown}"
        return [step for step in ORDER if step in NEEDED or step.__name__ in names]
    is_at_length = os.environ.get("TEST_LEVEL") == "all"
    return [step for step in ORDER if is_at_length or step.__module__ != "at_length"]


def passes(step, hub):
    start = time.monotonic()
    title = f"{step.__name__}: {step.__doc__}"
    try:
        result = step(hub)
    except Exception as error:
        print(f"failed after {time.monotonic() - start:.0f} s: {title}\n{describe(error)}", flush=True)
        try:
            print("the end of the log:\n" + hub.journal(40), flush=True)
        except (Failure, OSError) as other:
            print(f"there is no log: {other}", flush=True)
        return False
    print(f"passed after {time.monotonic() - start:.0f} s: {title}" + (f" ({result})" if result else ""), flush=True)
    return True


def describe(error):
    return str(error) if isinstance(error, Failure) else "".join(traceback.format_exception(error))


if __name__ == "__main__":
    sys.exit(main())
