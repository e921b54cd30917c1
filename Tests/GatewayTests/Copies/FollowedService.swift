import Base
import Bus
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The data of a service at one version.
struct Snapshot: Versioned, Hashable {
    let version: Int
    /// The versions of the edits that were made to the copy.
    var edits: [Int] = []

    var checksum: UInt64? { UInt64(edits.count) }

    func applying(_ edits: [SnapshotEdit]) -> Snapshot {
        let versions = edits.map(\.version)
        let first = version + 1
        let isComplete = versions == Array(first..<first + versions.count)
        return Snapshot(version: isComplete ? version + versions.count : version, edits: self.edits + versions)
    }
}

struct SnapshotEdit: VersionedEdit, Codable {
    let version: Int
    var size = 1

    func follows(_ other: Int) -> Bool { version == other + 1 }
}

struct SnapshotChanged: VersionEvent, Encodable {
    static let name = "snapshot.changed"

    let version: Int
    var versionedEdit: SnapshotEdit?
    var checksum: UInt64?

    /// - Parameter hasEdit: Whether it tells the edit that has made the version.
    init(_ version: Int, hasEdit: Bool = true, checksum: UInt64? = nil) {
        self.version = version
        versionedEdit = hasEdit ? SnapshotEdit(version: version) : nil
        self.checksum = checksum
    }
}

/// A service whose data is copied. The test plays it: it supplies the data, and publishes events.
final class FollowedService: Sendable {
    typealias Copy = FollowedCopy<Snapshot, SnapshotChanged>

    private struct State {
        var version = 1
        var readings = 0
        /// Called during a read, after the version was read.
        var pause: (@Sendable () async throws -> Void)?
    }

    let followed: FollowedVersion<SnapshotChanged>
    private let publisher: EventPublisher
    private let heard = Counter()
    private let state = Mutex(State())

    private init(bus: Bus) throws {
        publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
        followed = try FollowedVersion(bus: bus, endpoints: [publisher.endpoint], logger: quietLogger)
        followed.observe { [heard] _ in heard.add() }
    }

    /// Runs a test with a service at version 1.
    static func with(
        grace: Duration = .zero, gapTimeout: Duration = .zero, _ body: @Sendable (FollowedService, Copy) async throws -> Void
    ) async throws {
        try await withBus { bus in
            let service = try FollowedService(bus: bus)
            let copy = FollowedCopy(of: service.followed, grace: grace, gapTimeout: gapTimeout) { _ in try await service.read() }
            try await withThrowingTaskGroup { group in
                group.addTask { try await service.followed.run() }
                try await body(service, copy)
                group.cancelAll()
            }
        }
    }

    var readings: Int { state.withLock(\.readings) }

    func hold(_ pause: (@Sendable () async throws -> Void)?) {
        state.withLock { $0.pause = pause }
    }

    /// Changes the version without an announcement.
    func set(_ version: Int) {
        _ = set { _ in version }
    }

    /// - Returns: The new version.
    func set(_ change: (Int) -> Int) -> Int {
        state.withLock { state in
            state.version = change(state.version)
            return state.version
        }
    }

    /// Announces the version until the subscription works.
    func connect() async throws {
        try await eventually {
            tell(SnapshotChanged(state.withLock(\.version), hasEdit: false))
            return heard.count > 0
        }
    }

    /// Changes the version and announces it without an edit until the change is seen: the subscription may still be on its way.
    func change(to version: Int, until isSeen: () async throws -> Bool) async throws {
        set(version)
        try await eventually {
            tell(SnapshotChanged(version, hasEdit: false))
            return try await isSeen()
        }
    }

    func tell(_ event: SnapshotChanged) {
        do {
            publisher.publish(SnapshotChanged.name, try JSONCoder.encode(event))
        } catch {
            Issue.record(error)
        }
    }

    private func read() async throws -> Snapshot {
        let (version, pause) = state.withLock { state in
            state.readings += 1
            return (state.version, state.pause)
        }
        try await pause?()
        return Snapshot(version: version)
    }
}
