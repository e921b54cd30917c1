import Bus
import NIOCore
import Schemas
import ServiceLifecycle

/// The gateway's access to the broadcast service. It forwards commands, and answers phones from a copy: thousands of them ask when
/// the app starts.
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

    /// Grows with each change of the copy.
    var copyRevision: Int { copy.revision }

    /// Takes over the copy of an earlier process.
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
    func change<C: Command>(_ command: C, for caller: CallerContext) async throws -> Broadcast
    where C.Reply == RevisedBroadcast {
        let reply = try await client.request(command, context: caller)
        version.edited(reply.data)
        return reply.broadcast
    }
}

extension BroadcastsChanged: VersionEvent {}

/// The gateway's copy of the broadcasts, with the fields that phones get.
struct BroadcastsCopy: Versioned, Codable {
    let version: Revision
    /// All that have not expired, including scheduled ones.
    let broadcasts: [PhoneBroadcast]
    let withdrawn: [WithdrawnBroadcast]
}

extension CommandClient {
    /// - Throws: ``CommandFailure``.
    func readBroadcasts() async throws -> BroadcastsCopy {
        let reply = try await request(ReadCurrentBroadcasts())
        return BroadcastsCopy(version: reply.version, broadcasts: reply.broadcasts, withdrawn: reply.withdrawn)
    }
}

extension BroadcastsCopy {
    private var current: ReadCurrentBroadcasts.Reply {
        ReadCurrentBroadcasts.Reply(version: version, broadcasts: broadcasts, withdrawn: withdrawn)
    }

    /// What phones of these channels show now.
    func active(in channels: Set<ObjectID>, at now: UnixMilliseconds) -> ActiveBroadcasts {
        current.active(in: channels, at: now)
    }

    /// When the next broadcast begins or ends; `nil` if none does.
    func nextChange(after now: UnixMilliseconds) -> UnixMilliseconds? { current.nextChange(after: now) }
}

/// The answer of `GET /broadcast/features`.
struct FeatureSwitches: Codable, Hashable, Sendable {
    /// By the name of the feature; of two about the same one the later one counts.
    let features: [FeatureSwitch]

    init(_ active: ActiveBroadcasts) {
        features = active.broadcasts.compactMap(FeatureSwitch.init).sorted {
            $0.feature != $1.feature ? $0.feature < $1.feature : $1.overrides($0)
        }
    }
}
