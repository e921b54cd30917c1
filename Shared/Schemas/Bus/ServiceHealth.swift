/// The reply to `bus.health` of a service that can do its work, with the state of its dependencies:
/// `{"parts":{"fcm":{"status":"unavailable","message":"…"}}}`, or `{}` without a report.
package struct ServiceHealth: Codable, Hashable, Sendable {
    /// The service's dependencies by name. Empty for a service without dependencies, and for an older version.
    package var parts: [String: PartHealth]

    package init(parts: [String: PartHealth] = [:]) {
        self.parts = parts
    }

    /// Whether every part can do its work.
    package var isWell: Bool { parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: CodingKey {
        case parts
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        parts = try container.decodeIfPresent([String: PartHealth].self, forKey: .parts) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !parts.isEmpty { try container.encode(parts, forKey: .parts) }
    }
}

/// The state of one dependency of a service.
package struct PartHealth: Codable, Hashable, Sendable {
    package var status: ReplyStatus
    /// One sentence for the operator. Required unless the status is `ok`.
    package var message: String?
    /// The dependencies of the part itself, by name; empty without a report.
    package var parts: [String: PartHealth]

    /// A part that can do its work.
    package static let ok = PartHealth(.ok)

    package init(_ status: ReplyStatus, _ message: String? = nil, parts: [String: PartHealth] = [:]) {
        self.status = status
        self.message = message
        self.parts = parts
    }

    /// Whether the part and all of its dependencies can do their work.
    package var isWell: Bool { status == .ok && parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: CodingKey {
        case status, message, parts
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.decode(ReplyStatus.self, forKey: .status)
        message = try container.decodeIfPresent(String.self, forKey: .message)
        parts = try container.decodeIfPresent([String: PartHealth].self, forKey: .parts) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(message, forKey: .message)
        if !parts.isEmpty { try container.encode(parts, forKey: .parts) }
    }
}
