import AsyncHTTPClient
import Base
import Histogram
import Schemas
import Synchronization

/// The students of a load as a target: each "message" is one call of one student's app.
struct StudyTarget: LoadTarget {
    let hub: StudyHub
    let users: [StudyUser]
    let classes: [StudyHub.MadeClass]
    let seed: UInt64
    let times = StudyTimes()

    /// How many students each class has on average, and in how many classes each student is.
    private static let studentsPerClass = 50
    private static let classesPerStudent = 5
    /// Fewer than a person may be in by default.
    private static let classesPerProfessor = 20
    /// One in so many students has a session at the beginning, and every second other one is in one.
    private static let studentsPerSession = 20
    /// How many persons the preparation is about at once.
    private static let atOnce = 32
    /// The answers that are no failures: a session may have ended, or have no room any more, since the student has seen it.
    static let refusals: Set<UInt> = [404, 409]

    // MARK: The preparation

    /// Registers the students, and makes their classes and first sessions.
    ///
    /// - Parameter tell: Called with the progress.
    static func make(_ count: Int, at hub: StudyHub, seed: UInt64, tell: (String) -> Void) async throws -> StudyTarget {
        // Names of accounts and of classes are never given again.
        let prefix = "load-" + String(UInt32.random(in: .min ... .max), radix: 36)
        let number = max(1, count * classesPerStudent / studentsPerClass)
        tell("registering \(count) students of \(number == 1 ? "1 class" : "\(number) classes")")
        var classes: [StudyHub.MadeClass] = []
        var professor = ""
        for place in 0..<number {
            if place % classesPerProfessor == 0 { professor = try await hub.signIn("\(prefix)-prof-\(place)", professor: true) }
            classes.append(try await hub.makeClass("\(prefix)-\(place)", by: professor))
        }
        let users = try await concurrently(0..<count) { [classes] index in
            try await Self.user("\(prefix)-\(index)", index, in: classes, at: hub, seed: seed)
        }
        let target = StudyTarget(hub: hub, users: users, classes: classes, seed: seed)
        tell("the first sessions")
        try await target.begin()
        return target
    }

    private static func user(
        _ account: String, _ index: Int, in classes: [StudyHub.MadeClass], at hub: StudyHub, seed: UInt64
    ) async throws -> StudyUser {
        var random = generator(seed, index, 0)
        let token = try await hub.signIn(account)
        let own = classes.shuffled(using: &random).prefix(classesPerStudent)
        for made in own { try await hub.join(made, token: token) }
        return StudyUser(account: account, token: token, classes: own.map(\.id), random: &random)
    }

    /// Some students start sessions, and others join them, so that the load begins as it continues.
    private func begin() async throws {
        let hosts = users.indices.filter { $0 % Self.studentsPerSession == 0 }
        _ = try await Self.concurrently(hosts) { index -> Void in
            var random = Self.generator(seed, index, 1)
            _ = try await call(users[index].start(random: &random), by: users[index])
        }
        let others = users.indices.filter { $0 % Self.studentsPerSession != 0 && $0 % 2 == 0 }
        _ = try await Self.concurrently(others) { index -> Void in
            var random = Self.generator(seed, index, 2)
            let user = users[index]
            _ = try await call(user.request(0, random: &random), by: user)
            if let session = user.known.seen.randomElement(using: &random) { _ = try await call(user.join(session), by: user) }
        }
        times.begin()
    }

    /// Runs a body for several indices, some at once, and returns the results in the order of the indices.
    private static func concurrently<Result: Sendable>(
        _ indices: some Sequence<Int>, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        let all = Array(indices)
        return try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            var running = 0
            for index in all {
                if running == atOnce, let (done, result) = try await group.next() {
                    results[done] = result
                    running -= 1
                }
                group.addTask {
                    let result = try await body(index)
                    return (index, result)
                }
                running += 1
            }
            for try await (done, result) in group { results[done] = result }
            return all.compactMap { results[$0] }
        }
    }

    private static func generator(_ seed: UInt64, _ index: Int, _ step: Int) -> SeededGenerator {
        let place = UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: step)
        return SeededGenerator(seed: seed &+ place &* 0xD134_2543_DE82_EF95)
    }

    // MARK: The load

    /// The students take turns. Neighbours are at different steps, so that calls of all kinds mix.
    func send(_ index: Int) async -> [String]? {
        let (user, step) = (users[index % users.count], index / users.count)
        var random = Self.generator(seed, index % users.count, step + 3)
        let request = user.request(step + index % users.count, random: &random)
        do {
            let answer = try await call(request, by: user)
            guard (200..<300).contains(answer.status) || Self.refusals.contains(answer.status) else {
                return ["\(request.call.rawValue): http \(answer.status)"]
            }
            return nil
        } catch let error as HTTPClientError {
            return ["\(request.call.rawValue): connection \(error.shortDescription)"]
        } catch {
            return ["\(request.call.rawValue): connection"]
        }
    }

    private func call(_ request: StudyUser.Request, by user: StudyUser) async throws -> StudyHub.Answer {
        let begin = ContinuousClock.now
        let answer = try await hub.ask(
            request.method, request.path, request.body, token: user.token, key: request.hasKey ? "\(ObjectID())" : nil)
        times.add(request.call, answer.status, seconds: (ContinuousClock.now - begin) / .seconds(1))
        user.learn(from: answer, to: request)
        return answer
    }

    /// Closes the classes, which ends their sessions. The accounts stay.
    func end() async throws {
        _ = try await Self.concurrently(classes.indices) { index in try await hub.close(classes[index]) }
    }
}

/// How long the calls of each kind took, and how many were refused.
final class StudyTimes: Sendable {
    /// The calls of one kind.
    struct Kind: Sendable {
        var times = LoadRecorder.histogram()
        /// See ``StudyTarget/refusals``.
        var refused = 0
    }

    private let kinds = Mutex<[StudyCall: Kind]>([:])

    var all: [StudyCall: Kind] { kinds.withLock(\.self) }

    /// Forgets the preparation.
    func begin() { kinds.withLock { $0 = [:] } }

    func add(_ call: StudyCall, _ status: UInt, seconds: Double) {
        let microseconds = UInt64(min(max(seconds * 1_000_000, 0), 3_600_000_000))
        kinds.withLock { kinds in
            kinds[call, default: Kind()].times.record(microseconds)
            if StudyTarget.refusals.contains(status) { kinds[call, default: Kind()].refused += 1 }
        }
    }
}
