import FoundationEssentials
import Schemas

extension RequestHeader {
    /// Appends the header as a frame: the bytes that ``SchemaJSON`` would write, without its cost.
    func append(to json: inout JSONBytes) {
        json.append("{")
        if let actor {
            json.append("\"actor\":")
            json.append(text: actor)
            json.append(",")
        }
        json.append("\"command\":")
        json.append(text: command)
        if let deadline {
            json.append(",\"deadline\":")
            json.append(deadline)
        }
        json.append(",\"id\":")
        json.append(text: id)
        if let traceparent {
            json.append(",\"traceparent\":")
            json.append(text: traceparent)
        }
        json.append("}")
    }

    /// Reads the common form; `nil` leaves the verdict to the general decoder.
    init?(plain bytes: UnsafeRawBufferPointer) {
        var id: String?
        var command: String?
        var deadline: UnixMilliseconds?
        var traceparent: String?
        var actor: String?
        let isPlain = PlainObjectScanner.scan(bytes) { key, value in
            switch value {
            case .integer(let number) where key.spells("deadline") && deadline == nil: deadline = number
            case .text(let text) where key.spells("id") && id == nil: id = Self.name(text)
            case .text(let text) where key.spells("command") && command == nil: command = Self.name(text)
            case .text(let text) where key.spells("traceparent") && traceparent == nil:
                traceparent = String(decoding: text, as: UTF8.self)
            case .text(let text) where key.spells("actor") && actor == nil: actor = String(decoding: text, as: UTF8.self)
            default: return false
            }
            return true
        }
        guard isPlain, let id, let command else { return nil }
        self.init(id: id, command: command, deadline: deadline, traceparent: traceparent, actor: actor)
    }

    /// An id or a command within the schema's limits.
    private static func name(_ text: UnsafeRawBufferPointer) -> String? {
        guard text.count <= 100, text.contains(where: { $0 != UInt8(ascii: " ") }) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// The id of a header that is wrong elsewhere, so that its sender can tell which request the error is about; empty
    /// where there is none to be read.
    static func readableID(in frame: [UInt8]) -> String {
        struct IDAlone: Decodable {
            let id: String
        }
        // Only asked about headers that are known to be wrong, so a failure here says nothing new.
        guard let id = try? SchemaJSON.decode(IDAlone.self, from: Data(frame)).id, id.unicodeScalars.count <= 100 else {
            return ""
        }
        return id
    }
}
