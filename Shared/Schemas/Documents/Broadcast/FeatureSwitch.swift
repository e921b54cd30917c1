/// A feature of the app that an active broadcast switches on or off.
package struct FeatureSwitch: Codable, Hashable, Sendable {
    package let feature: String
    package let enabled: Bool
    /// The percentage of phones that it applies to; `nil` for all.
    package let share: Int?
    package let group: FeatureGroup?
    /// Free-form data for the app.
    package let data: String?
    /// The broadcast's id and version.
    package let broadcast: Int64
    package let version: Int64
    package let channels: [ObjectID]?
    package let condition: String?
    package let starts: UnixMilliseconds
    package let expires: UnixMilliseconds

    /// - Returns: `nil` if the broadcast switches no feature.
    package init?(_ broadcast: PhoneBroadcast) {
        let action = broadcast.actionData
        guard broadcast.type == .nonDisplay, let feature = action.feature else { return nil }
        self.feature = feature
        enabled = action.notificationType == .enableFeature
        share = action.share
        group = action.group
        data = action.data
        self.broadcast = broadcast.id
        version = broadcast.version
        channels = broadcast.channels
        condition = broadcast.condition
        starts = broadcast.starts
        expires = broadcast.expires
    }

    /// Whether it decides after another one about the same feature: the one that began later does.
    package func overrides(_ other: FeatureSwitch) -> Bool {
        (starts, broadcast) > (other.starts, other.broadcast)
    }

    /// Whether it applies to a phone with this installation id. It is the same with every broadcast about the feature, so that a
    /// share of 10 % keeps its phones.
    package func includes(installation: String) -> Bool {
        guard let share else { return true }
        let bucket = Self.bucket(of: installation, for: feature)
        return group == .b ? bucket >= 100 - share : bucket < share
    }

    /// 0 to 99. The division of phones differs between features. It must never change: apps of different versions have to agree.
    static func bucket(of installation: String, for feature: String) -> Int {
        Int(StableHash.spread(StableHash.of("\(feature)/\(installation)".utf8)) % 100)
    }
}

/// A hash that is the same in every process and version: FNV-1a of 64 bits. (Swift's own hash differs from process to process.) Two
/// texts with the same hash are easy to make, so it is no proof of anything.
package enum StableHash {
    /// The hash of some bytes.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Spreads the differences of a hash over all bits: the finalizer of MurmurHash3. Sums and remainders of hashes need it.
    package static func spread(_ hash: UInt64) -> UInt64 {
        var hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ (hash >> 33)
    }

    /// The hash of some bytes in 1 to 16 hexadecimal digits.
    package static func text(of bytes: some Sequence<UInt8>) -> String { String(of(bytes), radix: 16) }
}
