/// The reply to `bus.health` of a service that can do its work, with its version and the state of its dependencies:
/// `{"version":"1.2.0","parts":{"fcm":{"status":"unavailable","message":"…"}}}`. A service whose store takes no writes also replies so,
/// with the part ``store``.
package struct ServiceHealth: Codable, Hashable, Sendable {
    /// The service's version. `nil` if it does not report one, as older versions do.
    package var version: String?
    /// The service's dependencies by name. Empty for a service without dependencies, and for an older version.
    package var parts: [String: PartHealth] { reported ?? [:] }
    /// Left out of the document if there are none.
    private let reported: [String: PartHealth]?

    package init(version: String? = nil, parts: [String: PartHealth] = [:]) {
        self.version = version
        reported = parts.isEmpty ? nil : parts
    }

    /// The part that is there while the service's store takes no new documents. Then the service cannot do its work.
    package static let store = "store"
    /// The part that is there while nine tenths of the room for new documents are used.
    package static let storage = "storage"

    /// Whether every part can do its work.
    package var isWell: Bool { parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: String, CodingKey {
        case version
        case reported = "parts"
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
    package var parts: [String: PartHealth] { reported ?? [:] }
    /// Left out of the document if there are none.
    private let reported: [String: PartHealth]?

    /// A part that can do its work.
    package static let ok = PartHealth(.ok)

    package init(
        _ status: ReplyStatus, _ message: String? = nil, version: String? = nil, parts: [String: PartHealth] = [:]
    ) {
        self.status = status
        self.message = message
        self.version = version
        reported = parts.isEmpty ? nil : parts
    }

    /// Whether the part and all of its dependencies can do their work.
    package var isWell: Bool { status == .ok && parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: String, CodingKey {
        case status, message, version
        case reported = "parts"
    }
}

extension PartHealth {
    /// A service that has replied, as another one sees it: it can do its work unless its store takes no writes.
    package init(_ service: ServiceHealth) {
        let store = service.parts[ServiceHealth.store] ?? .ok
        self.init(store.status, store.message, version: service.version, parts: service.parts)
    }
}
