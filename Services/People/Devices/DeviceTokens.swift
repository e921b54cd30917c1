import Base
import Bus
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

/// The keys that sign the tokens of devices: makes the first one, replaces the one that signs once it is old, and removes those whose tokens
/// have all ended.
struct DeviceTokens: Service {
    private let changes: PeopleChanges
    private let logger: Logger

    /// Gateways learn of a new key within seconds. So long they have for it.
    private static let announcement = Milliseconds.seconds(60)
    private static let period = Duration.seconds(60)
    private static let pauseAfterFailure = Duration.seconds(1)
    /// All of them are in each event.
    private static let maxKeys = 20

    init(changes: PeopleChanges, logger: Logger) {
        self.changes = changes
        self.logger = logger
    }

    func run() async throws {
        let outage = OutageLog("the keys of devices' tokens cannot be kept", logger: logger) {
            ($0 as? CommandFailure)?.status == .unavailable
        }
        await RepeatingService(
            every: Self.period, retries: .constant(Self.pauseAfterFailure), outage: outage, work: { try await maintain() }
        ).run()
    }

    /// Makes and removes keys by the time.
    func maintain() async throws {
        let damaged = try await changes.store.snapshot { try $0.storedTokenKeys().filter(\.isDamaged).map(\.id) }
        for id in damaged {
            logger.error(
                "a key of devices' tokens is damaged and left out; remove the document", metadata: ["token_key": "\(id)"])
        }
        try await changes.make(by: .program) { change in
            let keys = try change.transaction.tokenKeys()
            guard let newest = keys.last else { return _ = try change.addTokenKey(after: 0) }
            if newest.signsFrom + PersonLimits.tokenKeyTime <= change.now { _ = try change.addTokenKey(after: Self.announcement) }
            for (key, next) in zip(keys, keys.dropFirst()) where next.signsFrom + PersonLimits.endedTime <= change.now {
                try change.removeTokenKey(key)
            }
        }
    }

    /// Makes a new key at once.
    ///
    /// - Parameter forget: Whether to remove the earlier ones, and all their tokens with them.
    /// - Throws: ``CommandFailure`` with `conflict` if there are too many keys whose tokens count.
    func rotate(forgetting forget: Bool, by context: CommandContext) async throws -> DeviceTokenKey {
        try await changes.make(by: context) { change in
            try change.require(.administrator, of: context)
            let keys = try change.transaction.tokenKeys()
            guard forget || keys.count < Self.maxKeys else {
                throw CommandFailure(
                    .conflict, "there are \(keys.count) keys, since many were made within a few hours; forget them")
            }
            if forget { for key in keys { try change.removeTokenKey(key) } }
            // Without another key it has to sign at once.
            let key = try change.addTokenKey(after: forget ? 0 : Self.announcement).announced()
            change.record(RotateDeviceTokenKey.name, .tokenKey(key.id))
            return key
        }
    }
}

extension PeopleChange {
    /// The key that signs now. The very first sign-in may come before ``DeviceTokens`` has made one.
    mutating func signingKey() throws -> TokenKeyDocument {
        guard try transaction.tokenKeys().isEmpty else { return try transaction.signingKey(at: now) }
        return try addTokenKey(after: 0)
    }

    fileprivate mutating func addTokenKey(after pause: Milliseconds) throws -> TokenKeyDocument {
        tokenKeysChanged()
        let key = TokenKeyDocument(now: now, after: pause)
        try transaction.insert(key, into: PeopleStore.tokenKeys)
        return key
    }

    fileprivate mutating func removeTokenKey(_ key: TokenKeyDocument) throws {
        tokenKeysChanged()
        try transaction.delete(key.id, from: PeopleStore.tokenKeys)
    }
}
