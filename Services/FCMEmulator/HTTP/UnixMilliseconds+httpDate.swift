import Glibc
import Schemas

extension UnixMilliseconds {
    /// The second as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
    var httpDate: String {
        var seconds = time_t(self / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { buffer in
            // The programme never leaves the C locale, whose names HTTP's are.
            let length = strftime(buffer.baseAddress!, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
