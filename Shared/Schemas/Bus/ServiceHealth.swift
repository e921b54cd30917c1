/// The reply to `bus.health` of a service that can do its work, with the state of what it depends on:
/// `{"parts":{"fcm":{"status":"unavailable","message":"…"}}}`, or `{}` when there is nothing to say.
package struct ServiceHealth: Codable, Hashable, Sendable {
    /// What the service depends on, by name. Empty for a service that depends on nothing, and for one of an older version.
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

/// The state of one thing that a service depends on.
package struct PartHealth: Codable, Hashable, Sendable {
    package var status: ReplyStatus
    /// One sentence for the operator. Required unless the status is `ok`.
    package var message: String?
    /// What the part itself depends on, by name; empty when there is nothing to say.
    package var parts: [String: PartHealth]

    /// A part that can do its work.
    package static let ok = PartHealth(.ok)

    package init(_ status: ReplyStatus, _ message: String? = nil, parts: [String: PartHealth] = [:]) {
        self.status = status
        self.message = message
        self.parts = parts
    }

    /// Whether the part, and everything that it depends on, can do its work.
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
