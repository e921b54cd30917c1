/// A value that belongs to one version of a service's data.
protocol Versioned<Version>: Sendable {
    associatedtype Version: Comparable & LosslessStringConvertible & Sendable
    associatedtype Edit: VersionedEdit<Version> = NoEdit<Version>

    var version: Version { get }
    /// By it two values of the same version can differ; `nil` if there is none.
    var checksum: UInt64? { get }

    /// The value after edits that it does not contain, in their order. It has the version of the last one if they are all that the
    /// service has made since.
    func applying(_ edits: [Edit]) throws -> Self
}

extension Versioned {
    var checksum: UInt64? { nil }
}

extension Versioned where Edit == NoEdit<Version> {
    func applying(_ edits: [NoEdit<Version>]) -> Self { self }
}

/// The event by which a service announces the version of its data: after each change, and once a second.
protocol VersionEvent: Decodable, Sendable {
    associatedtype Version: Comparable & LosslessStringConvertible & Sendable
    /// The edit that has made a version.
    associatedtype Edit: VersionedEdit<Version> = NoEdit<Version>

    /// The event's name on the bus.
    static var name: String { get }

    var version: Version { get }
    /// The edit that has made the version, if the event tells it.
    var versionedEdit: Edit? { get }
    /// The ``Versioned/checksum`` of the data at the version, if the event tells it.
    var checksum: UInt64? { get }
}

extension VersionEvent {
    var checksum: UInt64? { nil }
}

extension VersionEvent where Edit == NoEdit<Version> {
    var versionedEdit: NoEdit<Version>? { nil }
}

/// An edit that has made a version.
protocol VersionedEdit<Version>: Sendable {
    associatedtype Version: Comparable & Sendable

    var version: Version { get }
    /// About what it takes in memory, in bytes.
    var size: Int { get }

    /// Whether it was made to this version.
    func follows(_ version: Version) -> Bool
}

/// The edit of data that the gateway does not edit.
enum NoEdit<Version: Comparable & Sendable>: VersionedEdit {
    var version: Version {
        switch self {}
    }
    var size: Int {
        switch self {}
    }

    func follows(_ version: Version) -> Bool {
        switch self {}
    }
}
