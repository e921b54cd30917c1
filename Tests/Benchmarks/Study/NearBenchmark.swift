import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport

/// The search for near sessions in all classes of a person, over the bus: at a constant rate, with the service's memory of open
/// sessions; and after a change in each of the classes, when the service reads the database.
struct NearBenchmark {
    let scale: Scale
    /// The state directory, which does not exist yet.
    let folder: String
    /// For the figures.
    let database: String
    /// The connection string; `nil` for SQLite.
    let url: String?
    private var classes: Int { scale.pick(200, smoke: 4) }
    private var classesPerPerson: Int { scale.pick(10, smoke: 2) }
    /// The open sessions of each class, in turn.
    private var sessionsPerClass: [Int] { scale.pick([5, 50], smoke: [1, 2]) }
    /// Searches a second, and for how many seconds.
    private var rate: Double { scale.pick(50, smoke: 20) }
    private var seconds: Double { scale.pick(20, smoke: 0.2) }
    /// Each person searches once in each. The tests' MongoDB server reads a whole collection for each change before them.
    private var coldRounds: Int { url == nil ? scale.pick(10, smoke: 1) : 1 }
    /// Who starts the sessions of a class: its professor, and teaching assistants. Each may start only so many in a minute.
    private static let hosts = 4
    private static let clients = 16
    private static let timeout = Duration.seconds(60)
    private static let address = "192.0.2.1"

    private struct Figures: Encodable {
        struct Size: Encodable {
            /// The number of open sessions.
            let name: String
            /// Milliseconds, at a constant rate.
            let warm: Latency
            /// Of a search in classes in each of which a session has just changed.
            let cold: Latency
            /// How many sessions an answer has.
            let found: Int
        }

        let benchmark = "near"
        let database: String
        let sizes: [Size]
    }

    /// A class with its staff, a session of its professor, and a key for students.
    private struct Group: Sendable {
        let id: ObjectID
        let hosts: [CallerContext]
        let session: ObjectID
        let key: Secret
    }

    func run() async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let settings = ["MSI_STUDY_SPONSORED": "50"].merging(url.map { ["MSI_DATABASE_URL": $0] } ?? [:]) { $1 }
        let executable = ServiceEntry.study.executable
        let sizes = try await withServices([executable], in: folder) { _, _ in
            settings
        } _: { _ in
            try await withBus { bus in
                let endpoint = "ipc://\(folder)/run/\(ServiceEntry.study.socketFile(.commands))"
                return try await measure(try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger))
            }
        }
        say(String(decoding: try JSONCoder.encode(Figures(database: database, sizes: sizes)), as: UTF8.self))
    }

    private func measure(_ study: CommandClient) async throws -> [Figures.Size] {
        say("searches for near sessions on \(database): \(classes) classes, \(classesPerPerson) of each person")
        let groups = try await makeClasses(study)
        let persons = try await makePersons(groups, study)
        say(Table.row("sessions", ["warm p50 ms", "p99", "cold p50", "p99", "found"], first: 14))
        var sizes: [Figures.Size] = []
        // One is there already.
        var filled = 1
        for count in sessionsPerClass {
            try await fill(groups, filled..<count, study)
            filled = count
            let cold = try await searchCold(persons, study)
            let warm = try await searchWarm(persons.map(\.context), study)
            let size = Figures.Size(
                name: "\(count * groups.count)", warm: Latency(warm.times), cold: Latency(cold), found: warm.found)
            say(
                Table.row(
                    size.name, ["\(size.warm.p50)", "\(size.warm.p99)", "\(size.cold.p50)", "\(size.cold.p99)", "\(size.found)"],
                    first: 14))
            sizes.append(size)
        }
        return sizes
    }

    // MARK: The preparation

    private func makeClasses(_ study: CommandClient) async throws -> [Group] {
        let clients = min(Self.clients, classes)
        return try await concurrently(clients) { [classes] client in
            var groups: [Group] = []
            for number in stride(from: client, to: classes, by: clients) {
                groups.append(try await Self.makeClass(number, study))
            }
            return groups
        }.flatMap { $0 }
    }

    private static func makeClass(_ number: Int, _ study: CommandClient) async throws -> Group {
        let professor = CallerContext(actor: "professor-\(number)", address: address)
        let draft = ClassDraft(name: "Class \(number)", identificationKey: "CLASS-\(number)")
        let id = try await study.request(AddClass(draft), timeout: timeout, context: professor).id
        var keys: [ClassRole: Secret] = [:]
        for role in [ClassRole.student, .assistant] {
            let command = AddClassKey(to: id, ClassKeyDraft(role: role))
            keys[role] = try await study.request(command, timeout: timeout, context: professor).code
        }
        var hosts = [professor]
        guard let key = keys[.student], let staffKey = keys[.assistant] else { throw PeerFailure(description: "no key") }
        for assistant in 1..<Self.hosts {
            let context = CallerContext(actor: "assistant-\(number)-\(assistant)", address: address)
            _ = try await study.request(JoinClass(key: staffKey, address: address), timeout: timeout, context: context)
            hosts.append(context)
        }
        var random = SeededGenerator(seed: UInt64(number))
        let first = AddSession(to: id, sessionDraft(0, &random))
        let session = try await study.request(first, timeout: timeout, context: professor).session.id
        return Group(id: id, hosts: hosts, session: session, key: key)
    }

    /// A sponsored session on a campus of 2 km.
    private static func sessionDraft(_ number: Int, _ random: inout SeededGenerator) -> SessionDraft {
        SessionDraft(
            topics: ["Chapter \(number)"], description: "The exercises of this week",
            place: Place(
                latitude: 51.5 + Double.random(in: -0.009...0.009, using: &random),
                longitude: Double.random(in: -0.014...0.014, using: &random), name: "Room \(number)"),
            minutes: 720, sponsored: true, attends: false)
    }

    /// Persons in some classes each, no two of them in the same.
    private func makePersons(
        _ groups: [Group], _ study: CommandClient
    ) async throws -> [(context: CallerContext, groups: [Group])] {
        var persons: [(context: CallerContext, groups: [Group])] = []
        for start in stride(from: 0, to: groups.count, by: classesPerPerson) {
            let person = CallerContext(actor: "person-\(start)", address: Self.address)
            let own = Array(groups[start...].prefix(classesPerPerson))
            for group in own {
                _ = try await study.request(
                    JoinClass(key: group.key, address: Self.address), timeout: Self.timeout, context: person)
            }
            persons.append((person, own))
        }
        return persons
    }

    /// Starts sessions in each class, with a student each. The tests' MongoDB server would need an hour for that: there the
    /// database gets copies of the first session, which the service reads with the next change of the class.
    private func fill(_ groups: [Group], _ numbers: Range<Int>, _ study: CommandClient) async throws {
        if let url {
            _ = try await PythonScript.run("copy_sessions.py", [url, "\(numbers.count)"])
            return
        }
        let clients = min(Self.clients, groups.count)
        try await concurrently(clients) { client in
            var random = SeededGenerator(seed: UInt64(client + numbers.lowerBound))
            for place in stride(from: client, to: groups.count, by: clients) {
                let group = groups[place]
                for number in numbers {
                    let added = try await study.request(
                        AddSession(to: group.id, Self.sessionDraft(number, &random)), timeout: Self.timeout,
                        context: group.hosts[number % group.hosts.count])
                    let student = CallerContext(actor: "student-\(place)-\(number)", address: Self.address)
                    _ = try await study.request(
                        JoinClass(key: group.key, address: Self.address), timeout: Self.timeout, context: student)
                    _ = try await study.request(
                        JoinSession(added.session.id, of: group.id), timeout: Self.timeout, context: student)
                }
            }
        }
    }

    // MARK: Searches

    /// - Returns: The number of sessions in the answer.
    private static func search(_ person: CallerContext, _ study: CommandClient) async throws -> Int {
        let centre = Position(latitude: 51.5, longitude: 0, accuracy: 20)
        let reply = try await study.request(FindNearSessions(around: centre, radius: 3_000), timeout: timeout, context: person)
        guard !reply.sessions.isEmpty else { throw PeerFailure(description: "no session is near") }
        return reply.sessions.count
    }

    /// One search after the other, each after a change in all of the person's classes, which the service forgets then.
    private func searchCold(
        _ persons: [(context: CallerContext, groups: [Group])], _ study: CommandClient
    ) async throws -> [Double] {
        var times: [Double] = []
        for round in 0..<coldRounds {
            for (person, groups) in persons {
                for group in groups {
                    let edit = SessionEdit(topics: ["Round \(round)"], description: "\(ObjectID())")
                    _ = try await study.request(
                        UpdateSession(group.session, of: group.id, edit), timeout: Self.timeout, context: group.hosts[0])
                }
                let begin = ContinuousClock.now
                _ = try await Self.search(person, study)
                times.append((ContinuousClock.now - begin) / .milliseconds(1))
            }
        }
        return times
    }

    /// Searches at a constant rate, of all persons in turn.
    private func searchWarm(
        _ persons: [CallerContext], _ study: CommandClient
    ) async throws -> (times: [Double], found: Int) {
        let count = max(1, Int(rate * seconds))
        let answers = try await ConstantRate(count: count, period: .seconds(seconds)).run { number in
            try await Self.search(persons[number % persons.count], study)
        }
        return (answers.map(\.time), answers.map(\.value).max() ?? 0)
    }
}
