import Glibc

/// The first bytes of a database's file (sqlite.org/fileformat.html). They are read without SQLite: opening a database could leave files of
/// this user behind.
struct SQLiteHeader: Sendable {
    private let bytes: [UInt8]

    /// - Returns: `nil` for an empty file, as of a database that was just made, and for one that this user cannot read.
    init?(of path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: 100)
        let count = read(file, &header, header.count)
        guard count > 0 else { return nil }
        bytes = Array(header.prefix(count))
    }

    /// Whether it is that of a database.
    var isValid: Bool { bytes.count == 100 && bytes.starts(with: "SQLite format 3\0".utf8) }

    /// The free pages, in bytes. 0 if it is no database.
    var freeBytes: Int64 {
        guard isValid else { return 0 }
        let pageSize = number(16..<18)
        return number(36..<40) * (pageSize == 1 ? 65_536 : pageSize)
    }

    private func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
}
