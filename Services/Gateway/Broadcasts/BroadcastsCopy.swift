import CommandBus
import Schemas

extension BroadcastsChanged: VersionEvent {}

/// The gateway's copy of what phones need to know of broadcasts.
struct BroadcastsCopy: Versioned, Codable {
    let version: Revision
    /// All that have not expired, also scheduled ones.
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
