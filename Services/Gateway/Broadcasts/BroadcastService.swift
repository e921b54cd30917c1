import CommandBus
import NIOCore
import Schemas
import ServiceLifecycle

/// The gateway's access to the broadcast service. It forwards commands, and answers phones from a copy: thousands of them ask when
/// they are started.
///
/// While the broadcast service is away, the copy is used for a grace period.
struct BroadcastService: Sendable {
    let client: CommandClient
    private let version: FollowedVersion<BroadcastsChanged>
    private let copy: FollowedCopy<BroadcastsCopy, BroadcastsChanged>
    private let answers = BroadcastAnswers()

    /// - Parameter grace: How long the copy may be used after the broadcast service was last heard.
    init(client: CommandClient, version: FollowedVersion<BroadcastsChanged>, grace: Duration) {
        self.client = client
        self.version = version
        copy = FollowedCopy(of: version, grace: grace) { _ in try await client.readBroadcasts() }
    }

    /// Follows the broadcasts.
    var background: [any Service] { [version, copy] }

    /// Until when the copy may be used if the service stays silent; `nil` if it may not be used.
    var copyUsableUntil: ContinuousClock.Instant? { copy.usableUntil }

    /// The copy for the gateway's file; `nil` without one.
    var kept: KeptBroadcasts? {
        copy.kept.map { KeptBroadcasts(confirmed: UnixMilliseconds(of: $1), copy: $0) }
    }

    /// Grows with each change of what is kept.
    var copyRevision: Int { copy.revision }

    /// Takes the copy of a former process.
    func restore(_ kept: KeptBroadcasts) {
        guard let confirmed = kept.confirmed.instant else { return }
        copy.restore(kept.copy, confirmed: confirmed)
    }

    /// The answers for phones of these channels.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the broadcast service does not answer; ``SchemaViolation``.
    func answer(to query: UnreadQuery<ChannelsQuery>) async throws -> BroadcastAnswers.Encoded {
        try answers.answer(to: query.text, { try query.read().identifiers }, from: try await copy.current(), now: .now)
    }

    /// Makes a change.
    func change<C: Command>(_ command: C, for caller: RequestContext) async throws -> Broadcast
    where C.Reply == RevisedBroadcast {
        let reply = try await client.request(command, context: caller)
        version.edited(reply.data)
        return reply.broadcast
    }
}
