import CommandBus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Copies of a service's data. The tests play the service: they supply its value, and its publisher announces versions.
@Suite("Followed copy", .timeLimit(.minutes(10)))
struct FollowedCopyTests {
    @Test("One read serves all concurrent callers, and all later ones until another version is announced")
    func oneReading() async throws {
        try await FollowedService.with { service, copy in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await copy.current().version } }
                for try await version in group { #expect(version == 1) }
            }
            #expect(service.readings == 1)
            try await service.change(to: 3) { try await copy.current().version == 3 }
            #expect(service.readings == 2)
            // A restored service has lower versions, which are followed from there.
            for lower in 1...2 { try await service.change(to: lower) { try await copy.current().version == lower } }
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

    @Test("While the service is frozen, a request waits a moment, and gets the copy with this gateway's edits")
    func frozen() async throws {
        try await FollowedService.with(grace: .seconds(60)) { service, copy in
            _ = try await copy.current()
            let gate = AsyncStream<Void>.makeStream()
            service.hold { for await _ in gate.stream {} }
            service.set(2)
            copy.edited(SnapshotEdit(version: 2))
            let start = ContinuousClock.now
            #expect(try await copy.current() == Snapshot(version: 1, edits: [2]))
            #expect(ContinuousClock.now - start < .seconds(3))
            #expect(copy.usableUntil.map { $0 > .now + .seconds(50) } == true)
            service.hold(nil)
            gate.continuation.finish()
            try await eventually { try await copy.current() == Snapshot(version: 2) }
        }
    }

    @Test("While a newer version cannot be read, the former one is used for the grace period")
    func unreadable() async throws {
        try await FollowedService.with(grace: .seconds(5)) { service, copy in
            _ = try await copy.current()
            service.hold { throw CancellationError() }
            try await service.change(to: 2) { !service.followed.isFresh(1) }
            #expect(try await copy.current() == Snapshot(version: 1))
            try await eventually("the end of the grace period") {
                do {
                    _ = try await copy.current()
                    return false
                } catch is CancellationError {
                    return copy.usableUntil == nil
                }
            }
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
}

/// The data of a service at one version.
private struct Snapshot: Versioned, Hashable {
    let version: Int
    /// The versions of the edits that were made to the copy.
    var edits: [Int] = []

    func applying(_ edits: [SnapshotEdit]) -> Snapshot {
        Snapshot(version: version, edits: self.edits + edits.map(\.version))
    }
}

private struct SnapshotEdit: VersionedEdit {
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

    private init(bus: Bus) throws {
        publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
        followed = try FollowedVersion(bus: bus, endpoints: [publisher.endpoint], logger: quietLogger)
        state = Mutex(State(version: 1))
    }

    static func with(grace: Duration = .zero, _ body: @Sendable (FollowedService, Copy) async throws -> Void) async throws {
        try await withBus { bus in
            let service = try FollowedService(bus: bus)
            try await withThrowingTaskGroup { group in
                group.addTask { try await service.followed.run() }
                try await body(service, FollowedCopy(of: service.followed, grace: grace) { _ in try await service.read() })
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
}
