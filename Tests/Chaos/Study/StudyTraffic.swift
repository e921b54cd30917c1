import Base
import NIOHTTP1
import Schemas
import TestSupport

/// People of two classes who study together while the hub fails: students, two teaching assistants and the professor. They start, join,
/// leave, hand over and end sessions, post, remove posts, and invite their friends. Each has a phone of FCM, which the pushes are for.
struct StudyTraffic: Sendable {
    static let studentPrefix = "study-"
    private static let assistants = 2
    private static let professor = "study.professor"
    /// How long it may take until the history has a session that has ended by itself.
    private static let writingTimeout = Duration.seconds(60)

    private let requests: StudentRequests
    private let people: [StudyPerson]
    private let classes: [TestClass]
    private let ledger: StudyLedger
    private let seed: UInt64
    /// By the registration tokens of their phones.
    private let phones: [String: String]
    /// Who gets pushes about new sessions: the staff.
    private let announced: Set<String>

    /// Makes the classes, with everybody in them. Everything has to work.
    ///
    /// - Parameters:
    ///   - count: The number of students; with none, nobody studies.
    ///   - phones: Registration tokens, one for each person: see ``people(_:)``.
    ///   - portal: The operator's.
    init(count: Int, _ requests: StudentRequests, phones tokens: [String], portal: Portal, seed: UInt64) async throws {
        let ledger = StudyLedger()
        self.requests = requests
        self.seed = seed
        self.ledger = ledger
        guard count > 0 else {
            self.people = []
            self.classes = []
            self.phones = [:]
            self.announced = []
            return
        }
        let names = Self.names(count)
        var persons: [RunStudent] = []
        var owners: [String: String] = [:]
        for (name, token) in zip(names, tokens) {
            guard let person = try await requests.register(name, on: TestDevice(.android)) else { throw CancellationError() }
            try await requests.made { try await person.student.register(phone: token) }
            owners[token] = name
            persons.append(person)
        }
        let (professor, assistants, students) = (persons[0], persons[1...Self.assistants], persons[(1 + Self.assistants)...])
        try await professor.become(professor.student.marked(by: portal))
        var groups: [TestClass] = []
        for name in ["Algorithms", "Compilers"] {
            let made = try await TestClass.make(name, by: professor.student)
            try await made.add(assistants.map(\.student), as: .assistant)
            try await made.add(students.map(\.student))
            groups.append(made)
        }
        for (one, other) in zip(students, students.dropFirst()) { try await one.student.befriend(other.student) }
        let memberships = groups.map { StudyPerson.Membership(path: $0.path, id: $0.id, key: $0.studentKey) }
        var people: [StudyPerson] = []
        for (number, person) in persons.enumerated() {
            let isStudent = number > Self.assistants
            let next = isStudent && number + 1 < persons.count ? persons[number + 1].account : nil
            people.append(
                StudyPerson(
                    person: person, role: number == 0 ? .professor : isStudent ? .student : .assistant, classes: memberships,
                    friend: next, ledger: ledger))
        }
        self.people = people
        self.classes = groups
        self.phones = owners
        self.announced = Set(names.prefix(1 + Self.assistants))
    }

    /// How many people study if there are so many students.
    static func people(_ students: Int) -> Int { students > 0 ? names(students).count : 0 }

    /// The professor, the teaching assistants, and the students.
    private static func names(_ students: Int) -> [String] {
        [professor] + (0..<assistants).map { "study.assistant-\($0)" } + (0..<students).map { "\(studentPrefix)\($0)" }
    }

    /// Unexpected answers.
    var surprises: [String] { requests.surprises }
    /// How many requests were answered.
    var answers: Int { requests.answers }

    /// Ends the requests once those that are on their way are answered.
    func stop() { requests.stop() }

    /// Lets everybody do one thing after another.
    func run(every period: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, person) in people.enumerated() {
                group.addTask { try await self.run(number, person, every: period) }
            }
            for try await _ in group {}
        }
    }

    private func run(_ number: Int, _ person: StudyPerson, every period: Duration) async throws {
        var random = SeededGenerator(seed: seed &+ 1_000 &+ UInt64(number))
        var turn = 0
        while !requests.isOver {
            do {
                try await person.act(turn, &random)
            } catch is StudentRequests.Unanswered {
                requests.surprised("\(person.account) got no answer within \(requests.retryTimeout)")
            }
            turn += 1
            try await sleep(until: .now + period, unless: { requests.isOver })
        }
    }

    // MARK: The end

    /// What holds at the end, when all services can do their work: ends what is still open, and reads everything.
    ///
    /// - Parameter steps: When the machine's clock was set, in Unix milliseconds.
    /// - Returns: `nil` if nobody studied.
    func evidence(steps: [ClosedRange<Int64>]) async throws -> StudyEvidence? {
        guard let professor = people.first else { return nil }
        var evidence = StudyEvidence(steps: steps)
        for person in people { try await person.person.renew() }
        try await evidence.readOpen(of: classes, by: people)
        for session in evidence.open {
            // Its host is somebody else, or the professor.
            let isOwn = session.host?.description == professor.account
            ledger.leaves(professor.account, sessions: [session.id])
            try await professor.person.expect([204, 404], isOwn ? .DELETE : .POST, session.path + (isOwn ? "" : "/end"))
        }
        evidence.records = ledger.records
        let started = Set(evidence.records.sessions.filter { $0.value.starter != nil }.keys)
        let deadline = ContinuousClock.now + Self.writingTimeout
        while true {
            for group in classes { try await evidence.readPast(of: group, by: professor.person, and: people) }
            // What has ended by itself is written down a moment later.
            if started.isSubset(of: evidence.past.keys) || ContinuousClock.now >= deadline { break }
            try await Task.sleep(for: .seconds(1))
        }
        evidence.announced = announced
        evidence.phones = phones
        evidence.devices = Dictionary(uniqueKeysWithValues: people.map { ("\($0.person.device)", $0.account) })
        return evidence
    }
}
