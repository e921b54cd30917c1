package import Base

/// The event `device.changed`, and the reply to ``ReadDeviceChanges``: which tokens of devices no longer count, and the keys that sign
/// tokens. As an event it is sent after each end, and repeated every second with the latest ends.
///
/// A gateway that has all ends up to ``after`` applies these. Otherwise it reads the missing ones. The numbers grow with the time, so that
/// they are never given again, even after a restore.
package struct DevicesChanged: Codable, Hashable, Sendable {
    package static let name = "device.changed"
    /// The maximum number of ends in a reply, and in a repeated event.
    package static let maxEnds = 1_000
    package static let maxRepeated = 50

    /// The number of the latest end that it contains; ``after`` if it has none.
    package let sequence: Int64
    package let after: Int64
    /// In the order of their numbers.
    package let ended: [EndedTokens]
    /// `true` if further ones follow ``sequence``: read again. Absent otherwise.
    package let more: Bool?
    /// All keys whose tokens count.
    package let keys: [DeviceTokenKey]

    package init(after: Int64, ended: [EndedTokens], more: Bool = false, keys: [DeviceTokenKey]) {
        self.after = after
        sequence = ended.last?.number ?? after
        self.ended = ended
        self.more = more ? true : nil
        self.keys = keys
    }
}

/// The end of a device, or of all devices of an account: their tokens that were issued until then do not count.
package struct EndedTokens: Codable, Hashable, Sendable {
    package let number: Int64
    package let at: UnixMilliseconds
    /// Either a device, or an account.
    package let device: ObjectID?
    package let account: AccountName?

    package init(number: Int64, at: UnixMilliseconds, device: ObjectID) {
        self.number = number
        self.at = at
        self.device = device
        account = nil
    }

    package init(number: Int64, at: UnixMilliseconds, account: AccountName) {
        self.number = number
        self.at = at
        device = nil
        self.account = account
    }

    /// Whether it ends a token. A token of the same second may be a little younger, and ends too: the device gets a new one.
    package func ends(_ claims: DeviceTokenClaims) -> Bool {
        claims.iat <= at.seconds && (device == claims.dev || account == claims.sub)
    }
}

/// A public key that signs the tokens of devices.
package struct DeviceTokenKey: Codable, Hashable, Sendable {
    /// The `kid` of its tokens.
    package let id: String
    /// An uncompressed point of P-256 in URL-safe Base64.
    package let key: String

    package init(id: String, key: String) {
        self.id = id
        self.key = key
    }
}

/// `device.changes`: the ends after a number, with the keys. Ends that are older than ``PersonLimits/endedTime`` are left out: no gateway
/// takes the tokens that they concern.
package struct ReadDeviceChanges: Command, Checked {
    package static let name = "device.changes"
    package typealias Reply = DevicesChanged

    /// From 0.
    package let after: Int64

    package init(after: Int64) {
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after
    }

    package func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
    }
}

/// The event `person.changed`: something happened to a person that an open app shows. The app fetches what it is.
///
/// Each process counts its events. A subscriber that misses a number, or sees another epoch, tells all its readers that something may be
/// missing.
package struct PersonChanged: Codable, Hashable, Sendable {
    package static let name = "person.changed"

    /// Of the process.
    package let epoch: ObjectID
    /// From 1.
    package let number: Int64
    package let account: AccountName
    /// Such as `friends`, `requests`, `profile`, `devices`.
    package let kind: String
    /// What has changed, such as a friend's account; absent for anything of the kind.
    package let id: String?

    package init(epoch: ObjectID, number: Int64, account: AccountName, kind: String, id: String? = nil) {
        self.epoch = epoch
        self.number = number
        self.account = account
        self.kind = kind
        self.id = id
    }
}

/// `device.rotate`: a new key that signs the tokens of devices.
package struct RotateDeviceTokenKey: Command {
    package static let name = "device.rotate"
    package typealias Reply = DeviceTokenKey

    /// Whether the earlier keys count no longer, such as after a theft: each device asks for a new token. By default they count as long as
    /// their tokens.
    package let forget: Bool?

    package init(forget: Bool? = nil) {
        self.forget = forget
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case forget
    }
}
