import CommandBus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Copies of a service's data. The tests play the service: they supply its value, and its publisher announces versions.
@Suite("Followed copy", .timeLimit(.minutes(1)))
struct FollowedCopyTests {
    @Test("One read serves all concurrent callers, and all later ones until another version is announced")
    func oneReading() async throws {
        try await FollowedService.with { service, copy in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await copy.current().version } }
                for try await version in group { #expect(version == 1) }
            }
            #expect(service.readings == 1)
            try await service.change(to: 2) { try await copy.current().version == 2 }
            #expect(service.readings == 2)
        }
    }

    @Test("The next announcement makes up for versions that were not announced")
    func missedEvents() async throws {
        try await FollowedService.with { service, copy in
            _ = try await copy.current()
            try await service.change(to: 5) { try await copy.current().version == 5 }
        }
    }

    @Test("A service that restarted with a lower version is read again")
    func lowerVersion() async throws {
        try await FollowedService.with(version: 7) { service, copy in
            #expect(try await copy.current().version == 7)
            try await service.change(to: 3) { try await copy.current().version == 3 }
            // The copy follows the service from there.
            try await service.change(to: 4) { try await copy.current().version == 4 }
        }
    }

    @Test("While no event comes, the service is asked again after a moment")
    func silentEvents() async throws {
        try await FollowedService.with { service, copy in
            _ = try await copy.current()
            service.set(2)
            #expect(try await copy.current().version == 1)
            try await eventually { try await copy.current().version == 2 }
            #expect(service.readings == 2)
        }
    }

    @Test("The author of a change sees it, also if a reading began before it and ends after it")
    func ownEdit() async throws {
        try await FollowedService.with { service, copy in
            let gate = AsyncStream<Void>.makeStream()
            service.hold { for await _ in gate.stream {} }
            async let early = copy.current().version
            try await eventually { service.readings == 1 }
            service.set(2)
            service.followed.edited(2)
            async let author = copy.current().version
            service.hold(nil)
            gate.continuation.finish()
            #expect(try await author == 2)
            #expect(try await early == 2)
        }
    }

    @Test("Data that changes during each read is read three times, and then returned")
    func neverFresh() async throws {
        try await FollowedService.with { service, copy in
            service.hold { service.followed.edited(service.set { $0 + 1 }) }
            let last = try await copy.current()
            #expect(last.version == 3 && service.readings == 3)
        }
    }

    @Test("A read that fails is reported to all waiting callers, and the next request reads again")
    func failure() async throws {
        try await FollowedService.with { service, copy in
            service.hold { throw CancellationError() }
            await #expect(throws: CancellationError.self) { try await copy.current() }
            service.hold(nil)
            let next = try await copy.current()
            #expect(next.version == 1)
        }
    }

    @Test("Parts are kept until another version is announced; a part that does not exist is asked for each time")
    func parts() async throws {
        try await FollowedService.with { service, _ in
            let parts = FollowedParts(of: service.followed, finder: service.find)
            for key in ["a", "b", "a", "b"] { #expect(try await parts.current(key)?.version == 1) }
            #expect(service.readings == 2)
            for _ in 0..<2 { #expect(try await parts.current("none") == nil) }
            #expect(service.readings == 4)
            try await service.change(to: 2) { try await parts.current("a")?.version == 2 }
            #expect(try await parts.current("b")?.version == 2)
            #expect(service.readings == 6)
        }
    }
}

/// The data of a service at one version.
private struct Snapshot: Versioned, Hashable {
    let version: Int
}

private struct SnapshotChanged: VersionEvent {
    static let name = "snapshot.changed"

    let version: Int
}

/// A service whose data is copied.
private final class FollowedService: Sendable {
    typealias Copy = FollowedCopy<Snapshot, SnapshotChanged>

    private struct State {
        var version: Int
        var readings = 0
        /// Called during a read, after the version was read.
        var pause: (@Sendable () async throws -> Void)?
    }

    let followed: FollowedVersion<SnapshotChanged>
    private let publisher: EventPublisher
    private let state: Mutex<State>

    private init(bus: Bus, version: Int) throws {
        publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
        followed = try FollowedVersion(bus: bus, endpoints: [publisher.endpoint], logger: quietLogger)
        state = Mutex(State(version: version))
    }

    static func with(version: Int = 1, _ body: @Sendable (FollowedService, Copy) async throws -> Void) async throws {
        try await withBus { bus in
            let service = try FollowedService(bus: bus, version: version)
            try await withThrowingTaskGroup { group in
                group.addTask { try await service.followed.run() }
                try await body(service, FollowedCopy(of: service.followed) { _ in try await service.read() })
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

    /// Changes the version and announces it until the change is seen: the subscription may still be on its way.
    func change(to version: Int, until isSeen: () async throws -> Bool) async throws {
        set(version)
        try await eventually {
            publisher.publish(SnapshotChanged.name, Data("{\"version\":\(version)}".utf8))
            return try await isSeen()
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

    func find(_ key: String) async throws(CommandFailure) -> Snapshot {
        let version = state.withLock { state in
            state.readings += 1
            return state.version
        }
        guard key != "none" else { throw CommandFailure(.notFound, "no such part") }
        return Snapshot(version: version)
    }
}
