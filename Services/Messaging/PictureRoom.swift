import Base
import CoreMetrics
import Instruments
import Logging
import Schemas
import Store
import Synchronization

/// How much of their room the pictures take up, for the health, the portal and the operator. They count for the storage of the
/// service as well. An upload beyond it is refused in its transaction.
final class PictureRoom: Sendable {
    private static let name = "pictures"

    private let store: Storage
    private let rules: @Sendable () -> MessagingRules
    private let logger: Logger
    private let isNearlyFull = Mutex(false)

    init(store: Storage, rules: @escaping @Sendable () -> MessagingRules, logger: Logger) {
        self.store = store
        self.rules = rules
        self.logger = logger
    }

    /// - Returns: None while the store cannot be read, or does not answer within a second: the part of the store says that.
    func usage() async -> [StoreUsage] {
        let reading = Task { [self] in try? await total() }
        guard await reading.finishes(by: .now + .seconds(1)), let bytes = await reading.value else { return [] }
        let limit = rules().pictures
        Instrument.storeBytes.gauge(["store": Self.name]).set(bytes)
        Instrument.storeLimit.gauge(["store": Self.name]).set(limit)
        let usage = StoreUsage(
            name: Self.name, bytes: bytes, limit: limit, free: nil,
            percent: Int(min(Double(bytes) / Double(max(limit, 1)), 1) * 100))
        log(usage)
        return [usage]
    }

    private func total() async throws -> Int64 {
        try await store.get(PictureTotalDocument.id, from: MessagingStore.totals)?.bytes ?? 0
    }

    /// The part `pictures` from nine tenths on.
    func health() async -> [String: PartHealth] {
        guard let pictures = await usage().first, pictures.percent >= MessagingLimits.alarm else { return [:] }
        let text = "\(pictures.percent) % of the room for pictures are used; at 100 % uploads are refused"
        return [pictures.name: PartHealth(.storageFull, text)]
    }

    /// Logs one line when nine tenths are used, and one when there is room again.
    private func log(_ usage: StoreUsage) {
        let isFull = usage.percent >= MessagingLimits.alarm
        let hasChanged = isNearlyFull.withLock { known in
            defer { known = isFull }
            return known != isFull
        }
        guard hasChanged else { return }
        let figures: Logger.Metadata = ["bytes": "\(usage.bytes)", "percent": "\(usage.percent)"]
        if isFull {
            logger.warning("the room for pictures is nearly full", metadata: figures)
        } else {
            logger.info("there is room for pictures again", metadata: figures)
        }
    }
}
