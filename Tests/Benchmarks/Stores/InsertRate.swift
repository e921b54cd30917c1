import Archive
import Schemas

/// The rate of inserts of a store. Each message is durable before the same client's next one.
enum InsertRate {
    static func measure(_ store: any MessageStore, clients: Int, seconds: Double) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let deadline = start + .seconds(seconds)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in 0..<clients {
                group.addTask {
                    var count = 0
                    repeat {
                        _ = try await store.insert(SampleMessage.make(client + count * clients, timestamp: .now))
                        count += 1
                    } while clock.now < deadline
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }
}
