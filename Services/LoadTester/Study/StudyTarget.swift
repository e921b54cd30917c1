import Base
import Schemas

/// The students of a load as a target: each "message" is one call of one student's app.
struct StudyTarget: LoadTarget {
    let hub: StudentHub
    let users: [StudyUser]
    let classes: [StudentHub.MadeClass]
    let seed: UInt64
    let times = CallTimes<StudyCall>(refusals: StudyTarget.refusals)

    /// How many students each class has on average, and in how many classes each student is.
    private static let studentsPerClass = 50
    private static let classesPerStudent = 5
    /// Fewer than a person may be in by default.
    private static let classesPerProfessor = 20
    /// One in so many students has a session at the beginning, and every second other one is in one.
    private static let studentsPerSession = 20
    /// The answers that are no failures: a session may have ended, or have no room any more, since the student has seen it.
    static let refusals: Set<UInt> = [404, 409]

    // MARK: The preparation

    /// Registers the students, and makes their classes and first sessions.
    ///
    /// - Parameter tell: Called with the progress.
    static func make(_ count: Int, at hub: StudentHub, seed: UInt64, tell: (String) -> Void) async throws -> StudyTarget {
        let prefix = StudentHub.newPrefix()
        let number = max(1, count * classesPerStudent / studentsPerClass)
        tell("registering \(count) students of \(number == 1 ? "1 class" : "\(number) classes")")
        var classes: [StudentHub.MadeClass] = []
        var professor = ""
        for place in 0..<number {
            if place % classesPerProfessor == 0 {
                professor = try await hub.signIn("\(prefix)-prof-\(place)", professor: true).token
            }
            classes.append(try await hub.makeClass("\(prefix)-\(place)", by: professor))
        }
        let users = try await StudentHub.concurrently(0..<count) { [classes] index in
            try await Self.user("\(prefix)-\(index)", index, in: classes, at: hub, seed: seed)
        }
        let target = StudyTarget(hub: hub, users: users, classes: classes, seed: seed)
        tell("the first sessions")
        try await target.begin()
        return target
    }

    private static func user(
        _ account: String, _ index: Int, in classes: [StudentHub.MadeClass], at hub: StudentHub, seed: UInt64
    ) async throws -> StudyUser {
        var random = StudentHub.generator(seed, index, 0)
        let token = try await hub.signIn(account).token
        let own = classes.shuffled(using: &random).prefix(classesPerStudent)
        for made in own { try await hub.join(made, token: token) }
        return StudyUser(account: account, token: token, classes: own.map(\.id), random: &random)
    }

    /// Some students start sessions, and others join them, so that the load begins as it continues.
    private func begin() async throws {
        let hosts = users.indices.filter { $0 % Self.studentsPerSession == 0 }
        _ = try await StudentHub.concurrently(hosts) { index -> Void in
            var random = StudentHub.generator(seed, index, 1)
            _ = try await call(users[index].start(random: &random), by: users[index])
        }
        let others = users.indices.filter { $0 % Self.studentsPerSession != 0 && $0 % 2 == 0 }
        _ = try await StudentHub.concurrently(others) { index -> Void in
            var random = StudentHub.generator(seed, index, 2)
            let user = users[index]
            _ = try await call(user.request(0, random: &random), by: user)
            if let session = user.known.seen.randomElement(using: &random) { _ = try await call(user.join(session), by: user) }
        }
        times.begin()
    }

    // MARK: The load

    /// The students take turns. Neighbours are at different steps, so that calls of all kinds mix.
    func send(_ index: Int) async -> [String]? {
        let (user, step) = (users[index % users.count], index / users.count)
        var random = StudentHub.generator(seed, index % users.count, step + 3)
        let request = user.request(step + index % users.count, random: &random)
        do {
            let answer = try await call(request, by: user)
            guard (200..<300).contains(answer.status) || Self.refusals.contains(answer.status) else {
                return ["\(request.call.rawValue): http \(answer.status)"]
            }
            return nil
        } catch {
            return ["\(request.call.rawValue): \(StudentHub.kind(of: error))"]
        }
    }

    private func call(_ request: StudyUser.Request, by user: StudyUser) async throws -> StudentHub.Answer {
        let begin = ContinuousClock.now
        let answer = try await hub.ask(
            request.method, request.path, request.body, token: user.token, key: request.hasKey ? "\(ObjectID())" : nil)
        times.add(request.call, answer.status, seconds: (ContinuousClock.now - begin) / .seconds(1))
        user.learn(from: answer, to: request)
        return answer
    }

    /// Closes the classes, which ends their sessions. The accounts stay.
    func end() async throws {
        _ = try await StudentHub.concurrently(classes.indices) { index in try await hub.close(classes[index]) }
    }
}
