import FoundationEssentials
import Glibc

/// The name of this machine's time zone, as browsers know it. The C library reads the same settings.
enum TimeZoneName {
    /// A name such as "Europe/Berlin".
    ///
    /// - Parameter offset: The difference from UTC in seconds; for a machine whose zone has no name. The result is then "+01:00".
    static func current(offset: Int) -> String {
        let file = "/etc/localtime"
        let path = getenv("TZ").map { String(cString: $0) } ?? (try? FileManager.default.destinationOfSymbolicLink(atPath: file))
        return path.flatMap(name) ?? fixed(offset)
    }

    /// The name in a path such as "/usr/share/zoneinfo/Europe/Berlin" or in the value ":Europe/Berlin" of `TZ`.
    private static func name(in path: String) -> String? {
        let name = path.split(separator: "zoneinfo/").last ?? ""
        let trimmed = name.drop { $0 == ":" }
        let isFile = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/\(trimmed)")
        return isFile && trimmed.first?.isLetter == true ? String(trimmed) : nil
    }

    private static func fixed(_ offset: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = abs(offset) / 60
        return "\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
