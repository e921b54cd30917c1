import CTimex
import Base
import FoundationEssentials
import Glibc
import ServiceKit

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

/// The room on the disk, by the limits at which services warn and refuse messages. The message log reports the archive's size.
struct DiskCheck: Sendable {
    private let folder: String
    /// Whether the data is in MongoDB, perhaps on another disk.
    private let isDataElsewhere: Bool

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        folder = try settings.value(.stateDirectory)
        isDataElsewhere = try settings.optional(.databaseURL) != nil
    }

    var finding: Finding {
        let path = Self.existing(folder)
        do {
            return Self.finding(try DiskSpace(of: path), at: path, isDataElsewhere: isDataElsewhere)
        } catch {
            return .warning(.disk, "\(error)", "df -h \(path)")
        }
    }

    /// The finding about the free space of a disk.
    ///
    /// - Parameters:
    ///   - space: The space of the disk that contains the folder.
    ///   - isDataElsewhere: Whether the data is in MongoDB, so that services accept messages even while this disk is full.
    static func finding(_ space: DiskSpace, at path: String, isDataElsewhere: Bool = false) -> Finding {
        if isDataElsewhere {
            let found = "the local disk of \(path) has \(megabytes(space.free)) free; the data is in MongoDB"
            return space.free <= 2 * space.reserve ? .warning(.disk, found, "free some space") : .ok(.disk, found)
        }
        let found =
            "the disk of \(path) has \(megabytes(space.free)) free, and \(megabytes(space.reserve)) are a reserve for accepted messages"
        let advice = "free some space, set MSI_MESSAGE_RETENTION, or use a larger disk"
        if space.free <= space.reserve { return .failure(.disk, found + ": new messages are refused", advice) }
        if space.free <= 2 * space.reserve { return .warning(.disk, found, advice) }
        return .ok(.disk, found)
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(bytes >> 20) MiB" }

    /// The path, or its nearest parent that exists.
    private static func existing(_ path: String) -> String {
        var url = URL(filePath: path)
        while url.path(percentEncoded: false) != "/", !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
            url = url.deletingLastPathComponent()
        }
        return url.path(percentEncoded: false)
    }
}
