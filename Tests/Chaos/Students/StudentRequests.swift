import Base
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport

/// The requests of students while the hub fails. Each is repeated until it is answered.
final class StudentRequests: Sendable {
    private struct State {
        var surprises: [String] = []
        var answers = 0
        var isOver = false
    }

    /// No definite answer came in time.
    struct Unanswered: Error {}

    /// How long a student waits for an answer that may never come, such as from another version.
    private static let pause = Duration.milliseconds(500)

    let retryTimeout: Duration
    /// Whether the gateway or the people service may be of another version, which knows no students.
    let isMixed: Bool
    private let portal: Portal
    private let state = Mutex(State())

    /// - Parameters:
    ///   - portal: Anyone's: its token is not used.
    ///   - retryTimeout: How long a request without an answer is repeated.
    init(portal: Portal, retryTimeout: Duration, isMixed: Bool) {
        self.portal = portal
        self.retryTimeout = retryTimeout
        self.isMixed = isMixed
    }

    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }
    /// How many requests were answered.
    var answers: Int { state.withLock(\.answers) }
    var isOver: Bool { state.withLock(\.isOver) }

    /// Ends the requests once those that are on their way are answered.
    func stop() { state.withLock { $0.isOver = true } }

    func surprised(_ text: String) { state.withLock { $0.surprises.append(text) } }

    func count() { state.withLock { $0.answers += 1 } }

    /// Registers a student, who then signs in.
    ///
    /// - Returns: `nil` if it has not succeeded when the run is over, and the time for an answer has passed.
    func register(_ name: String, on device: TestDevice = TestDevice()) async throws -> RunStudent? {
        var isKnown = false
        // On a slow machine the faults may leave no time for it. They end with the run.
        var deadline: ContinuousClock.Instant?
        while deadline.map({ .now < $0 }) ?? true {
            if isOver, deadline == nil { deadline = isMixed ? .now : .now + retryTimeout }
            do {
                let student =
                    try await isKnown
                    ? TestStudent.signIn(name, at: portal, on: device)
                    : TestStudent.register(name, at: portal, on: device)
                return RunStudent(student, self)
            } catch let unexpected as UnexpectedAnswer where unexpected.answer.status == 409 {
                // An attempt without an answer has registered.
                isKnown = true
            } catch {
                note(error)
            }
            try await Task.sleep(for: Self.pause)
        }
        return nil
    }

    /// Signs a student in on a further device.
    func signIn(_ name: String, on device: TestDevice) async throws -> TestStudent {
        try await made { try await TestStudent.signIn(name, at: self.portal, on: device) }
    }

    /// Repeats something until it succeeds.
    ///
    /// - Parameter isEnd: Whether it is after the run, when every service is of this version.
    /// - Throws: ``Unanswered``.
    func made<Value>(isEnd: Bool = false, _ body: () async throws -> Value) async throws -> Value {
        var backoff = Backoff.ofCallers(for: retryTimeout)
        while true {
            do {
                return try await body()
            } catch {
                note(error)
            }
            let isOver = !isEnd && isMixed && isOver
            guard let pause = backoff.nextPause(), !isOver else { throw Unanswered() }
            try await Task.sleep(for: pause)
        }
    }

    /// Whether an answer says to try again.
    func isTemporary(_ answer: HTTPAnswer) -> Bool {
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
}

/// A student of a run, who is signed in. A token that counts no more is replaced.
final class RunStudent: Sendable {
    private let requests: StudentRequests
    private let current: Mutex<TestStudent>

    init(_ student: TestStudent, _ requests: StudentRequests) {
        self.requests = requests
        current = Mutex(student)
    }

    var account: String { current.withLock(\.account) }
    /// The id of the student's device.
    var device: ObjectID { current.withLock(\.id) }
    /// Whether the run is over.
    var isOver: Bool { requests.isOver }
    /// The student with the present token.
    var student: TestStudent { current.withLock(\.self) }

    /// Uses another token of the student.
    func become(_ student: TestStudent) { current.withLock { $0 = student } }

    /// Gets another token, as the end of a run needs it.
    func renew() async throws {
        let student = student
        let renewed = try await requests.made(isEnd: true) { try await student.renewed() }
        current.withLock { $0 = renewed }
    }

    /// Makes a request until there is a definite answer. One whose status is not expected is a surprise.
    ///
    /// - Parameter key: Of the request and its repetitions.
    @discardableResult
    func expect(
        _ statuses: Set<Int>, _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, key: String? = nil
    ) async throws -> DefiniteAnswer {
        let definite = try await definiteAnswer(statuses, method, path, body, key)
        let answer = definite.answer
        if !statuses.contains(answer.status) { requests.surprised("\(method) \(path) of \(account): \(answer)") }
        requests.count()
        return definite
    }

    private func definiteAnswer(
        _ statuses: Set<Int>, _ method: HTTPMethod, _ path: String, _ body: JSONValue?, _ key: String?
    ) async throws -> DefiniteAnswer {
        var attempts = 0
        let answer = try await requests.made {
            attempts += 1
            let student = self.student
            let answer =
                if let key {
                    try await student.call(method, path, key: key, body)
                } else {
                    try await student.call(method, path, body)
                }
            // Its time is over, or the machine's clock was set.
            if answer.status == 401, (try? answer.json["field"]?.string) == "Authorization" {
                let renewed = try await student.renewed()
                self.current.withLock { $0 = renewed }
                throw UnexpectedAnswer(answer)
            }
            // A path that another version does not know is not what the student has asked about.
            if self.requests.isTemporary(answer), answer.status == 404 || !statuses.contains(answer.status) {
                throw UnexpectedAnswer(answer)
            }
            return answer
        }
        return DefiniteAnswer(answer: answer, isRepeated: attempts > 1)
    }

    /// What a student reads at the end of a run. A gateway that has just started may have to wait for what it needs to check a token.
    ///
    /// - Returns: `nil` without an answer.
    func read(_ path: String) async -> HTTPAnswer? {
        let student = student
        return try? await requests.made(isEnd: true) {
            let answer = try await student.call(.GET, path)
            if self.requests.isTemporary(answer) { throw UnexpectedAnswer(answer) }
            return answer
        }
    }

    /// All documents of a list, at the end of a run.
    ///
    /// - Parameter member: The name of a page's list.
    func all<Value: Decodable>(_ member: String, at path: String, as type: Value.Type) async throws -> [Value] {
        var values: [Value] = []
        var next: String? = path
        while let page = next {
            guard let answer = await read(page) else { throw TooLate("\(page) was not answered to \(account)") }
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            let document = try answer.json
            values += try (document[member]?.elements ?? []).map { try JSONCoder.decode(type, from: $0.data) }
            next = answer["Link"]?.firstMatch(of: /<([^>]+)>; rel="next"/).map { String($0.1) }
        }
        return values
    }
}

/// The last answer to a request.
struct DefiniteAnswer: Sendable {
    let answer: HTTPAnswer
    /// Whether there were earlier attempts, each of which may have been carried out.
    let isRepeated: Bool

    var status: Int { answer.status }
}
