package import Base
import NIOCore
import Synchronization

/// A portal's post.
package struct Post: Sendable {
    package let subject: SubjectPath
    /// The body of `POST /message`.
    package let body: JSONValue
    /// The Idempotency-Key of a portal that retries until it gets an answer. Without one it posts once.
    package let key: String?
    /// Whether it is posted again after the answer, as by a portal that has lost the answer.
    package let isRepeated: Bool

    package init(_ body: JSONValue, for subject: SubjectPath, key: String? = nil, isRepeated: Bool = false) {
        self.subject = subject
        self.body = body
        self.key = key
        self.isRepeated = isRepeated
    }
}

/// Portals that post messages at a constant rate, and record the accepted ones.
package final class Traffic: Sendable {
    /// A message that was answered with 201.
    package struct Accepted: Hashable, Sendable {
        package let msiKey: String
        package let distribution: String

        package init(msiKey: String, distribution: String) {
            self.msiKey = msiKey
            self.distribution = distribution
        }

        /// The components that FCM must get.
        package var components: [SentComponent] {
            let names = distribution == "Alert" ? ["notification", "data"] : ["data"]
            return names.map { SentComponent(msiKey: msiKey, name: $0) }
        }
    }

    private struct State {
        var accepted: [Accepted] = []
        var posts = 0
        var retries = 0
        var interruptions = 0
        var surprises: [String] = []
        var refusals: [Int64] = []
        var hangs: [Int64] = []
        var isOver = false
    }

    private static let maxSurprises = 100
    /// Parts of the details of answers with 503 by which a service says that it, or its database, has more work than it can do in time.
    private static let overloads = ["in time", "takes too long", "too many"]
    /// How long a portal waits for an answer.
    package static let answerTimeout = Duration.seconds(30)

    private let portal: Portal
    private let retryTimeout: Duration
    private let diskMayBeFull: Bool
    private let isClockSteady: @Sendable () -> Bool
    private let next: @Sendable (_ client: Int, _ number: Int) -> Post
    private let state = Mutex(State())

    /// - Parameters:
    ///   - retryTimeout: How long a portal with an Idempotency-Key retries.
    ///   - diskMayBeFull: Whether 507 is an expected answer, after which a post is retried.
    ///   - isClockSteady: Whether the product has the same clock as the portals. Otherwise a post that is repeated may come too late.
    ///   - next: Makes a post, from the portal's number and the post's.
    package init(
        portal: Portal, retryTimeout: Duration = .seconds(30), diskMayBeFull: Bool = false,
        isClockSteady: @escaping @Sendable () -> Bool = { true },
        next: @escaping @Sendable (_ client: Int, _ number: Int) -> Post
    ) {
        self.portal = portal
        self.retryTimeout = retryTimeout
        self.diskMayBeFull = diskMayBeFull
        self.isClockSteady = isClockSteady
        self.next = next
    }

    package var accepted: [Accepted] { state.withLock(\.accepted) }
    /// The number of posted messages, each counted once.
    package var posts: Int { state.withLock(\.posts) }
    package var retries: Int { state.withLock(\.retries) }
    /// The number of broken connections, and of answers with 503 whose cause is not a slow machine.
    package var interruptions: Int { state.withLock(\.interruptions) }
    /// The first unexpected answers.
    package var surprises: [String] { state.withLock(\.surprises) }

    /// The times of answers with 507, in Unix milliseconds.
    package var refusals: [Int64] { state.withLock(\.refusals) }

    /// When a portal had waited for an answer for ``answerTimeout``, in Unix milliseconds.
    package var hangs: [Int64] { state.withLock(\.hangs) }

    /// Ends the traffic after the pending posts are answered.
    package func stop() {
        state.withLock { $0.isOver = true }
    }

    /// Waits until this many more messages have been accepted.
    package func accepts(more count: Int, within limit: Duration = .seconds(120)) async throws {
        let goal = accepted.count + count
        try await eventually("\(goal) messages accepted", within: limit) { accepted.count >= goal }
    }

    /// Posts until it is stopped.
    ///
    /// - Parameters:
    ///   - clients: The number of concurrent portals.
    ///   - period: The time between two posts of one portal.
    package func run(clients: Int, every period: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask { try await self.post(as: client, every: period) }
            }
            for try await _ in group {}
        }
    }

    private func post(as client: Int, every period: Duration) async throws {
        // Spreads the portals' posts over the period.
        try await sleep(until: .now + period * Double.random(in: 0..<1), unless: { state.withLock(\.isOver) })
        var due = ContinuousClock.now
        var number = 0
        while !state.withLock(\.isOver) {
            let post = next(client, number)
            state.withLock { $0.posts += 1 }
            if post.key == nil {
                if let answer = await answer(to: post) { note(answer, to: post) }
            } else {
                try await postUntilAnswered(post)
            }
            number += 1
            due = max(due + period, .now)
            try await sleep(until: due, unless: { state.withLock(\.isOver) })
        }
    }

    private func postUntilAnswered(_ post: Post) async throws {
        let first = try await firstAnswer(to: post)
        note(first, to: post)
        guard post.isRepeated, first.status == 201 else { return }
        let second = try await firstAnswer(to: post)
        guard second.status == 201, second["Idempotency-Replayed"] == "true", second.body == first.body else {
            return surprised("after \(first) the same post was answered \(second)")
        }
    }

    private func firstAnswer(to post: Post) async throws -> HTTPAnswer {
        var backoff = Backoff.ofCallers(for: retryTimeout)
        while true {
            if let answer = await answer(to: post) { return answer }
            guard let pause = backoff.nextPause() else { throw TooLate("\(post.key ?? "") was not answered") }
            state.withLock { $0.retries += 1 }
            try await Task.sleep(for: pause)
        }
    }

    /// - Returns: `nil` if the post should be retried: after a broken connection or a 503 the outcome is unknown, and a full disk
    ///   may have room later.
    private func answer(to post: Post) async -> HTTPAnswer? {
        let begin = ContinuousClock.now
        guard let answer = try? await portal.post(post.body, key: post.key, within: TimeAmount(Self.answerTimeout)) else {
            if ContinuousClock.now - begin >= Self.answerTimeout {
                state.withLock { $0.hangs.append(.nowInMilliseconds) }
            } else {
                state.withLock { $0.interruptions += 1 }
            }
            return nil
        }
        if diskMayBeFull, answer.status == 507 {
            state.withLock { $0.refusals.append(.nowInMilliseconds) }
            return nil
        }
        guard answer.status == 503 else { return answer }
        if answer["Retry-After"] == nil { surprised("\(answer), without Retry-After") }
        let detail = (try? answer.json["detail"]?.string) ?? ""
        if !Self.overloads.contains(where: detail.contains) { state.withLock { $0.interruptions += 1 } }
        return nil
    }

    private func note(_ answer: HTTPAnswer, to post: Post) {
        if hasMissedItsTime(post) || !isClockSteady(), answer.status == 400, (try? answer.json["field"]) == "send_at" { return }
        guard answer.status == 201, let msiKey = try? answer.json["msi_key"]?.string else { return surprised("\(answer)") }
        state.withLock { $0.accepted.append(Accepted(msiKey: msiKey, distribution: post.subject.distribution)) }
    }

    /// A scheduled message cannot be posted later than a minute after its time, such as after an outage of that length.
    private func hasMissedItsTime(_ post: Post) -> Bool {
        post.body["send_at"]?.integer.map { $0 < .nowInMilliseconds - 60_000 } ?? false
    }

    private func surprised(_ text: String) {
        state.withLock { state in
            if state.surprises.count < Self.maxSurprises { state.surprises.append(text) }
        }
    }
}

extension Backoff {
    /// The pauses of callers who repeat what was not answered: short ones find a short outage, and long ones do not keep a busy product
    /// from its work.
    package static func ofCallers(for timeout: Duration) -> Backoff {
        Backoff(first: .milliseconds(200), max: .seconds(5), jitter: 0.5...1.5, deadline: .now + timeout)
    }
}

extension Traffic {
    /// Portals that post to the subjects in turn. Half of the posts have an Idempotency-Key and are retried until
    /// they are answered.
    package convenience init(portal: Portal, subjects: [SubjectPath]) {
        self.init(portal: portal) { client, number in
            let subject = subjects[number % subjects.count]
            let isCareful = (number / subjects.count) % 2 == 0
            return Post(
                subject.message(title: "\(client)/\(number)"), for: subject, key: isCareful ? "traffic-\(client)-\(number)" : nil)
        }
    }
}
