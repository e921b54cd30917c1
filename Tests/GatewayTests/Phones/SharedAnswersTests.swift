import Bus
import FoundationEssentials
import NIOCore
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Answers that equal requests share.
@Suite("Shared answers", .timeLimit(.minutes(10)))
struct SharedAnswersTests {
    private struct Refused: Error {}

    /// The bodies that were worked on.
    private final class Log: Sendable {
        let bodies = Mutex<[String]>([])
        let gate = AsyncStream<Void>.makeStream()

        func add(_ body: Data) { bodies.withLock { $0.append(String(decoding: body, as: UTF8.self)) } }
        var all: [String] { bodies.withLock(\.self) }
    }

    private static func ask(_ answers: SharedAnswers, _ body: String) async throws -> String {
        String(buffer: try await answers.answer(to: ByteBuffer(string: body), for: CallerContext()))
    }

    @Test("Equal requests at the same time are one piece of work, and others are not held up by it")
    func shared() async throws {
        let log = Log()
        let answers = SharedAnswers { body, _ in
            log.add(body)
            if body == Data("slow".utf8) { for await _ in log.gate.stream {} }
            return body
        }
        let asked = Counter()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    asked.add()
                    return try await Self.ask(answers, "slow")
                }
            }
            try await eventually("all have asked, and the work has begun") { asked.count == 50 && log.all == ["slow"] }
            #expect(try await Self.ask(answers, "fast") == "fast")
            log.gate.continuation.finish()
            for try await answer in group { #expect(answer == "slow") }
        }
        #expect(log.all == ["slow", "fast"])
    }

    @Test("A request joins equal work that is under way, however long it takes")
    func slow() async throws {
        let log = Log()
        let answers = SharedAnswers { body, _ in
            log.add(body)
            for await _ in log.gate.stream {}
            return body
        }
        let asked = Counter()
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await Self.ask(answers, "a") }
            try await eventually("the work has begun") { log.all == ["a"] }
            // Longer than an answer is given again.
            try await Task.sleep(for: .milliseconds(300))
            group.addTask {
                asked.add()
                return try await Self.ask(answers, "a")
            }
            try await eventually("the second one has asked") { asked.count == 1 }
            try await Task.sleep(for: .milliseconds(50))
            log.gate.continuation.finish()
            for try await answer in group { #expect(answer == "a") }
        }
        #expect(log.all == ["a"])
    }

    @Test("No more is kept than there is room for, and nothing longer than it is shared")
    func room() async throws {
        let answers = SharedAnswers(maxBytes: 1_000) { body, _ in
            guard !body.isEmpty else { throw Refused() }
            return Data(count: body.count * 100)
        }
        await #expect(throws: Refused.self) { try await Self.ask(answers, "") }
        for body in ["a", "bb", "ccc", "dddd", "0123456789ab"] {
            #expect(try await Self.ask(answers, body).utf8.count == body.utf8.count * 100)
            #expect(answers.sharedBytes <= 1_000)
        }
        try await eventually("it is all forgotten") { answers.sharedBytes == 0 }
    }

    @Test("An answer is given again for a moment only, and a failure to all that shared it")
    func ends() async throws {
        let log = Log()
        let answers = SharedAnswers { body, _ in
            log.add(body)
            if log.all.count == 1 { throw Refused() }
            return body
        }
        await #expect(throws: Refused.self) { try await Self.ask(answers, "a") }
        try await eventually("it is worked on again") { (try? await Self.ask(answers, "a")) == "a" }
        let count = log.all.count
        try await eventually("a later request is worked on again") {
            _ = try? await Self.ask(answers, "a")
            return log.all.count > count
        }
    }

    @Test("Ten thousand different requests get their own answers")
    func many() async throws {
        let answers = SharedAnswers { body, _ in body }
        for number in 0..<10_000 { #expect(try await Self.ask(answers, "\(number)") == "\(number)") }
    }
}
