import Bus
import Logging
import NIOCore
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization
import Base

/// Answers what phones fetch from a copy of the accepted messages and of the Alerts that wait for FCM: after an Alert thousands of
/// phones ask within seconds, each with another cursor. The message log could answer a few hundred of them a second, while posts wait
/// for it.
///
/// The copy is at most ``freshness`` old when it is used. What it does not contain, the message log answers: while the copy is being
/// filled, if it does not reach back far enough, and if the message log does not answer.
final class AcceptedMessages: Service {
    private struct State {
        var copy: AcceptedCopy
        /// When the last successful look for new messages has begun.
        var looked: ContinuousClock.Instant?
        var looking: Task<Bool, Never>?
    }

    /// How old the copy may be.
    private static let freshness = Duration.milliseconds(250)
    /// The time between two complete readings of the last minute.
    private static let period = Duration.seconds(10)
    /// A minute of very many messages is read less often, since each of them is read again: this is the pause for each. It does not depend
    /// on how long the reading takes: while the store is slow, more messages than usual are stored after others that follow them.
    private static let pausePerMessage = Duration.microseconds(500)
    private static let maxPause = Duration.seconds(60)
    /// The time until the next one if the message log does not answer.
    private static let retryPause = Duration.seconds(1)

    private let messageLog: CommandClient
    private let logger: Logger
    private let state: Mutex<State>
    /// Logs nothing: the hub's health and its answers to phones already show that the message log does not answer.
    private let outage: OutageLog

    init(messageLog: CommandClient, logger: Logger) {
        self.messageLog = messageLog
        self.logger = logger
        outage = OutageLog("the accepted messages cannot be read", logger: logger) { _ in true }
        state = Mutex(State(copy: AcceptedCopy(from: PageCursor(before: .now - ReadAccepted.reach))))
    }

    /// The answer to a phone.
    ///
    /// - Returns: `nil` if the message log has to answer.
    func answer(to command: ReadAccepted) async -> ByteBuffer? {
        guard await isFresh() else { return nil }
        return state.withLock { $0.copy.page(command, now: .now) }?.json
    }

    /// Looks for new messages if the last look was a while ago. Concurrent callers share one look.
    private func isFresh() async -> Bool {
        if outage.isOngoing { return false }
        let (isFresh, looking) = state.withLock { state -> (Bool, Task<Bool, Never>?) in
            guard state.copy.next != nil else { return (false, nil) }
            if let looked = state.looked, .now - looked < Self.freshness { return (true, nil) }
            if state.looking == nil { state.looking = Task { await self.look() } }
            return (false, state.looking)
        }
        return await looking?.value ?? isFresh
    }

    /// - Returns: Whether the copy contains what was stored before the call.
    private func look() async -> Bool {
        let begin = ContinuousClock.now
        let isComplete = (try? await read(after: state.withLock { $0.copy.tail })) != nil
        state.withLock { state in
            if isComplete { state.looked = begin }
            state.looking = nil
        }
        return isComplete
    }

    /// Adds the messages after a cursor, and takes over the Alerts beside the last page.
    ///
    /// - Returns: The watermark when the reading began, and how many messages were read.
    /// - Throws: ``CommandFailure``.
    private func read(after cursor: PageCursor) async throws -> (watermark: PageCursor, count: Int) {
        var asked = ContinuousClock.now
        var page = try await messageLog.request(FollowAccepted(after: cursor))
        let watermark = page.watermark
        var count = page.messages.count
        try state.withLock { [page] in try $0.copy.add(page.messages) }
        while let cursor = page.end {
            asked = .now
            page = try await messageLog.request(FollowAccepted(after: cursor))
            count += page.messages.count
            try state.withLock { [page] in try $0.copy.add(page.messages) }
        }
        let (waiting, recalled) = (page.waiting ?? [], page.recalled ?? [])
        try state.withLock { [asked] in try $0.copy.replaceAlerts(waiting: waiting, recalled: recalled, asked: asked) }
        return (watermark, count)
    }

    /// Fills the copy, and then reads the last minute periodically, for messages that were stored after others that follow them in the
    /// acceptance order.
    func run() async throws {
        await RepeatingService(every: Self.period, retries: .constant(Self.retryPause), outage: outage, from: ()) { [self] _ in
            // From the end of the last complete reading on.
            let (watermark, number) = try await read(after: state.withLock { $0.copy.next ?? $0.copy.begin })
            let isFirst = state.withLock { state in
                defer { state.copy.complete(to: watermark, now: .now) }
                return state.copy.next == nil
            }
            if isFirst { logger.info("phones are answered from a copy", metadata: ["messages": "\(count)"]) }
            let pause = min(Self.pausePerMessage * number, Self.maxPause)
            return isFirst || pause <= Self.period ? .periodic : .after(pause)
        }.run()
    }

    private var count: Int { state.withLock { $0.copy.count } }
}
