import FoundationEssentials
import Base
import GRDB

/// What the app remembers of the person who is signed in. The key that it rests on is in the platform's ``SecretStore``.
struct AccountMemory: Codable, Hashable, Sendable {
    /// The device's id at the hub.
    let device: String
    /// The account's name.
    let account: String
    /// What the app shows the hub, for an hour.
    var token: String
    /// When the app gets another token, in Unix milliseconds by the device's clock.
    var renews: Int64
    /// What the hub knows of how this device is reached; `nil` for nothing yet.
    var told: String?

    /// How long before its end a token is replaced, in milliseconds.
    private static let early: Int64 = 300_000

    /// A token with its end by the hub's clock. If that seems to be over already, or nearly so, the device's clock is wrong: then the token
    /// is used until the hub refuses it.
    mutating func take(_ token: String, ends: Int64, now: Int64) {
        self.token = token
        renews = ends - Self.early > now ? ends - Self.early : .max
    }
}

extension AccountMemory {
    private static let name = "account"
    /// Whether the hub has signed the device out.
    private static let endedName = "account ended"

    /// - Returns: `nil` if nobody is signed in.
    static func read(_ db: Database) throws -> AccountMemory? {
        try db.memory(name).map { try JSONCoder.decode(from: Data($0.utf8)) }
    }

    func keep(_ db: Database) throws {
        try db.keep(String(decoding: JSONCoder.encode(self), as: UTF8.self), as: Self.name)
        try db.keep(nil, as: Self.endedName)
    }

    /// - Parameter isEnded: Whether the hub has signed the device out.
    static func forget(isEnded: Bool, _ db: Database) throws {
        try db.keep(nil, as: name)
        try db.keep(isEnded ? "true" : nil, as: endedName)
    }

    static func isEnded(_ db: Database) throws -> Bool { try db.memory(endedName) != nil }
}
