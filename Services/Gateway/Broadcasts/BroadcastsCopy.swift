import CommandBus
import Schemas

extension BroadcastsChanged: VersionEvent {}

/// The gateway's copy of what phones need to know of broadcasts.
struct BroadcastsCopy: Versioned {
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
    /// What phones of these channels show now.
    func active(in channels: Set<ObjectID>, at now: UnixMilliseconds) -> ActiveBroadcasts {
        let audible = broadcasts.filter { broadcast in
            now < broadcast.expires && (broadcast.channels?.contains(where: channels.contains) ?? true)
        }
        // An edit has moved it to a later time: the former versions are over.
        let moved = audible.filter { $0.starts > now && $0.version > 1 }.map {
            WithdrawnBroadcast(id: $0.id, version: $0.version - 1, expires: $0.expires)
        }
        return ActiveBroadcasts(
            broadcasts: audible.filter { $0.starts <= now }, withdrawn: withdrawn.filter { now < $0.expires } + moved)
    }

    /// When the next broadcast begins or ends; `nil` if none does.
    func nextChange(after now: UnixMilliseconds) -> UnixMilliseconds? {
        (broadcasts.flatMap { [$0.starts, $0.expires] } + withdrawn.map(\.expires)).filter { $0 > now }.min()
    }
}

/// The answer of `GET /broadcast/active`.
struct ActiveBroadcasts: Codable, Hashable, Sendable {
    let broadcasts: [PhoneBroadcast]
    /// Of these, every version up to the named one is over.
    let withdrawn: [WithdrawnBroadcast]
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
