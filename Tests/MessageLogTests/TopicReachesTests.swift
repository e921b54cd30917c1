import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

/// The numbers of phones that the outbox keeps in memory.
@Suite("Reaches in memory", .timeLimit(.minutes(5)))
struct TopicReachesTests {
    private struct ReadFailure: Error {}

    private static let start = ContinuousClock.now

    /// Counts the readings: returns 1, then 2, and so on.
    private final class Readings: Sendable {
        private let state = Mutex(0)

        var count: Int { state.withLock(\.self) }

        func next() -> Int {
            state.withLock { count in
                count += 1
                return count
            }
        }
    }

    private static func anotherTopic() -> TopicKey { TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }

    @Test("A number serves for a minute, and then it is read again")
    func validity() async throws {
        let readings = Readings()
        let reaches = TopicReaches { _ in Int64(readings.next()) * 100 }
        try await eventually { await reaches.phones(of: .sample, at: Self.start) == 100 }
        #expect(await reaches.phones(of: .sample, at: Self.start + .seconds(59)) == 100)
        #expect(readings.count == 1)
        try await eventually { await reaches.phones(of: .sample, at: Self.start + .seconds(60)) == 200 }
        try await eventually { await reaches.phones(of: Self.anotherTopic(), at: Self.start + .seconds(60)) > 200 }
    }

    @Test("A number that was read for another purpose serves as well")
    func kept() async {
        let readings = Readings()
        let reaches = TopicReaches { _ in Int64(readings.next()) }
        reaches.keep(40_000, of: .sample, at: Self.start)
        #expect(await reaches.phones(of: .sample, at: Self.start + .seconds(59)) == 40_000)
        #expect(readings.count == 0)
    }

    @Test("An Alert does not wait for an archive that does not answer: the last known number counts, and one reading is enough")
    func slow() async throws {
        let (readings, gate) = (Readings(), Gate())
        let reaches = TopicReaches { _ in
            _ = readings.next()
            await gate.pass()
            return 8
        }
        #expect(await reaches.phones(of: .sample, at: Self.start) == 0)
        reaches.keep(7, of: .sample, at: Self.start)
        for _ in 1...3 { #expect(await reaches.phones(of: .sample, at: Self.start + .seconds(60)) == 7) }
        gate.open()
        try await eventually { await reaches.phones(of: .sample, at: Self.start) == 8 }
        #expect(readings.count == 1)
    }

    @Test("A failed reading is repeated for the next Alert")
    func failure() async throws {
        let readings = Readings()
        let reaches = TopicReaches { _ in
            guard readings.next() > 1 else { throw ReadFailure() }
            return 5
        }
        #expect(await reaches.phones(of: .sample, at: Self.start) == 0)
        try await eventually { await reaches.phones(of: .sample, at: Self.start) == 5 }
    }

    @Test("Alerts of many topics do not take all readers of the archive")
    func limit() async throws {
        let readings = Readings()
        let gates = (0..<TopicReaches.maxReading).map { _ in Gate() }
        let reaches = TopicReaches { _ in
            let number = readings.next()
            if number <= gates.count { await gates[number - 1].pass() }
            return 1
        }
        for _ in gates { #expect(await reaches.phones(of: Self.anotherTopic(), at: Self.start) == 0) }
        try await eventually { readings.count == gates.count }
        #expect(await reaches.phones(of: .sample, at: Self.start) == 0)
        #expect(readings.count == gates.count)
        for gate in gates { gate.open() }
        try await eventually { await reaches.phones(of: .sample, at: Self.start) == 1 }
    }
}
