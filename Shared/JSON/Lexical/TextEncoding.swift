/// Checks that a document is UTF-8 without a byte order mark.
enum TextEncoding {
    static func check(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        let start = Array(bytes.prefix(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { throw JSONSyntaxError(problem: .byteOrderMark, position: 0) }
        // A document begins with ASCII, so in UTF-16 and UTF-32 one to three of its first four bytes are zeros.
        if start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            throw JSONSyntaxError(problem: .otherEncoding, position: 0)
        }
        try checkUTF8(bytes)
    }

    static func checkUTF8(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        do {
            _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
        } catch {
            throw JSONSyntaxError(problem: .notUTF8, position: error.byteOffsets.lowerBound)
        }
    }
}
