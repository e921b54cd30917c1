import DequeModule
import HTTPRouting
import Hummingbird
import Base
import Logging
import NIOCore
import Schemas
import ServiceLifecycle

/// One phone's server-sent events: first the waiting messages, then new ones, until either side closes.
struct EventStream: Sendable {
    private static let batch = 100

    let device: Int64
    let platform: Platform
    let rules: Adjustable<PlatformRules>
    let fanOuts: Adjustable<FanOuts>
    /// The phone has received everything up to here.
    let position: Int64
    let backlog: EmulatorStore.Backlog
    let waker: OpenStreams.Waker
    let store: EmulatorStore
    /// The value of `from` in a message that was not sent to a topic.
    let sender: String
    let eventLoop: any EventLoop

    /// Writes events until the phone is unregistered, its connection breaks or the emulator stops.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let clock = ContinuousClock()
        var cursor = DeliveryCursor(after: position, now: clock.now)
        try await writer.write(ByteBuffer(string: ": open\n\n"))
        waker.wake()
        var timer: Scheduled<Void>?
        defer { timer?.cancel() }
        for await _ in waker.signals {
            guard try await writeWaiting(to: &writer, &cursor, clock) else { return }
            if cursor.takeHeartbeat(now: clock.now) {
                try await writer.write(ByteBuffer(string: ": still here\n\n"))
            }
            let pause = max(.milliseconds(1), clock.now.duration(to: cursor.nextWake))
            timer?.cancel()
            timer = eventLoop.scheduleTask(in: TimeAmount(pause)) { waker.wake() }
        }
    }

    /// Writes all waiting messages that are due.
    ///
    /// - Returns: Whether the phone is still registered.
    private func writeWaiting(
        to writer: inout any ResponseBodyWriter, _ cursor: inout DeliveryCursor, _ clock: ContinuousClock
    ) async throws -> Bool {
        var mayHaveMore = true
        while mayHaveMore {
            if let settled = cursor.takeSettled(now: clock.now) {
                try await store.confirm(settled, deliveredTo: device)
            }
            let waiting = try await store.waiting(
                for: device, after: cursor.position, backlog: backlog, now: .now(), limit: Self.batch)
            guard let waiting else { return false }
            let (count, next) = fanOuts.withLock { $0.due(waiting.messages, for: device, now: clock.now) }
            cursor.nextMessage = next
            // The position cannot skip a message, so one whose fan-out has not reached the phone also holds back the later ones.
            let through = next == nil ? waiting.through : waiting.messages[count].position - 1
            if count > 0 {
                let events = try events(waiting.messages.prefix(count))
                if events.readableBytes > 0 { try await writer.write(events) }
                cursor.wrote(through: through, now: clock.now)
            }
            cursor.skip(to: through)
            mayHaveMore = next == nil && waiting.mayHaveMore
        }
        return true
    }

    private func events(_ messages: ArraySlice<EmulatorStore.Stored>) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        for message in messages {
            let content = try PhoneContent(body: message.body, on: platform)
            let treatment = rules.withLock {
                $0.treatment(of: content, at: message.position, for: device, on: platform, now: .now())
            }
            guard treatment != .throttled else { continue }
            let event = content.event(
                name: message.name, from: message.topic.map { "/topics/\($0)" } ?? sender, sent: message.received,
                timeToLive: Seconds(message.expires - message.received), isDemoted: treatment == .demoted)
            buffer.write(id: "\(message.position)", data: event.utf8)
        }
        return buffer
    }
}

/// The position of one event stream: the next message to read, the written events, and those that count as delivered.
///
/// An event counts as delivered once its stream has stayed open for a second after the write. If the stream or the emulator
/// breaks earlier, the event is written again: delivery is at least once.
struct DeliveryCursor {
    static let settlingTime: Duration = .seconds(1)
    static let heartbeatInterval: Duration = .seconds(5)

    /// The stream has processed everything up to here.
    private(set) var position: Int64
    /// Writes that are not settled yet: the last position of each, in order.
    private var unsettled: Deque<(position: Int64, written: ContinuousClock.Instant)> = []
    private var lastWrite: ContinuousClock.Instant
    /// When a stored message reaches the phone that has not done so yet; `nil` without one.
    var nextMessage: ContinuousClock.Instant?

    init(after position: Int64, now: ContinuousClock.Instant) {
        self.position = position
        lastWrite = now
    }

    /// Notes that events up to a position were written.
    mutating func wrote(through position: Int64, now: ContinuousClock.Instant) {
        self.position = max(self.position, position)
        unsettled.append((position, now))
        lastWrite = now
    }

    /// Notes that there was nothing for the phone up to a position.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
    }

    /// Returns the position up to which everything has settled, if it has moved since the last call; otherwise `nil`.
    mutating func takeSettled(now: ContinuousClock.Instant) -> Int64? {
        let settled = unsettled.prefix { now - $0.written >= Self.settlingTime }
        unsettled.removeFirst(settled.count)
        return settled.last?.position
    }

    /// Whether a heartbeat is due because of silence. If so, it counts as written.
    mutating func takeHeartbeat(now: ContinuousClock.Instant) -> Bool {
        guard now - lastWrite >= Self.heartbeatInterval else { return false }
        lastWrite = now
        return true
    }

    /// When the next settling, heartbeat or message is due.
    var nextWake: ContinuousClock.Instant {
        let heartbeat = lastWrite + Self.heartbeatInterval
        let wake = unsettled.first.map { min($0.written + Self.settlingTime, heartbeat) } ?? heartbeat
        return nextMessage.map { min($0, wake) } ?? wake
    }
}
