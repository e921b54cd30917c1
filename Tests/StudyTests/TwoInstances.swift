import Base
import Bus
import Schemas
import Store
import TestSupport

@testable import Study

/// The rules of two instances of the study service at one database, with the same clock, which the test moves.
struct TwoInstances: Sendable {
    let instances: [StudyChanges]
    let clock: TestClock

    static func with<Result>(
        _ kind: StoreKind, rules: StudyRules = .sample, isolation: isolated (any Actor)? = #isolation,
        _ body: (TwoInstances) async throws -> Result
    ) async throws -> Result {
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        let clock = TestClock()
        return try await withTemporaryFolder { folder in
            try await withBus { bus in
                var instances: [StudyChanges] = []
                for number in 0..<2 {
                    let store = try await Storage.open(
                        StudyStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger,
                        now: { clock.now })
                    let publisher = try EventPublisher(
                        bus: bus, endpoint: "ipc://\(folder)/events-\(number).sock", logger: quietLogger)
                    instances.append(
                        StudyChanges(
                            store: store, events: StudyEvents(publisher: publisher, logger: quietLogger),
                            sessions: ClassSessions(store: store, rules: { rules }, now: { clock.now }), rules: { rules },
                            now: { clock.now }, committed: { _ in }))
                }
                let pair = TwoInstances(instances: instances, clock: clock)
                return try await perform {
                    try await body(pair)
                } finally: {
                    for instance in pair.instances { try await instance.store.close() }
                }
            }
        }
    }

    /// A class with its persons, of whom three host a session.
    struct Group: Sendable {
        let classID: ObjectID
        /// A professor, a teaching assistant and four students.
        let persons: [AccountName]
        /// The first two are those of two students. The teaching assistant sponsors the third one from afar.
        let sessions: [ObjectID]
        /// Who hosts them at the beginning, by the places among the persons.
        let hosts: [Int]

        static let roles: [ClassRole] = [.professor, .assistant, .student, .student, .student, .student]
        static let draft = SessionDraft(
            topics: ["Waves"], place: Place(SessionDocument.library), minutes: 60,
            position: Position(latitude: 51.5007, longitude: -0.1246, accuracy: 10))
        static let sponsoredDraft = SessionDraft(
            topics: ["Exam"], place: Place(SessionDocument.library), minutes: 60, sponsored: true)
    }

    /// Makes a class.
    ///
    /// - Parameter first: The first class of its persons. `nil` for persons who are in no other one.
    func group(named name: String, beside first: Group? = nil) async throws -> Group {
        let classID = ObjectID()
        let persons =
            first?.persons ?? ["prof", "tina", "ann", "bob", "cem", "dan"].compactMap { AccountName("\($0)-\(name)") }
        // The others are in a session of the first class.
        let hosts = first == nil ? [2, 3, 1] : [4, 5, 1]
        try await whenAvailable {
            try await instances[0].store.transaction { [now = clock.now] transaction in
                try transaction.insert(
                    ClassDocument(
                        id: classID, name: "Physics", description: nil, identificationKey: name, foldedKey: name,
                        professor: persons[0].key, professorName: persons[0], created: now, closed: nil, nameDays: 365,
                        members: persons.count, lastNumber: persons.count, request: nil), into: StudyStore.classes)
                for (number, person) in persons.enumerated() {
                    if first == nil {
                        var document = StudyPersonDocument(person)
                        document.classes = 1
                        try transaction.insert(document, into: StudyStore.persons)
                    } else {
                        try transaction.update(person.key, in: StudyStore.persons) { $0.classes += 1 }
                    }
                    try transaction.insert(
                        EnrolmentDocument(
                            id: ObjectID(), classID: classID, account: person.key, name: person, role: Group.roles[number],
                            number: number + 1, joined: now, announces: nil), into: StudyStore.members)
                }
            }
        }
        let sessions = try await whenAvailable {
            try await instances[1].make(by: .program) { change in
                try zip(hosts, [Group.draft, Group.draft, Group.sponsoredDraft]).map { host, draft in
                    try change.start(draft, in: classID, by: persons[host], requestKey: nil).id
                }
            }
        }
        return Group(classID: classID, persons: persons, sessions: sessions, hosts: hosts)
    }

    /// Lets the time pass until a millisecond before sessions of a new group end: all by their time, or those of the two students
    /// because these were seen outside of the area.
    func wait(untilEndIn group: Group, byTime: Bool) async throws {
        if byTime {
            clock.pass(.seconds(Int64(Group.draft.minutes) * 60) - 1)
        } else {
            for session in 0..<2 {
                let report = RaceAct.report(group.hosts[session], session: session, near: false)
                try await report.perform(in: group, on: instances[0])
            }
            clock.pass(Milliseconds(instances[0].rules().grace) - 1)
        }
    }
}

/// Something that a person does. Persons and sessions are named by their places in the group.
enum RaceAct: Sendable {
    case join(Int, session: Int, leave: Bool)
    case leave(Int, session: Int)
    case handOver(Int, session: Int, to: Int)
    case end(Int, session: Int)
    case start(Int, leave: Bool)
    case report(Int, session: Int, near: Bool)
    case leaveClass(Int)
    case clock(session: Int)
    /// Two milliseconds pass, and of all sessions it is written down what has become due.
    case pass(TestClock)
    case close

    private static let refusals: Set<ReplyStatus> = [.conflict, .notFound, .forbidden]

    static func random(in group: TwoInstances.Group, using random: inout SeededGenerator) -> RaceAct {
        let person = Int.random(in: 0..<group.persons.count, using: &random)
        let session = Int.random(in: 0..<group.sessions.count, using: &random)
        // The first host acts as the host mostly.
        let host = group.hosts[session]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: return .join(person, session: session, leave: Bool.random(using: &random))
        case 40..<50: return .leave(person, session: session)
        case 50..<55: return .leave(host, session: session)
        case 55..<72: return .handOver(host, session: session, to: person)
        case 72..<78: return .end(Int.random(in: 0...1, using: &random), session: session)
        case 78..<85: return .start(person, leave: Bool.random(using: &random))
        case 85..<91: return .report(host, session: session, near: Bool.random(using: &random))
        case 91..<96: return .leaveClass(person)
        case 96..<99: return .clock(session: session)
        default: return .close
        }
    }

    /// Does it.
    ///
    /// - Returns: Whether it was possible.
    @discardableResult
    func perform(in group: TwoInstances.Group, on changes: StudyChanges) async throws -> Bool {
        if case .pass(let clock) = self { clock.pass(2) }
        do {
            try await whenAvailable {
                try await changes.make(by: .program) { change in try perform(in: group, &change) }
            }
            return true
        } catch let failure as CommandFailure where Self.refusals.contains(failure.status) {
            return false
        }
    }

    private func perform(in group: TwoInstances.Group, _ change: inout StudyChange) throws {
        let (id, persons, sessions) = (group.classID, group.persons, group.sessions)
        switch self {
        case .join(let person, let session, let leave):
            _ = try change.join(sessions[session], of: id, as: persons[person], leave: leave)
        case .leave(let person, let session): try change.leave(sessions[session], of: id, as: persons[person])
        case .handOver(let person, let session, let next):
            _ = try change.update(sessions[session], of: id, SessionEdit(host: persons[next]), by: persons[person])
        case .end(let person, let session): try change.end(sessions[session], of: id, by: persons[person])
        case .start(let person, let leave):
            let draft = TwoInstances.Group.draft
            _ = try change.start(
                SessionDraft(
                    topics: draft.topics, place: draft.place, minutes: draft.minutes, position: draft.position, leave: leave),
                in: id, by: persons[person], requestKey: nil)
        case .report(let person, let session, let isNear):
            let position = Position(latitude: isNear ? 51.5007 : 52, longitude: -0.1246, accuracy: 10)
            _ = try change.report(position, at: sessions[session], of: id, by: persons[person])
        case .leaveClass(let person): try change.leave(id, as: persons[person])
        case .clock(let session): try change.apply(.clock, to: sessions[session], of: id)
        case .pass: for session in sessions { try change.apply(.clock, to: session, of: id) }
        case .close: _ = try change.update(id, ClassEdit(closed: true), by: persons[0])
        }
    }
}
