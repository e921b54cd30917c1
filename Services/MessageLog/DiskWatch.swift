import Archive
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

/// Measures the archive and its disk. New messages are refused while there is still room for changes of accepted ones, so that
/// those are still relayed.
final class DiskWatch: Service {
    /// How often the size is read.
    private static let period = Duration.seconds(1)

    private let store: any MessageStore
    private let room: StoreRoom
    private let logger: Logger

    init(store: any MessageStore, limit: @escaping @Sendable () -> Int64?, logger: Logger) {
        self.store = store
        let words = StoreRoom.Words(
            name: ServiceEntry.messageLog.name, store: "the archive", refused: "new messages",
            reserve: "messages that were accepted before")
        room = StoreRoom(words, limit: limit, logger: logger)
        self.logger = logger
    }

    /// Checks whether a message or a push may be stored.
    ///
    /// - Returns: `nil` if it may. If there is no room, the item that is stored under the same keys already.
    /// - Throws: ``CommandFailure`` with status `storage_full` if there is no room and no such item.
    func admit(_ item: OutboxItem) async throws -> OutboxItem? {
        guard let refusal = room.refusal else { return nil }
        guard let known = try await store.stored(item) else { throw refusal }
        return known
    }

    /// Checks whether something else may be stored.
    ///
    /// - Throws: ``CommandFailure`` with status `storage_full` if there is no room.
    func requireRoom() throws(CommandFailure) { try room.require() }

    /// How full the archive is.
    var usage: StoreUsage { room.usage }

    /// The part ``ServiceHealth/storage`` from 90 % on, and ``ServiceHealth/store`` while new messages are refused.
    var health: [String: PartHealth] {
        let store = room.refusal.map { PartHealth($0.status, $0.message) } ?? .ok
        return [ServiceHealth.storage: room.storageHealth, ServiceHealth.store: store].filter { $0.value != .ok }
    }

    func run() async throws {
        // The next insert gets the error as well, and logs it.
        let outage = OutageLog("the archive's size cannot be read", logger: logger) { _ in true }
        await RepeatingService(every: Self.period, outage: outage) { [store, room] in
            let (bytes, disk) = try await (store.size(), store.diskSpace())
            room.measured(bytes, on: disk)
        }.run()
    }
}

extension MessageStore {
    /// The item that is stored under the same keys, if there is one.
    func stored(_ item: OutboxItem) async throws -> OutboxItem? {
        switch item {
        case .message(let message):
            if let known = try await self.message(message.msiKey) { return .message(known) }
            guard let key = message.idempotencyKey else { return nil }
            return try await self.message(of: message.sender, idempotencyKey: key).map(OutboxItem.message)
        case .push(let push):
            return try await self.push(of: push.sender, idempotencyKey: push.idempotencyKey).map(OutboxItem.push)
        }
    }
}
