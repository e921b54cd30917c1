import CTimex
import FoundationEssentials
import Glibc

/// What the services need of the machine, whatever their settings are.
enum MachineCheck {
    static var findings: [Finding] { [clock, timeZones] }

    /// Whether the kernel's clock follows a time server (adjtimex(2)). Google refuses keys from a clock that is minutes off, and
    /// message logs on several machines need clocks that agree.
    private static var clock: Finding {
        var values = timex()
        let state = adjtimex(&values)
        guard state != TIME_ERROR, values.status & STA_UNSYNC == 0 else {
            return .warning(
                .clock, "the system's clock follows no time server",
                "apt install systemd-timesyncd, or chrony; in a container, on the machine that runs it")
        }
        return .ok(
            .clock, "the system's clock follows a time server, at most \(values.maxerror / 1_000) ms off by the kernel's estimate"
        )
    }

    private static var timeZones: Finding {
        guard FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin") else {
            return .warning(.timeZones, "there is no time zone data in /usr/share/zoneinfo", "apt install tzdata")
        }
        return .ok(.timeZones, "the time zone data is there")
    }
}
