/// The answer of `GET /broadcast/active`, and what the static file of the broadcasts has.
package struct ActiveBroadcasts: Codable, Hashable, Sendable {
    package let broadcasts: [PhoneBroadcast]
    /// Of these, every version up to the named one is over.
    package let withdrawn: [WithdrawnBroadcast]

    package init(broadcasts: [PhoneBroadcast], withdrawn: [WithdrawnBroadcast]) {
        self.broadcasts = broadcasts
        self.withdrawn = withdrawn
    }
}

extension ReadCurrentBroadcasts.Reply {
    /// What phones show now.
    ///
    /// - Parameter channels: Those of the phones; `nil` for phones of every channel, which choose by their own.
    package func active(in channels: Set<ObjectID>? = nil, at now: UnixMilliseconds) -> ActiveBroadcasts {
        let (shown, others) = broadcasts.reduce(into: ([PhoneBroadcast](), [PhoneBroadcast]())) { parts, broadcast in
            let isFor = channels.map { channels in broadcast.channels?.contains(where: channels.contains) ?? true } ?? true
            let isActive = broadcast.starts <= now && now < broadcast.expires
            if isFor, isActive { parts.0.append(broadcast) } else { parts.1.append(broadcast) }
        }
        // An edit has moved it to a later time, or to other phones, or it has ended earlier than an earlier version.
        let over = (withdrawn + others.compactMap(\.formerVersions)).filter { now < $0.expires }
        return ActiveBroadcasts(broadcasts: shown, withdrawn: over)
    }

    /// When the next broadcast begins or ends; `nil` if none does.
    package func nextChange(after now: UnixMilliseconds) -> UnixMilliseconds? {
        let moments = broadcasts.flatMap { [$0.starts, $0.expires, $0.until ?? $0.expires] } + withdrawn.map(\.expires)
        return moments.filter { $0 > now }.min()
    }
}
