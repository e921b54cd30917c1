package import FoundationEssentials
import Base

/// An entry of the audit log as its JSON, with the fields that the log is searched by.
package struct WrittenAuditEntry: Hashable, Sendable {
    package let id: ObjectID
    package let at: UnixMilliseconds
    package let actor: String?
    package let action: String
    package let object: AuditObject
    /// The JSON of the ``AuditEntry``.
    package let json: String

    package init(_ entry: AuditEntry) throws {
        self.init(entry, json: String(decoding: try JSONCoder.encode(entry), as: UTF8.self))
    }

    /// - Parameter json: The JSON of the entry.
    package init(_ entry: AuditEntry, json: String) {
        id = entry.id
        at = entry.at
        actor = entry.actor
        action = entry.action
        object = entry.object
        self.json = json
    }

    /// Reads an entry that a service has written.
    ///
    /// - Returns: `nil` if it is none. Its fields may break rules, which the people service then names.
    package init?(json: String) {
        var text = json
        let common = text.withUTF8 { utf8 in
            var reader = FastReader(UnsafeRawBufferPointer(utf8))
            return WrittenAuditEntry(&reader).flatMap { reader.isAtEnd() ? $0 : nil }
        }
        if let common {
            self = common
        } else {
            guard let entry = try? JSONCoder.decode(AuditEntry.self, from: Data(json.utf8)),
                let written = try? WrittenAuditEntry(entry)
            else { return nil }
            self = written
        }
    }

    /// Fast path: reads an entry in the form that services write, whose fields break no rule. What has changed is not decoded.
    fileprivate init?(_ reader: inout FastReader) {
        var (id, at): (ObjectID?, UnixMilliseconds?)
        var (actor, address, action): (String?, String?, String?)
        var object: AuditObject?
        var (before, after): (Int?, Int?)
        let bytes = reader.bytes { reader in
            reader.object { reader in
                if reader.name("action") { return action.takeOnce(reader.text()) }
                if reader.name("actor") { return actor.takeOnce(reader.text()) }
                if reader.name("address") { return address.takeOnce(reader.text()) }
                if reader.name("after") { return after.takeOnce(reader.bytes { $0.anyValue() }?.count) }
                if reader.name("at") { return at.takeOnce(reader.moment()) }
                if reader.name("before") { return before.takeOnce(reader.bytes { $0.anyValue() }?.count) }
                if reader.name("id") { return id.takeOnce(reader.characters().flatMap(ObjectID.init(digits:))) }
                if reader.name("object") { return object.takeOnce(reader.auditObject()) }
                return false
            }
        }
        guard let bytes, let id, let at, let action, let object,
            let json = String(validating: bytes.bindMemory(to: UInt8.self), as: UTF8.self),
            (0...maximumUnixMilliseconds).contains(at), max(before ?? 0, after ?? 0) <= AuditEntry.maxValueBytes,
            (try? object.check()) != nil,
            TextLimits.auditAction.problem(with: action) == nil, actor.flatMap({ TextLimits.sender.problem(with: $0) }) == nil,
            address.flatMap({ TextLimits.address.problem(with: $0) }) == nil
        else { return nil }
        (self.id, self.at, self.actor, self.action, self.object, self.json) = (id, at, actor, action, object, json)
    }
}

extension FastReader {
    fileprivate mutating func auditObject() -> AuditObject? {
        var (kind, id): (String?, String?)
        let isRead = object { reader in
            if reader.name("id") { return id.takeOnce(reader.text()) }
            return reader.name("kind") && kind.takeOnce(reader.text())
        }
        guard isRead, let kind, let id else { return nil }
        return AuditObject(kind: kind, id: id)
    }
}

extension AddAuditEntries {
    package init(payload: Data) throws {
        if let common = payload.withUnsafeBytes({ Self(common: $0) }) {
            self = common
        } else {
            let read: Entries = try JSONCoder.decodeStrictly(from: payload)
            try self.init(entries: read.entries)
        }
    }

    private init?(common json: UnsafeRawBufferPointer) {
        var entries: [WrittenAuditEntry] = []
        var reader = FastReader(json)
        let isRead = reader.object { reader in
            guard entries.isEmpty, reader.name("entries") else { return false }
            return reader.array { reader in
                guard let entry = WrittenAuditEntry(&reader) else { return false }
                entries.append(entry)
                return true
            }
        }
        guard isRead, reader.isAtEnd(), entries.count <= Self.maxEntries else { return nil }
        self.init(entries)
    }

    package func payload() throws -> Data {
        var json = JSONBytes(capacity: entries.reduce(16) { $0 + $1.json.utf8.count + 1 })
        json.append(#"{"entries":["#)
        for (position, entry) in entries.enumerated() {
            if position > 0 { json.append(",") }
            var text = entry.json
            text.withUTF8 { json.append(UnsafeRawBufferPointer($0)) }
        }
        json.append("]}")
        return json.data()
    }
}

/// The command in every other form, and for its errors.
private struct Entries: Codable, Checked {
    let entries: [AuditEntry]

    enum CodingKeys: String, CodingKey, CaseIterable {
        case entries
    }

    func check() throws(SchemaViolation) {
        try (1...AddAuditEntries.maxEntries).check(entries.count, CodingKeys.entries)
    }
}

extension AddAuditEntries {
    package init(from decoder: any Decoder) throws {
        try self.init(entries: try Entries(from: decoder).entries)
    }

    package func encode(to encoder: any Encoder) throws {
        try Entries(entries: try entries.map { try JSONCoder.decode(from: Data($0.json.utf8)) }).encode(to: encoder)
    }
}
