import Bus
import Schemas
import ServiceKit

/// What `msi status` knows about the work of a service, which the service counts.
enum CountState<Question: Command>: Sendable {
    /// The gateway knows no such service.
    case absent
    case known(Question.Reply)
    /// - Parameter problem: Why the counts are not known.
    case unknown(problem: String)

    /// How long the service may take for its answer.
    private static var timeout: Duration { .seconds(2) }

    var counts: Question.Reply? {
        if case .known(let counts) = self { counts } else { nil }
    }

    var problem: String? {
        if case .unknown(let problem) = self { problem } else { nil }
    }

    /// Asks a service at the endpoints of the settings, if the gateway has one.
    static func read(
        _ question: Question, of service: ServiceEntry, _ settings: SettingValues, _ health: ProductStatus.Health
    ) async -> CountState {
        guard health.services[service.name] != nil else { return .absent }
        do {
            let endpoints = try settings.value(.endpoints(of: service))
            return .known(
                try await CommandClient.with(endpoints, settings) { try await $0.request(question, timeout: Self.timeout) })
        } catch {
            return .unknown(problem: (error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    /// The lines for a person.
    ///
    /// - Parameter missing: What is not known if nothing is.
    func described(_ missing: String, _ known: (Question.Reply) -> [String]) -> [String] {
        switch self {
        case .absent: []
        case .known(let counts): known(counts)
        case .unknown(let problem): ["\(missing): \(problem)".onOneLine(maxLength: 300)]
        }
    }
}
