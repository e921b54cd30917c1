import CommandBus
import Logging
import NIOCore
import Schemas
import ServiceLifecycle
import Synchronization
import Time

/// Answers what phones fetch from a copy of the accepted messages and of the Alerts that wait for FCM: after an Alert thousands of
/// phones ask within seconds, each from another place. The message log could answer a few hundred of them a second, while posts wait
/// for it.
///
/// The copy is at most ``freshness`` old when it is used. What it does not contain, the message log answers: while the copy is being
/// filled, if it does not reach back far enough, if the message log is of an earlier version, and if it is away.
final class AcceptedMessages: Service {
    private struct State {
        var copy: AcceptedCopy
        /// When the last successful look for new messages has begun.
        var looked: ContinuousClock.Instant?
        var looking: Task<Bool, Never>?
        /// Whether the last complete reading has failed.
        var hasFailed = false
    }

    /// How old the copy may be.
    private static let freshness = Duration.milliseconds(250)
    /// The time between two complete readings of the last minute.
    private static let period = Duration.seconds(10)
    /// The time until the next one if the message log is away.
    private static let retryPause = Duration.seconds(1)

    private let messageLog: CommandClient
    private let logger: Logger
    private let state: Mutex<State>

    init(messageLog: CommandClient, logger: Logger) {
        self.messageLog = messageLog
        self.logger = logger
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
        let (isFresh, looking) = state.withLock { state -> (Bool, Task<Bool, Never>?) in
            guard state.copy.next != nil, !state.hasFailed else { return (false, nil) }
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

    /// Adds the messages after a place, and takes over the Alerts beside the last page.
    ///
    /// - Returns: The horizon when the reading began.
    /// - Throws: ``CommandFailure``.
    private func read(after place: PageCursor) async throws -> PageCursor {
        var asked = ContinuousClock.now
        var page = try await messageLog.request(FollowAccepted(after: place))
        let horizon = page.horizon
        try state.withLock { [page] in try $0.copy.add(page.messages) }
        while let place = page.end {
            asked = .now
            page = try await messageLog.request(FollowAccepted(after: place))
            try state.withLock { [page] in try $0.copy.add(page.messages) }
        }
        // A message log of an earlier version tells none.
        let (waiting, recalled) = (page.waiting ?? [], page.recalled ?? [])
        try state.withLock { [asked] in try $0.copy.replaceAlerts(waiting: waiting, recalled: recalled, asked: asked) }
        return horizon
    }

    /// Fills the copy, and then reads the last minute again and again, for messages that were stored later than others with later
    /// places.
    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var pause = Self.period
            repeat {
                do {
                    // From the end of the former complete reading on.
                    let horizon = try await read(after: state.withLock { $0.copy.next ?? $0.copy.begin })
                    let isFirst = state.withLock { state in
                        defer { state.copy.complete(to: horizon, now: .now) }
                        return state.copy.next == nil
                    }
                    if isFirst { logger.info("phones are answered from a copy", metadata: ["messages": "\(count)"]) }
                    state.withLock { $0.hasFailed = false }
                    pause = Self.period
                } catch {
                    // The health of the hub tells that the message log is away, and its answers to phones do.
                    state.withLock { $0.hasFailed = true }
                    pause = Self.retryPause
                    logger.debug("the accepted messages cannot be read", metadata: ["error": "\(error)"])
                }
            } while (try? await Task.sleep(for: pause)) != nil
        }
    }

    private var count: Int { state.withLock { $0.copy.count } }
}
