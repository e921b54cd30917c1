import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// The memory of open sessions.
@Suite("Open sessions in memory", .timeLimit(.minutes(10)))
struct ClassSessionsTests {
    @Test("What this process changes is seen at once, and what another one changes soon", arguments: StoreKind.allCases)
    func freshness(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            let group = try await pair.group(named: "memory")
            let (own, other) = (pair.instances[0], pair.instances[1])
            let memory = own.sessions
            #expect(try await memory.count(of: group.classID) == 3)
            let found = try await memory.open(in: [ObjectID(), group.classID])
            #expect(Set(found.map(\.id)) == Set(group.sessions))
            try await RaceAct.join(4, session: 0, leave: false).perform(in: group, on: own)
            let joined = try await memory.open(in: [group.classID]).first { $0.id == group.sessions[0] }
            #expect(joined?.attendants.map(\.name) == [group.persons[2], group.persons[4]])
            try await RaceAct.leave(2, session: 0).perform(in: group, on: own)
            #expect(try await memory.count(of: group.classID) == 2)
            // SQLite has one instance only.
            guard kind == .mongodb else { return }
            try await RaceAct.leave(3, session: 1).perform(in: group, on: other)
            try await eventually("the other instance's change") { try await memory.count(of: group.classID) == 1 }
        }
    }

    @Test("After a change that may be stored, although it failed, the sessions are read again; not after one that was refused")
    func failure() async throws {
        try await TwoInstances.with(.sqlite) { pair in
            let group = try await pair.group(named: "failure")
            let own = pair.instances[0]
            #expect(try await own.sessions.count(of: group.classID) == 3)
            // The memory of the first instance is not told of it.
            try await RaceAct.leave(2, session: 0).perform(in: group, on: pair.instances[1])
            for (status, count) in [(ReplyStatus.conflict, 3), (.unavailable, 2)] {
                await #expect(throws: CommandFailure.self) {
                    try await own.make(by: .program) { _ in throw CommandFailure(status, "no answer") }
                }
                #expect(try await own.sessions.count(of: group.classID) == count)
            }
        }
    }

    @Test("Readers at the same moment, while sessions change, never see an older state than the last change")
    func concurrent() async throws {
        try await TwoInstances.with(.sqlite) { pair in
            let group = try await pair.group(named: "concurrent")
            let changes = pair.instances[0]
            let readers = Task {
                try await concurrently(4) { _ in
                    while !Task.isCancelled {
                        _ = try await changes.sessions.open(in: [group.classID])
                        // What is in memory is there without a wait, so that the others would get no thread.
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<50 {
                for act in [RaceAct.join(4, session: 0, leave: false), .leave(4, session: 0)] {
                    try await act.perform(in: group, on: changes)
                    let stored = try await changes.store.snapshot { try $0.openSessions(of: group.classID) }
                    #expect(try await changes.sessions.open(in: [group.classID]) == stored)
                }
            }
            readers.cancel()
            _ = await readers.result
        }
    }

    @Test("A session that is over does not count, whatever is in memory")
    func over() async throws {
        try await TwoInstances.with(.sqlite) { pair in
            let group = try await pair.group(named: "over")
            let changes = pair.instances[0]
            #expect(try await changes.sessions.count(of: group.classID) == 3)
            pair.clock.pass(.seconds(3_600))
            #expect(try await changes.sessions.count(of: group.classID) == 0)
            #expect(try await changes.sessions.count(of: ObjectID()) == 0)
        }
    }
}
