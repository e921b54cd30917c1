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
    /// What phones of these channels show now.
    func active(in channels: Set<ObjectID>, at now: UnixMilliseconds) -> ActiveBroadcasts {
        let (shown, others) = broadcasts.reduce(into: ([PhoneBroadcast](), [PhoneBroadcast]())) { parts, broadcast in
            let isFor = broadcast.channels?.contains(where: channels.contains) ?? true
            let isActive = broadcast.starts <= now && now < broadcast.expires
            if isFor, isActive { parts.0.append(broadcast) } else { parts.1.append(broadcast) }
        }
        // An edit has moved it to a later time, or to other phones, or it has ended earlier than a former version.
        let over = (withdrawn + others.compactMap(\.formerVersions)).filter { now < $0.expires }
        return ActiveBroadcasts(broadcasts: shown, withdrawn: over)
    }

    /// When the next broadcast begins or ends; `nil` if none does.
    func nextChange(after now: UnixMilliseconds) -> UnixMilliseconds? {
        let moments = broadcasts.flatMap { [$0.starts, $0.expires, $0.until ?? $0.expires] } + withdrawn.map(\.expires)
        return moments.filter { $0 > now }.min()
    }
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
