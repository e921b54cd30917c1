package import Base

/// The role of an account. It decides which rights the account has in the hub.
///
/// A role that only another version knows is kept as it is, in stores and on the way, and has no rights. So services of two versions can
/// use the same accounts. A request that would give an account such a role is refused (``checkKnown(_:_:)``).
package enum Role: Hashable, Sendable {
    /// Has every right, and may send to every subject.
    case superUser
    /// Reads and sends, where the access lists of the cube allow it.
    case communicator
    /// Has no right in the hub. Uses the student's app, and the routes of persons alone.
    case student
    /// Another version's, by its name.
    case unknown(String)

    package var rights: Set<AccountRight> {
        switch self {
        case .superUser: Set(AccountRight.allCases)
        case .communicator: [.read, .send]
        case .student, .unknown: []
        }
    }

    /// The roles of those who use the portal. Earlier versions know no others: commands that they send are answered without other accounts.
    package static let staff: [Role] = [.superUser, .communicator]

    /// Whether the account uses the portal.
    package var isStaff: Bool { Self.staff.contains(self) }

    /// Checks the role that a caller gives to an account.
    package static func checkKnown(_ role: Role?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let role, !allCases.contains(role) else { return }
        let known = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw SchemaViolation(field, "expected one of \(known), found \"\(role.rawValue)\"")
    }
}

extension Role: CaseIterable {
    /// Those that this version knows.
    package static var allCases: [Role] { [.superUser, .communicator, .student] }
}

extension Role: RawRepresentable {
    /// - Returns: `nil` for a text that cannot be the name of a role in any version.
    package init?(rawValue: String) {
        switch rawValue {
        case "super_user": self = .superUser
        case "communicator": self = .communicator
        case "student": self = .student
        default:
            guard (1...40).contains(rawValue.utf8.count),
                rawValue.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") })
            else { return nil }
            self = .unknown(rawValue)
        }
    }

    package var rawValue: String {
        switch self {
        case .superUser: "super_user"
        case .communicator: "communicator"
        case .student: "student"
        case .unknown(let name): name
        }
    }
}

extension Role: TextCodable {
    package init?(_ description: String) { self.init(rawValue: description) }

    package var description: String { rawValue }

    // The standard library's coding of raw values would be another one that fits.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let role = Role(rawValue: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected \(Self.expected)")
        }
        self = role
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    package static var expected: String { "one of super_user, communicator, student (a role)" }
    package static var pattern: String { "^(super_user|communicator|student)$" }
    package static var example: String { "communicator" }
}
