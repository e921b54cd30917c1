import CommandBus
import Schemas
import Synchronization

/// Whether an OpenID Connect provider is set up, as the people service has said lately.
final class ProviderKnowledge: Sendable {
    /// The setting changes only with a restart of the people service.
    private static let maxAge = Duration.seconds(10)

    private struct Reading {
        let isSetUp: Bool
        let time: ContinuousClock.Instant
    }

    private let people: CommandClient
    private let last = Mutex<Reading?>(nil)

    init(people: CommandClient) {
        self.people = people
    }

    /// While the people service does not answer, its last answer; `false` if there was none.
    func isSetUp(for caller: RequestContext) async -> Bool {
        let known = last.withLock(\.self)
        if let known, ContinuousClock.now < known.time + Self.maxAge { return known.isSetUp }
        let answer = try? await people.request(ReadSignInWays(), timeout: Credentials.findTimeout, context: caller)
        guard let isSetUp = answer?.provider else { return known?.isSetUp ?? false }
        last.withLock { $0 = Reading(isSetUp: isSetUp, time: .now) }
        return isSetUp
    }
}
