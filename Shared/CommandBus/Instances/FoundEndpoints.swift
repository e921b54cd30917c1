/// The instances of a pattern that are used: the first ones that were found, up to a limit. A pure value.
struct FoundEndpoints {
    private(set) var endpoints: [String] = []
    /// Whether there are more instances than may be used.
    private(set) var isFull = false

    /// The endpoints of the sockets that are there now. An instance that is used already stays in use.
    mutating func update(_ found: [String], limit: Int = EndpointPattern.maxInstances) {
        let (current, former) = (Set(found), Set(endpoints))
        let kept = endpoints.filter(current.contains)
        let new = found.filter { !former.contains($0) }
        isFull = kept.count + new.count > limit
        endpoints = (kept + new.prefix(limit - kept.count)).sorted()
    }
}
