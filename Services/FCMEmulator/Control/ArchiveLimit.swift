import JSON

/// How many accepted sends are stored with their bodies. All of them are counted.
struct ArchiveLimit: Hashable, Sendable {
    let keep: Int
}

extension ArchiveLimit: ControlSection {
    static let form = MessageForm("emulator.Archive", ["keep": .int32])

    init(_ fields: ControlFields) throws {
        keep = try fields.integer("keep", in: 0...Int(Int32.max)) ?? 1_000_000
    }

    var document: JSONValue { ["keep": .integer(keep)] }
}
