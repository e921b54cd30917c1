/// The reply to `bus.health` of a service that can do its work, with its version and the state of its dependencies:
/// `{"version":"1.2.0","parts":{"fcm":{"status":"unavailable","message":"…"}}}`.
package struct ServiceHealth: Codable, Hashable, Sendable {
    /// The service's version. `nil` if it does not report one, as older versions do.
    package var version: String?
    /// The service's dependencies by name. Empty for a service without dependencies, and for an older version.
    package var parts: [String: PartHealth]

    package init(version: String? = nil, parts: [String: PartHealth] = [:]) {
        self.version = version
        self.parts = parts
    }

    /// Whether every part can do its work.
    package var isWell: Bool { parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: CodingKey {
        case version, parts
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decodeIfPresent(String.self, forKey: .version)
        parts = try container.decodeIfPresent([String: PartHealth].self, forKey: .parts) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(version, forKey: .version)
        if !parts.isEmpty { try container.encode(parts, forKey: .parts) }
    }
}

/// The state of one dependency of a service.
package struct PartHealth: Codable, Hashable, Sendable {
    package var status: ReplyStatus
    /// One sentence for the operator. Required unless the status is `ok`.
    package var message: String?
    /// The version of a part that is a service, if it reports one.
    package var version: String?
    /// The dependencies of the part itself, by name; empty without a report.
    package var parts: [String: PartHealth]

    /// A part that can do its work.
    package static let ok = PartHealth(.ok)

    package init(
        _ status: ReplyStatus, _ message: String? = nil, version: String? = nil, parts: [String: PartHealth] = [:]
    ) {
        self.status = status
        self.message = message
        self.version = version
        self.parts = parts
    }

    /// Whether the part and all of its dependencies can do their work.
    package var isWell: Bool { status == .ok && parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: CodingKey {
        case status, message, version, parts
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.decode(ReplyStatus.self, forKey: .status)
        message = try container.decodeIfPresent(String.self, forKey: .message)
        version = try container.decodeIfPresent(String.self, forKey: .version)
        parts = try container.decodeIfPresent([String: PartHealth].self, forKey: .parts) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(message, forKey: .message)
        try container.encodeIfPresent(version, forKey: .version)
        if !parts.isEmpty { try container.encode(parts, forKey: .parts) }
    }
}

extension PartHealth {
    /// A service that can do its work, as another one sees it.
    package init(_ service: ServiceHealth) {
        self.init(.ok, version: service.version, parts: service.parts)
    }
}
