/// How much of its room a store uses: a part of the reply to `bus.health`.
package struct StoreUsage: Codable, Hashable, Sendable {
    /// Such as `people`, `message-log` or `pictures`.
    package let name: String
    /// What it takes up.
    package let bytes: Int64
    /// How much the operator allows; absent for the whole disk.
    package let limit: Int64?
    /// What is free on its disk; absent if that is not known.
    package let free: Int64?
    /// How much of the room is used, without the reserve: from 90 on it is nearly full, and at 100 new documents are refused.
    package let percent: Int

    package init(name: String, bytes: Int64, limit: Int64?, free: Int64?, percent: Int) {
        self.name = name
        self.bytes = bytes
        self.limit = limit
        self.free = free
        self.percent = percent
    }
}
