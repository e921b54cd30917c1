import Base
import Schemas
import TestSupport

/// People who write to each other while the hub fails. They sit in a ring: each has two friends, and one to three devices.
struct MessagingTraffic: Sendable {
    /// How long the hub may take to remove what everybody has and has read.
    private static let removalTimeout = Duration.seconds(120)
    /// How many persons are made, or read at the end, at once.
    private static let atOnce = 8
    private static let maxDevices = 3

    private let requests: StudentRequests
    private let people: [MessagingPerson]
    private let ledger: MessagingLedger
    private let seed: UInt64

    /// Makes the people, who become friends. Everything has to work.
    ///
    /// - Parameters:
    ///   - count: None, or at least two.
    ///   - phones: Registration tokens, one for each person.
    ///   - identity: Signs them in: the hub limits how many register with a password.
    init(
        count: Int, _ requests: StudentRequests, phones: [String], identity: IdentityServer, seed: UInt64
    ) async throws {
        let ledger = MessagingLedger()
        self.requests = requests
        self.ledger = ledger
        self.seed = seed
        let clients = min(Self.atOnce, count)
        let made = try await concurrently(clients) { client in
            var own: [(number: Int, person: MessagingPerson)] = []
            for number in stride(from: client, to: count, by: clients) {
                let person = try await Self.person(number, of: count, phones[number], requests, identity, ledger)
                own.append((number, person))
            }
            return own
        }
        let people = made.flatMap { $0 }.sorted { $0.number < $1.number }.map(\.person)
        self.people = people
        for (number, person) in people.enumerated() where count > 2 || number == 0 {
            let next = people[(number + 1) % count].devices[0]
            try await requests.made { try await person.devices[0].student.befriend(next.student) }
        }
        // A device takes part from its first fetch on.
        for person in people {
            for device in person.devices { try await person.fetch(on: device) }
        }
    }

    private static func name(_ number: Int) -> String { "letters-\(number)" }

    /// Registers a person on the first device, and signs in on the others.
    private static func person(
        _ number: Int, of count: Int, _ phone: String, _ requests: StudentRequests, _ identity: IdentityServer,
        _ ledger: MessagingLedger
    ) async throws -> MessagingPerson {
        let account = name(number)
        func credential() async throws -> PersonCredential {
            PersonCredential(provider: .firebase, idToken: try await identity.token(.firebase, of: account))
        }
        guard let first = try await requests.register(account, on: TestDevice(.android), with: credential()) else {
            throw CancellationError()
        }
        try await requests.made { try await first.student.register(phone: phone) }
        var devices = [first]
        while devices.count < 1 + number % maxDevices {
            let further = try await requests.signIn(account, on: TestDevice(), with: credential())
            devices.append(RunStudent(further, requests))
        }
        for device in devices { ledger.add(device.device, of: account) }
        ledger.note { $0.phones[phone] = account }
        let neighbours = Set([number + 1, number + count - 1].map { name($0 % count) })
        return MessagingPerson(account: account, devices: devices, friends: neighbours.sorted(), ledger: ledger)
    }

    /// Unexpected answers.
    var surprises: [String] { requests.surprises }
    /// How many requests were answered.
    var answers: Int { requests.answers }
    /// The accounts by the ids of their devices.
    var accounts: [String: String] {
        Dictionary(uniqueKeysWithValues: ledger.evidence.devices.map { ("\($0.key)", $0.value.account) })
    }

    /// Ends the requests once those that are on their way are answered.
    func stop() { requests.stop() }

    /// Lets everybody do one thing after another.
    func run(every period: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, person) in people.enumerated() {
                let own = seed &+ 2_000 &+ UInt64(number)
                group.addTask {
                    // Not all at once.
                    try await requests.rest(for: period * (Double(number) / Double(people.count)))
                    try await requests.act(as: person.account, every: period, seed: own) { turn, random in
                        try await person.act(turn, &random)
                    }
                }
            }
            for try await _ in group {}
        }
    }

    // MARK: The end

    /// What holds at the end, when all services can do their work: each person writes once more, each device gets everything, each
    /// person reads it, and the hub removes it.
    ///
    /// - Returns: `nil` if nobody took part.
    func evidence() async throws -> MessagingEvidence? {
        guard !people.isEmpty else { return nil }
        try await each { try await $0.writeLast() }
        try await each { try await $0.finish() }
        try await each { try await $0.readAll() }
        var sides: [MessagingEvidence.Side] = []
        let deadline = ContinuousClock.now + Self.removalTimeout
        repeat {
            if !sides.isEmpty { try await Task.sleep(for: .seconds(1)) }
            sides = try await each { try await $0.sides() }.flatMap { $0 }
        } while sides.contains(where: { $0.left > 0 }) && ContinuousClock.now < deadline
        ledger.note { [sides] in $0.sides = sides }
        return ledger.evidence
    }

    @discardableResult
    private func each<Value: Sendable>(
        _ body: @escaping @Sendable (MessagingPerson) async throws -> Value
    ) async throws -> [Value] {
        let clients = min(Self.atOnce, people.count)
        return try await concurrently(clients) { client in
            var values: [Value] = []
            for number in stride(from: client, to: people.count, by: clients) { values.append(try await body(people[number])) }
            return values
        }.flatMap { $0 }
    }
}
