import Synchronization
import TestSupport

/// The resident memory of services under load, read twice a second.
final class MemoryWatch: Sendable {
    /// One service's, in MiB.
    struct Figures: Encodable {
        let name: String
        /// Before the load.
        let start: Double
        /// The medians of the second and of the last fifth of the load. The first fifth is the warm-up. If it is flat, they are equal.
        let early: Double
        let late: Double
        let max: Double
    }

    private let services: [ServiceProcess]
    private let start: [Double]
    private let samples = Mutex<[[Double]]>([])

    /// Reads the memory before the load.
    init(of services: ServiceProcess...) throws {
        self.services = services
        start = try services.map(Self.resident)
    }

    /// Reads it during a body, which is a part of the load.
    func during<Value>(_ body: () async throws -> Value) async throws -> Value {
        let watching = Task {
            while !Task.isCancelled {
                let resident = try services.map(Self.resident)
                samples.withLock { $0.append(resident) }
                // A cancellation ends the wait.
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        return try await perform {
            try await body()
        } finally: {
            watching.cancel()
            try await watching.value
        }
    }

    /// The figures of all load so far.
    var figures: [Figures] {
        let samples = samples.withLock(\.self)
        let fifth = max(1, samples.count / 5)
        return services.indices.map { index in
            let course = samples.map { $0[index] }
            let early = course.dropFirst(fifth).prefix(fifth)
            return Figures(
                name: services[index].name, start: start[index],
                early: (early.isEmpty ? course : Array(early)).median, late: course.suffix(fifth).median,
                max: course.max() ?? 0)
        }
    }

    /// Prints the figures so far as a table.
    func show() {
        say(Table.row("MiB", "start", "early", "late", "max", first: 20))
        for service in figures {
            say(Table.row(service.name, "\(service.start)", "\(service.early)", "\(service.late)", "\(service.max)", first: 20))
        }
    }

    @Sendable
    private static func resident(_ service: ServiceProcess) throws -> Double {
        (Double(try ProcessUsage(of: service.identifier).resident) / 1_024).twoDigits
    }
}
