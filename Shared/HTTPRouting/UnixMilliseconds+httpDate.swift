import FoundationEssentials
import Glibc
package import Schemas

// Hummingbird's implementation is internal, and this toolchain's Foundation has none.
extension UnixMilliseconds {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses a time in HTTP's form, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate). The two obsolete forms are not
    /// supported.
    package init?(httpDate text: some StringProtocol) {
        // The date parser also accepts other lengths, and years before 1970.
        guard text.utf8.count == 29, case let parts = text.split(separator: " "), parts.count == 6, parts[5] == "GMT",
            let year = Int(parts[3]), (1970...9999).contains(year), let month = Self.months.firstIndex(where: { $0 == parts[2] }),
            let date = try? Date("\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z", strategy: .iso8601)
        else { return nil }
        self = date.unixMilliseconds
    }

    /// The time in HTTP's form, to the second.
    package var httpDate: String {
        var seconds = time_t(self.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { buffer in
            // The process never leaves the C locale. Its names of days and months are HTTP's.
            let length = strftime(buffer.baseAddress!, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
