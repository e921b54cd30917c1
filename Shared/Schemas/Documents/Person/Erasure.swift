import Base

/// What came of the erasure of a person: what each service has removed, and what stays.
package struct ErasureReport: Codable, Hashable, Sendable {
    package struct Service: Codable, Hashable, Sendable {
        /// Such as `people`.
        package let service: String
        package let removed: [ErasedData]
        /// What stays, one sentence each, such as that of the account's name in the audit log.
        package let stays: [String]

        package init(service: String, removed: [ErasedData], stays: [String]) {
            self.service = service
            self.removed = removed
            self.stays = stays
        }
    }

    package let id: ObjectID
    package let begun: UnixMilliseconds
    /// When all services had answered; absent before. The hub asks those that have not until they have.
    package let finished: UnixMilliseconds?
    /// The services that have answered.
    package let services: [Service]
    /// Those that have not.
    package let waiting: [String]

    package init(
        id: ObjectID, begun: UnixMilliseconds, finished: UnixMilliseconds?, services: [Service], waiting: [String]
    ) {
        self.id = id
        self.begun = begun
        self.finished = finished
        self.services = services
        self.waiting = waiting
    }
}

/// How many documents of a kind were removed.
package struct ErasedData: Codable, Hashable, Sendable {
    /// Such as `devices`.
    package let what: String
    package let count: Int

    package init(what: String, count: Int) {
        self.what = what
        self.count = count
    }
}
