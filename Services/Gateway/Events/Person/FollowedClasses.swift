import Base
import Schemas

/// The classes whose events a stream carries, as they were at a moment.
struct FollowedClasses: Sendable {
    /// Of the person's classes those that the client has asked for.
    let ids: Set<ObjectID>
    /// The position of the persons' events before the person's classes were read. The person may have left one since.
    let position: String
}

/// The classes in a query, separated by commas.
struct ClassIDs: Hashable, Sendable {
    /// More than a person can be in.
    static let maxCount = 100

    let ids: Set<ObjectID>
}

extension ClassIDs: LosslessStringConvertible {
    var description: String { ids.map(\.description).sorted().joined(separator: ",") }

    init?(_ description: String) {
        // Refusing a text that is too long is cheaper than splitting it.
        guard description.utf8.count <= Self.maxCount * 25 else { return nil }
        let parts: [Substring] =
            description.isEmpty ? [] : description.split(separator: ",", omittingEmptySubsequences: false)
        let all = parts.compactMap { ObjectID(String($0)) }
        guard all.count == parts.count, all.count <= Self.maxCount else { return nil }
        ids = Set(all)
    }
}

extension ClassIDs: TextCodable {
    static var expected: String { "at most \(maxCount) ids of classes (ObjectIds), separated by commas" }
    static var pattern: String { "^([0-9A-Fa-f]{24}(,[0-9A-Fa-f]{24}){0,\(maxCount - 1)})?$" }
    static var example: String { ObjectID.example }
}
