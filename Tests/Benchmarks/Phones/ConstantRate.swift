/// Requests that begin at fixed moments, whether earlier ones are answered or not: a slow answer makes no request late.
struct ConstantRate {
    let count: Int
    let period: Duration

    /// Makes requests.
    ///
    /// - Parameter request: Gets the number of the request, from 0.
    /// - Returns: The values of the requests in their order, and the time until each answer from the moment at which the request was due,
    ///   in milliseconds.
    func run<Value: Sendable>(
        _ request: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [(value: Value, time: Double)] {
        let begin = ContinuousClock.now
        return try await withThrowingTaskGroup(of: (number: Int, value: Value, time: Double).self) { group in
            for number in 0..<count {
                let due = begin + period * (Double(number) / Double(count))
                try await Task.sleep(until: due)
                group.addTask {
                    let value = try await request(number)
                    return (number, value, (ContinuousClock.now - due) / .milliseconds(1))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.number < $1.number }.map { ($0.value, $0.time) }
        }
    }
}

/// Milliseconds.
struct Latency: Codable {
    let p50: Double
    let p99: Double

    /// - Parameter times: In milliseconds; without any, both are 0.
    init(_ times: [Double]) {
        let sorted = times.sorted()
        p50 = sorted.isEmpty ? 0 : sorted[sorted.count / 2].twoDigits
        p99 = sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100].twoDigits
    }

    init(p50: Double, p99: Double) {
        self.p50 = p50
        self.p99 = p99
    }

    /// The medians of rounds.
    static func median(_ rounds: [Latency]) -> Latency {
        Latency(p50: rounds.map(\.p50).median.twoDigits, p99: rounds.map(\.p99).median.twoDigits)
    }
}
