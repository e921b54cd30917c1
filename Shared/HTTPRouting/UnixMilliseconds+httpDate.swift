import Glibc
package import Schemas

extension UnixMilliseconds {
    /// The time in HTTP's form, to the second: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
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
