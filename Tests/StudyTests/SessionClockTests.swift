import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// What happens by itself.
@Suite("The clock of study sessions", .timeLimit(.minutes(10)))
struct SessionClockTests {
    @Test(
        "A session whose time is over is written down with its exact end, and its names are kept as long as the class says",
        arguments: StoreKind.allCases)
    func time(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            let changes = pair.instances[0]
            let group = try await pair.group(named: "time")
            let clock = SessionClock(changes: changes, logger: quietLogger)
            let began = pair.clock.now
            for (passed, warned) in [(0, nil), (2_999_999, nil), (1, true)] as [(Milliseconds, Bool?)] {
                pair.clock.pass(passed)
                try await whenAvailable { try await clock.look() }
                let sessions = try await Self.sessions(changes, group)
                #expect(sessions.allSatisfy { $0.warned == warned && $0.open == true })
            }
            pair.clock.pass(.seconds(6_000))
            try await whenAvailable { try await clock.look() }
            let (end, forgotten) = (began + .seconds(3_600), began + .seconds(3_600 + 365 * 86_400))
            for session in try await Self.sessions(changes, group) {
                #expect(session.ended == end && session.reason == .time && session.due == nil)
                #expect(session.namesUntil == forgotten)
            }
            #expect(try await pair.problems(in: group.classID) == [])
        }
    }

    @Test("Two clocks at work in the same moment do each thing once", arguments: StoreKind.allCases)
    func twoClocks(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            let group = try await pair.group(named: "clocks")
            pair.clock.pass(.seconds(7_200))
            try await concurrently(2) { number in
                let clock = SessionClock(changes: pair.instances[number], logger: quietLogger)
                try await whenAvailable { try await clock.look() }
            }
            let ends = try await Self.sessions(pair.instances[0], group).map(\.ended)
            #expect(ends.count == 3 && !ends.contains(nil))
            #expect(try await pair.problems(in: group.classID) == [])
        }
    }

    @Test("A session of a backup ends at the restore, and no earlier one is left open", arguments: StoreKind.allCases)
    func restored(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            let changes = pair.instances[0]
            let group = try await pair.group(named: "restored")
            let restored = pair.clock.now + .seconds(600)
            for id in group.sessions {
                try await changes.store.update(id, in: StudyStore.sessions) { session in
                    session.restored = restored
                    session.due = 0
                }
            }
            pair.clock.pass(.seconds(700))
            let clock = SessionClock(changes: changes, logger: quietLogger)
            try await whenAvailable { try await clock.look() }
            for session in try await Self.sessions(changes, group) {
                #expect(session.ended == restored && session.reason == .restored && session.open == nil)
            }
            #expect(try await pair.problems(in: group.classID) == [])
        }
    }

    @Test("The running service ends a session, and tells those who were there", arguments: StoreKind.allCases)
    func running(kind: StoreKind) async throws {
        let clock = TestClock()
        // The grace is longer than the session: the host is outside now and then.
        try await RunningStudy.with(kind, settings: ["MSI_STUDY_GRACE": "7200"], clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob"])
            let (ann, bob) = (study.person("ann"), study.person("bob"))
            let session = try await ann.start(in: id)
            try await bob.join(session)
            let events = try EventSubscriber(
                bus: study.bus, endpoints: ["ipc://\(study.folder)/run/study-events.sock"],
                names: [PersonChanged.name, ClassChanged.name], logger: quietLogger)
            var told: Set<String> = []
            var isSubscribed = false
            // The subscription works once an event comes: the host goes out of the area and back until then.
            let repeats = Task {
                while !Task.isCancelled {
                    for metres in [900.0, 0.0] { try await ann.report(metres, to: session) }
                }
            }
            for await event in events.events {
                guard case .event(let name, let payload, _) = event else { continue }
                if !isSubscribed {
                    isSubscribed = true
                    repeats.cancel()
                    _ = await repeats.result
                    clock.pass(.seconds(3_600))
                }
                if name == PersonChanged.name {
                    let changed: PersonChanged = try JSONCoder.decode(from: payload)
                    if changed.kind == "session", changed.id == "\(session.id)" { told.insert(changed.account.key) }
                } else {
                    let changed: ClassChanged = try JSONCoder.decode(from: payload)
                    if changed.classID == id, changed.kind == .sessions { told.insert("class") }
                }
                if told == ["ann", "bob", "class"] { break }
            }
            await events.close()
            #expect(try await bob.read(session).ended == .time)
        }
    }

    private static func sessions(
        _ changes: StudyChanges, _ group: TwoInstances.Group
    ) async throws -> [SessionDocument] {
        try await whenAvailable { try await changes.store.get(all: group.sessions, from: StudyStore.sessions).map(\.document) }
    }
}
