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

extension ActiveBroadcasts {
    /// All that have not expired, for phones of every channel: they choose by their own channels, and by the time.
    package init(_ current: ReadCurrentBroadcasts.Reply) {
        self.init(broadcasts: current.broadcasts, withdrawn: current.withdrawn)
    }
}
