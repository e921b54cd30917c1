import Logging
import Archive
import Schemas
import ServiceKit
import ServiceLifecycle
import Base

/// Removes archived messages and pushes after the operator's retention time, in small batches, so that other
/// operations wait only briefly.
struct Retention: Service {
    let store: any MessageStore
    /// For how many days a message is kept; 0 means forever.
    let days: LiveSetting<Int>
    /// The origin of the canary's messages, which are kept only as long as the canary needs them.
    let canary: MessageOrigin?
    let logger: Logger

    /// The interval of searches for old messages.
    private static let period = Duration.seconds(60)
    /// The size of a batch, and the pause after it.
    private static let batch = 200
    private static let pause = Duration.milliseconds(50)
    /// For how long blocks of Web Push are kept, and pushes to persons. A message to all has a block for each 500 browsers.
    private static let blockAge = Milliseconds.seconds(86_400)
    /// Longer than the canary waits for a message.
    private static let canaryAge = Milliseconds.seconds(3_600)

    func run() async throws {
        let outage = OutageLog("old messages cannot be removed", logger: logger)
        await RepeatingService(every: Self.period, outage: outage, from: false) { isCanaryKnown in
            // A failure of one removal must not prevent the other one.
            var failure: (any Error)?
            do {
                try await removeOfAge()
            } catch {
                failure = error
            }
            do {
                try await removeOldBlocks()
            } catch {
                failure = failure ?? error
            }
            try await removeOfCanary(isKnown: &isCanaryKnown)
            if let failure { throw failure }
            return .periodic
        }.run()
    }

    private func removeOfAge() async throws {
        let days = days.value
        guard days > 0 else { return }
        var count = 0
        defer { if count > 0 { logger.info("old messages removed", metadata: ["count": "\(count)"]) } }
        try await removeOld(.seconds(Int64(days) * 86_400), counting: &count)
    }

    private func removeOldBlocks() async throws {
        let moment = UnixMilliseconds.now - Self.blockAge
        while try await store.removeBlocks(endedBefore: moment, limit: Self.batch) > 0 { try await Task.sleep(for: Self.pause) }
    }

    private func removeOfCanary(isKnown: inout Bool) async throws {
        guard let canary else { return }
        var count = 0
        defer {
            if count > 0 {
                // They are one each minute. The first line tells the operator that messages of this topic do not stay.
                logger.log(
                    level: isKnown ? .debug : .notice, "old messages of the canary removed",
                    metadata: ["count": "\(count)", "topic": "\(canary.topic)", "sender": "\(canary.sender)"])
                isKnown = true
            }
        }
        try await removeOld(Self.canaryAge, of: canary, counting: &count)
    }

    /// - Parameter removed: Counts the removed ones, even if the removal fails later.
    private func removeOld(_ age: Milliseconds, of origin: MessageOrigin? = nil, counting removed: inout Int) async throws {
        let moment = UnixMilliseconds.now - age
        while case let count = try await store.removeArchived(of: origin, before: moment, limit: Self.batch), count > 0 {
            removed += count
            try await Task.sleep(for: Self.pause)
        }
    }
}
