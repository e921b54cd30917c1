import Hummingbird
import JSON
import Logging
import NIOCore
import Schemas
import ServiceLifecycle
import Time

/// One phone's server-sent events: first the waiting messages, then new ones, until either side closes.
struct EventStream: Sendable {
    private static let batch = 100

    let device: Int64
    let platform: Platform
    let rules: Adjustable<PlatformRules>
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

    /// Writes all waiting messages.
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
            if !waiting.messages.isEmpty {
                let events = try events(waiting.messages)
                if events.readableBytes > 0 { try await writer.write(events) }
                cursor.wrote(through: waiting.through, now: clock.now)
            }
            cursor.skip(to: waiting.through)
            mayHaveMore = waiting.mayHaveMore
        }
        return true
    }

    private func events(_ messages: [EmulatorStore.Stored]) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        for message in messages {
            let content = try PhoneContent(body: message.content, on: platform)
            let treatment = rules.withLock {
                $0.treatment(of: content, at: message.position, for: device, on: platform, now: .now())
            }
            guard treatment != .throttled else { continue }
            let event = content.event(
                name: message.name, from: message.topic.map { "/topics/\($0)" } ?? sender, sent: message.received,
                timeToLive: Seconds(message.expires - message.received), isDemoted: treatment == .demoted)
            buffer.writeString("id: \(message.position)\ndata: ")
            buffer.writeBytes(event.utf8)
            buffer.writeString("\n\n")
        }
        return buffer
    }
}
