import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// Students who use the hub while it fails: they read and change their profiles, become friends and part again, and sign in and out on
/// further devices. Each request is repeated until it is answered.
final class StudentTraffic: Sendable {
    private struct State {
        var students: [Int: TestStudent] = [:]
        var evidence: [StudentEvidence] = []
        /// The devices whose sign-out was answered, by their student.
        var signedOut: [Int: [TestStudent]] = [:]
        var surprises: [String] = []
        var requests = 0
        var isOver = false
    }

    private enum Kind: CaseIterable {
        case read, profile, ask, remove, device
    }

    /// No definite answer came in time.
    private struct Unanswered: Error {}

    private let portal: Portal
    private let seed: UInt64
    private let retryTimeout: Duration
    /// Whether the gateway or the people service may be of another version, which knows no students.
    private let isMixed: Bool
    private let state: Mutex<State>

    /// How long a student waits for an answer that may never come, such as from another version.
    private static let pause = Duration.milliseconds(500)
    private static let turnsPerDevice = 4

    /// - Parameters:
    ///   - portal: Anyone's: its token is not used.
    ///   - retryTimeout: How long a request without an answer is repeated.
    init(count: Int, portal: Portal, seed: UInt64, retryTimeout: Duration, isMixed: Bool) {
        self.portal = portal
        self.seed = seed
        self.retryTimeout = retryTimeout
        self.isMixed = isMixed
        let names = (0..<count).map { "student-\($0)" }
        state = Mutex(State(evidence: names.map { StudentEvidence(account: $0) }))
    }

    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }
    /// How many requests were answered.
    var requests: Int { state.withLock(\.requests) }

    /// Ends the requests once those that are on their way are answered.
    func stop() { state.withLock { $0.isOver = true } }

    /// Lets every student make one request after another.
    func run(every period: Duration) async throws {
        let count = state.withLock(\.evidence.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for student in 0..<count { group.addTask { try await self.run(student, every: period) } }
            try await group.waitForAll()
        }
    }

    private func run(_ number: Int, every period: Duration) async throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        var turn = 0
        guard try await register(number) else {
            if !isMixed { surprised("student-\(number) could not register") }
            return
        }
        while !state.withLock(\.isOver) {
            do {
                try await act(number, turn, &random)
            } catch is Unanswered {
                // Whether it was done is unknown. In a mixed run the service may not know students for a while.
                if !isMixed { surprised("student-\(number) got no answer within \(retryTimeout)") }
            }
            turn += 1
            try await Task.sleep(for: period)
        }
    }

    // MARK: Requests

    private func act(_ number: Int, _ turn: Int, _ random: inout SeededGenerator) async throws {
        let other = "student-\(number ^ 1)"
        switch Kind.allCases.randomElement(using: &random) ?? .read {
        case .read: try await expect([200], number, .GET, "/user")
        case .profile:
            let bio = "\(turn) of student \(number)"
            state.withLock { _ = $0.evidence[number].bios.insert(bio) }
            try await expect([200], number, .PUT, "/user/profile", ["bio": .string(bio), "visibility": [:]])
            state.withLock { $0.evidence[number].bios = [bio] }
        case .ask:
            // The last one of an odd number of students has nobody to ask.
            guard (number ^ 1) < state.withLock(\.evidence.count) else { return }
            // 404: the other one has not registered yet. 429: these requests are limited.
            try await expect([200, 404, 429], number, .POST, "/user/friends", ["account": .string(other)])
        case .remove: try await expect([204, 404], number, .DELETE, "/user/friends/\(other)")
        case .device:
            // Twice a minute at most, on the average: sign-ins are limited.
            if turn.isMultiple(of: Self.turnsPerDevice) { try await useDevice(number) }
        }
    }

    /// Signs in on a further device, and out again.
    private func useDevice(_ number: Int) async throws {
        let device = TestDevice()
        let second = try await made { try await TestStudent.signIn("student-\(number)", at: self.portal, on: device) }
        try await expect([204, 404], number, .DELETE, "/user/devices/\(second.id)")
        state.withLock { $0.signedOut[number, default: []].append(second) }
    }

    /// - Returns: Whether there is an account: `false` if the run is over before.
    private func register(_ number: Int) async throws -> Bool {
        let device = TestDevice()
        let name = "student-\(number)"
        var isKnown = false
        while !state.withLock(\.isOver) {
            do {
                let student =
                    try await isKnown
                    ? TestStudent.signIn(name, at: portal, on: device)
                    : TestStudent.register(name, at: portal, on: device)
                state.withLock { $0.students[number] = student }
                return true
            } catch let unexpected as UnexpectedAnswer where unexpected.answer.status == 409 {
                // An attempt without an answer has registered.
                isKnown = true
            } catch {
                note(error)
            }
            try await Task.sleep(for: Self.pause)
        }
        return false
    }

    /// A request of a student, until there is a definite answer.
    private func expect(
        _ statuses: Set<Int>, _ number: Int, _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil
    ) async throws {
        let answer = try await answer(number, statuses, method, path, body)
        if !statuses.contains(Int(answer.status)) { surprised("\(method) \(path) of student-\(number): \(answer)") }
        state.withLock { $0.requests += 1 }
    }

    private func answer(
        _ number: Int, _ statuses: Set<Int>, _ method: HTTPMethod, _ path: String, _ body: JSONValue?
    ) async throws -> HTTPAnswer {
        guard let student = state.withLock({ $0.students[number] }) else { throw Unanswered() }
        var current = student
        return try await made {
            let answer = try await current.call(method, path, body)
            // Its time is over, or the machine's clock was set.
            if answer.status == 401, (try? answer.json["field"]?.string) == "Authorization" {
                current = try await current.renewed()
                self.state.withLock { [current] in $0.students[number] = current }
                throw UnexpectedAnswer(answer)
            }
            // A path that another version does not know is not what the student has asked about.
            if self.isTemporary(answer), answer.status == 404 || !statuses.contains(answer.status) {
                throw UnexpectedAnswer(answer)
            }
            return answer
        }
    }

    /// Repeats something until it succeeds.
    ///
    /// - Parameter isEnd: Whether it is after the run, when every service is of this version.
    /// - Throws: ``Unanswered``.
    private func made<Value>(isEnd: Bool = false, _ body: () async throws -> Value) async throws -> Value {
        var backoff = Backoff.ofCallers(for: retryTimeout)
        while true {
            do {
                return try await body()
            } catch {
                note(error)
            }
            let isOver = !isEnd && isMixed && state.withLock(\.isOver)
            guard let pause = backoff.nextPause(), !isOver else { throw Unanswered() }
            try await Task.sleep(for: pause)
        }
    }

    /// Whether an answer says to try again.
    private func isTemporary(_ answer: HTTPAnswer) -> Bool {
        switch answer.status {
        case 429, 503, 507: true
        // Another version of the gateway knows neither these routes nor these tokens.
        case 401: isMixed && (try? answer.json["field"]) == nil
        case 404: isMixed && (try? answer.json["detail"]?.string) == "The path does not exist."
        default: false
        }
    }

    /// Keeps an answer that no student should get. That a nonce was used is one that they may, if an earlier answer was lost.
    private func note(_ error: any Error) {
        guard let answer = (error as? UnexpectedAnswer)?.answer, !isTemporary(answer) else { return }
        let field = try? answer.json["field"]?.string
        guard answer.status != 401 || field != "nonce" && field != "Authorization" else { return }
        surprised("\(answer)")
    }

    private func surprised(_ text: String) { state.withLock { $0.surprises.append(text) } }

    // MARK: The end

    /// What holds at the end, when all services are of this version and can do their work.
    func evidence() async throws -> [StudentEvidence] {
        let (students, signedOut, count) = state.withLock { ($0.students, $0.signedOut, $0.evidence.count) }
        for number in 0..<count {
            guard let student = students[number] else { continue }
            let renewed = try? await made(isEnd: true) { try await student.renewed() }
            let answer = await read("/user", by: renewed)
            var returned = 0
            for device in signedOut[number] ?? [] {
                if try await getsToken(device) { returned += 1 }
            }
            let profile = try? await read("/user/profile", by: renewed)?.json
            let friends = try? await read("/user/friends", by: renewed)?.json
            let requests = try? await read("/user/friends/requests", by: renewed)?.json
            state.withLock { [returned] state in
                state.evidence[number].status = answer.map { Int($0.status) }
                state.evidence[number].bio = profile?["bio"]?.string
                state.evidence[number].signedOut = signedOut[number]?.count ?? 0
                state.evidence[number].returned = returned
                state.evidence[number].friends = Self.names(friends?["friends"])
                state.evidence[number].asked = Self.names(requests?["asked"])
                state.evidence[number].received = Self.names(requests?["received"])
            }
        }
        return state.withLock { state in state.students.keys.sorted().map { state.evidence[$0] } }
    }

    /// What a student reads at the end. A gateway that has just started may have to wait for what it needs to check a token.
    private func read(_ path: String, by student: TestStudent?) async -> HTTPAnswer? {
        guard let student else { return nil }
        return try? await made(isEnd: true) {
            let answer = try await student.call(.GET, path)
            if self.isTemporary(answer) { throw UnexpectedAnswer(answer) }
            return answer
        }
    }

    private func getsToken(_ device: TestStudent) async throws -> Bool {
        try await made(isEnd: true) {
            let answer = try await device.exchange()
            guard answer.status == 200 || (try? answer.json["field"]?.string) == "device" else { throw UnexpectedAnswer(answer) }
            return answer.status == 200
        }
    }

    private static func names(_ list: JSONValue?) -> Set<String> {
        Set((list?.elements ?? []).compactMap { $0.string ?? $0["account"]?.string })
    }
}
