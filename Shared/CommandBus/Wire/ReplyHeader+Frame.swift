import FoundationEssentials
import Schemas

extension ReplyHeader {
    /// Appends the header as a frame: the bytes that ``SchemaJSON`` would write, without its cost.
    func append(to json: inout JSONBytes) {
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
    init(frame bytes: UnsafeRawBufferPointer) throws {
        if let plain = Self(plain: bytes) {
            self = plain
        } else {
            self = try SchemaJSON.decode(from: Data(bytes))
        }
    }

    private init?(plain bytes: UnsafeRawBufferPointer) {
        var id: String?
        var status: ReplyStatus?
        let isPlain = PlainObjectScanner.scan(bytes) { key, value in
            guard case .text(let text) = value else { return false }
            if key.spells("id"), id == nil {
                id = String(decoding: text, as: UTF8.self)
            } else if key.spells("status"), status == nil {
                status = text.spells("ok") ? .ok : ReplyStatus(rawValue: String(decoding: text, as: UTF8.self))
            } else {
                return false
            }
            return true
        }
        guard isPlain, let id, let status else { return nil }
        self.init(id: id, status: status)
    }
}
