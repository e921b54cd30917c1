import TestSupport
import Testing

@testable import Gateway

/// Copies of a service's data. ``CopyStateTests`` test the decisions.
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
            let start = ContinuousClock.now
            _ = try await copy.current()
            service.set(2)
            // On a busy machine the moment may be over already.
            let next = try await copy.current().version
            #expect(next == 1 || ContinuousClock.now - start > .seconds(2))
            try await eventually { try await copy.current().version == 2 }
            #expect(service.readings == 2)
        }
    }

    @Test("The author of a change sees it, even if a read began before it and ends after it")
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
        try await FollowedService.with(grace: .seconds(600)) { service, copy in
            _ = try await copy.current()
            let gate = AsyncStream<Void>.makeStream()
            service.hold { for await _ in gate.stream {} }
            service.set(3)
            copy.edited(SnapshotEdit(version: 3))
            let start = ContinuousClock.now
            #expect(try await copy.current() == Snapshot(version: 1, edits: [3]))
            #expect(ContinuousClock.now - start < .seconds(30))
            #expect(copy.usableUntil.map { $0 > .now + .seconds(500) } == true)
            service.hold(nil)
            gate.continuation.finish()
            try await eventually { try await copy.current() == Snapshot(version: 3) }
        }
    }

    @Test("Edits that events tell are made to the copy, in the order of their versions, without another read")
    func toldEdits() async throws {
        try await FollowedService.with(gapTimeout: .seconds(600)) { service, copy in
            _ = try await copy.current()
            try await service.connect()
            for version in 2...3 {
                service.set(version)
                service.tell(SnapshotChanged(version))
                try await eventually { service.followed.latest == version }
                #expect(try await copy.current() == Snapshot(version: version, edits: Array(2...version)))
            }
            service.set(5)
            service.tell(SnapshotChanged(5))
            try await eventually { service.followed.latest == 5 }
            async let reader = copy.current()
            service.tell(SnapshotChanged(4))
            // What is read has no edits.
            #expect(try await reader == Snapshot(version: 5, edits: [2, 3, 4, 5]))
        }
    }

    @Test("Edits of many callers at the same moment are all made, and each caller sees its own")
    func simultaneousEdits() async throws {
        try await FollowedService.with(grace: .seconds(60), gapTimeout: .seconds(600)) { service, copy in
            _ = try await copy.current()
            service.set(201)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for version in (2...201).shuffled() {
                    group.addTask {
                        copy.edited(SnapshotEdit(version: version))
                        let seen = try await copy.current().edits
                        #expect(seen.contains(version))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await copy.current() == Snapshot(version: 201, edits: Array(2...201)))
        }
    }

    @Test("A version without its edit, or whose edit does not follow the copy's version, is read")
    func gaps() async throws {
        try await FollowedService.with { service, copy in
            _ = try await copy.current()
            try await service.connect()
            for event in [SnapshotChanged(2, hasEdit: false), SnapshotChanged(4)] {
                service.set(event.version)
                service.tell(event)
                try await eventually { try await copy.current() == Snapshot(version: event.version) }
            }
        }
    }

    @Test("An edit that is told while the copy is being read is made to what was read")
    func editDuringRead() async throws {
        try await FollowedService.with { service, copy in
            _ = try await copy.current()
            try await service.connect()
            let gate = AsyncStream<Void>.makeStream()
            service.hold { for await _ in gate.stream {} }
            service.set(2)
            service.tell(SnapshotChanged(2, hasEdit: false))
            try await eventually { service.followed.latest == 2 }
            async let author = copy.current()
            try await eventually { service.readings == 2 }
            service.set(3)
            service.tell(SnapshotChanged(3))
            try await eventually { service.followed.latest == 3 && copy.kept?.copy.edits == [3] }
            service.hold(nil)
            gate.continuation.finish()
            #expect(try await author == Snapshot(version: 3, edits: [3]))
            #expect(service.readings == 2)
        }
    }

    @Test("A read that is older than the edits that were told since does not replace the copy")
    func lateRead() async throws {
        try await FollowedService.with(grace: .seconds(60)) { service, copy in
            _ = try await copy.current()
            try await service.connect()
            let gate = AsyncStream<Void>.makeStream()
            service.hold { for await _ in gate.stream {} }
            service.followed.edited(2)
            async let early = copy.current()
            try await eventually { service.readings == 2 }
            for version in 2...3 { service.tell(SnapshotChanged(version)) }
            try await eventually { copy.kept?.copy.version == 3 }
            service.set(3)
            service.hold(nil)
            gate.continuation.finish()
            _ = try await early
            #expect(try await copy.current() == Snapshot(version: 3, edits: [2, 3]))
            #expect(service.readings == 2)
        }
    }

    @Test("A copy that differs from what the service says is read again: after an event with the edit, or one after the answer")
    func differentResult() async throws {
        try await FollowedService.with { service, copy in
            _ = try await copy.current()
            try await service.connect()
            service.set(2)
            service.tell(SnapshotChanged(2, checksum: 99))
            try await eventually { try await copy.current() == Snapshot(version: 2) }
            // The answer comes after the event.
            copy.edited(SnapshotEdit(version: 2))
            #expect(try await copy.current() == Snapshot(version: 2))
            service.set(3)
            copy.edited(SnapshotEdit(version: 3))
            #expect(try await copy.current() == Snapshot(version: 3, edits: [3]))
            service.tell(SnapshotChanged(3, checksum: 99))
            try await eventually { try await copy.current() == Snapshot(version: 3) }
            #expect(service.readings == 3)
            // What is read does not get better by reading it again.
            service.set(4)
            service.tell(SnapshotChanged(3, hasEdit: false, checksum: 99))
            service.tell(SnapshotChanged(4))
            try await eventually { try await copy.current() == Snapshot(version: 4, edits: [4]) }
            #expect(service.readings == 3)
        }
    }

    @Test("While a newer version cannot be read, the older one is used for the grace period")
    func unreadable() async throws {
        try await FollowedService.with(grace: .seconds(10)) { service, copy in
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
