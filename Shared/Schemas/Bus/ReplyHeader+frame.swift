import FoundationEssentials
package import JSON

/// A reply's header as a frame.
extension ReplyHeader {
    /// Appends the header as a frame: the bytes that ``JSONCoder`` would write, without its cost.
    package func append(to json: inout JSONBytes) {
        json.append("{\"id\":")
        json.append(text: id)
        if status == .ok {
            json.append(",\"status\":\"ok\"}")
        } else {
            json.append(",\"status\":")
            json.append(text: status.rawValue)
            json.append("}")
        }
    }

    /// Reads a frame that a service sent.
    ///
    /// - Throws: ``SchemaViolation``.
    package init(frame bytes: UnsafeRawBufferPointer) throws {
        if let plain = Self(plain: bytes) {
            self = plain
        } else {
            self = try JSONCoder.decode(from: Data(bytes))
        }
    }

    private init?(plain bytes: UnsafeRawBufferPointer) {
        var id: String?
        var status: ReplyStatus?
        var reader = PlainReader(bytes)
        let isRead = reader.object { reader in
            if reader.name("id") { return id.takeOnce(reader.text()) }
            return reader.name("status") && status.takeOnce(reader.choice())
        }
        guard isRead, reader.isAtEnd(), let id, let status else { return nil }
        self.init(id: id, status: status)
    }
}
