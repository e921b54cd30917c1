import Schemas

/// One edit of the cube, on the way to the state of a file.
struct CubeEdit: Hashable, Sendable {
    enum Kind: String, Sendable {
        case channel, area, subject
    }

    enum Action: Hashable, Sendable {
        /// Adds a channel or an area.
        case add(NamedDraft)
        case addSubject(SubjectDraft)
        /// Replaces the fields of a channel or an area.
        case replace(NamedDraft)
        case replaceSubject(SubjectDraft)
        case setAccess([AccountName])
        case setApproval(Bool)
        case remove
    }

    /// A field that changes; for a removal, the number of parts inside.
    struct Change: Hashable, Sendable {
        let field: String
        let before: String
        let after: String
    }

    let kind: Kind
    /// The names of the channel, the area and the subject, before the edit.
    let place: [String]
    /// The object and those that contain it, from the channel on. If it is added, the last one is the edit itself.
    let path: [CubeReference]
    let action: Action
    let changes: [Change]
}

/// An object of the cube, which may not be there yet.
enum CubeReference: Hashable, Sendable {
    case existing(ObjectID)
    /// The number of the edit that adds it.
    case added(Int)
}

extension CubeEdit: CustomStringConvertible {
    /// `+ subject Campus/Weather/Storms: distribution Alert`
    var description: String {
        let sign =
            switch action {
            case .add, .addSubject: "+"
            case .remove: "-"
            default: "~"
            }
        let details = changes.map { change in
            switch action {
            case .add, .addSubject: "\(change.field) \(Self.shown(change.after))"
            case .remove: "\(change.before) \(change.before == "1" ? String(change.field.dropLast()) : change.field)"
            default: "\(change.field) \(Self.shown(change.before)) → \(Self.shown(change.after))"
            }
        }
        return "\(sign) \(kind.rawValue) \(Self.text(of: place).onOneLine(maxLength: 1_000))"
            + (details.isEmpty ? "" : ": " + details.joined(separator: ", "))
    }

    /// As `msi send` takes it.
    static func text(of place: [String]) -> String {
        place.map { $0.replacing("/", with: "\\/") }.joined(separator: "/")
    }

    private static func shown(_ text: String) -> String {
        text.isEmpty ? "(none)" : text.onOneLine(maxLength: 60)
    }
}

extension CubeEdit: Encodable {
    private enum CodingKeys: String, CodingKey {
        case action, kind, place, changes
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(actionName, forKey: .action)
        try fields.encode(kind.rawValue, forKey: .kind)
        try fields.encode(place, forKey: .place)
        let values = changes.map { ($0.field, ["before": $0.before, "after": $0.after]) }
        try fields.encode(Dictionary(uniqueKeysWithValues: values), forKey: .changes)
    }

    private var actionName: String {
        switch action {
        case .add, .addSubject: "add"
        case .replace, .replaceSubject, .setAccess, .setApproval: "change"
        case .remove: "remove"
        }
    }
}
