import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// Students who use the hub while it fails: they read and change their profiles, become friends and part again, and sign in and out on
/// further devices. Each request is repeated until it is answered.
final class StudentTraffic: Sendable {
    private struct State {
        var students: [Int: RunStudent] = [:]
        var evidence: [StudentEvidence] = []
        /// The devices whose sign-out was answered, by their student.
        var signedOut: [Int: [TestStudent]] = [:]
    }

    private enum Kind: CaseIterable {
        case read, profile, ask, remove, device
    }

    private let all: StudentRequests
    private let seed: UInt64
    private let state: Mutex<State>

    private static let turnsPerDevice = 4

    init(count: Int, _ requests: StudentRequests, seed: UInt64) {
        all = requests
        self.seed = seed
        let names = (0..<count).map { "student-\($0)" }
        state = Mutex(State(evidence: names.map { StudentEvidence(account: $0) }))
    }

    /// Unexpected answers.
    var surprises: [String] { all.surprises }
    /// How many requests were answered.
    var requests: Int { all.answers }

    /// Ends the requests once those that are on their way are answered.
    func stop() { all.stop() }

    /// Lets every student make one request after another.
    func run(every period: Duration) async throws {
        let count = state.withLock(\.evidence.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for student in 0..<count { group.addTask { try await self.run(student, every: period) } }
            for try await _ in group {}
        }
    }

    private func run(_ number: Int, every period: Duration) async throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        var turn = 0
        guard let student = try await all.register("student-\(number)") else {
            if !all.isMixed { all.surprised("student-\(number) could not register") }
            return
        }
        state.withLock { $0.students[number] = student }
        while !all.isOver {
            do {
                try await act(number, student, turn, &random)
            } catch is StudentRequests.Unanswered {
                // Whether it was done is unknown. In a mixed run the service may not know students for a while.
                if !all.isMixed { all.surprised("student-\(number) got no answer within \(all.retryTimeout)") }
            }
            turn += 1
            try await sleep(until: .now + period, unless: { all.isOver })
        }
    }

    // MARK: Requests

    private func act(_ number: Int, _ student: RunStudent, _ turn: Int, _ random: inout SeededGenerator) async throws {
        let other = "student-\(number ^ 1)"
        switch Kind.allCases.randomElement(using: &random) ?? .read {
        case .read: try await student.expect([200], .GET, "/user")
        case .profile:
            let bio = "\(turn) of student \(number)"
            state.withLock { _ = $0.evidence[number].bios.insert(bio) }
            try await student.expect([200], .PUT, "/user/profile", ["bio": .string(bio), "visibility": [:]])
            state.withLock { $0.evidence[number].bios = [bio] }
        case .ask:
            // The last one of an odd number of students has nobody to ask.
            guard (number ^ 1) < state.withLock(\.evidence.count) else { return }
            // 404: the other one has not registered yet. 429: these requests are limited.
            try await student.expect([200, 404, 429], .POST, "/user/friends", ["account": .string(other)])
        case .remove: try await student.expect([204, 404], .DELETE, "/user/friends/\(other)")
        case .device:
            // Twice a minute at most, on the average: sign-ins are limited.
            if turn.isMultiple(of: Self.turnsPerDevice) { try await useDevice(number, student) }
        }
    }

    /// Signs in on a further device, and out again.
    private func useDevice(_ number: Int, _ student: RunStudent) async throws {
        let second = try await all.signIn(student.account, on: TestDevice())
        try await student.expect([204, 404], .DELETE, "/user/devices/\(second.id)")
        state.withLock { $0.signedOut[number, default: []].append(second) }
    }

    // MARK: The end

    /// What holds at the end, when all services are of this version and can do their work.
    func evidence() async throws -> [StudentEvidence] {
        let (students, signedOut, count) = state.withLock { ($0.students, $0.signedOut, $0.evidence.count) }
        for number in 0..<count {
            guard let student = students[number] else { continue }
            let isRenewed = (try? await student.renew()) != nil
            let reader = isRenewed ? student : nil
            let answer = await reader?.read("/user")
            var returned = 0
            for device in signedOut[number] ?? [] {
                if try await getsToken(device) { returned += 1 }
            }
            let profile = try? await reader?.read("/user/profile")?.json
            let friends = try? await reader?.read("/user/friends")?.json
            let requests = try? await reader?.read("/user/friends/requests")?.json
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

    private func getsToken(_ device: TestStudent) async throws -> Bool {
        try await all.made(isEnd: true) {
            let answer = try await device.exchange()
            guard answer.status == 200 || (try? answer.json["field"]?.string) == "device" else { throw UnexpectedAnswer(answer) }
            return answer.status == 200
        }
    }

    private static func names(_ list: JSONValue?) -> Set<String> {
        Set((list?.elements ?? []).compactMap { $0.string ?? $0["account"]?.string })
    }
}
