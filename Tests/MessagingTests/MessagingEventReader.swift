import Base
import Bus
import Schemas
import TestSupport
import Testing

/// A reader of the events of persons, after a moment at which the subscription works.
struct MessagingEventReader {
    /// Of the service: otherwise the messages that show that the subscription works would be limited.
    static let settings = ["MSI_MESSAGING_PER_MINUTE": "6000"]

    private var iterator: AsyncStream<PersonChanged>.Iterator
    private var last: PersonChanged

    init(_ messaging: RunningMessaging) async throws {
        let subscriber = try EventSubscriber(
            bus: messaging.bus, endpoints: ["ipc://\(messaging.folder)/run/messaging-events.sock"], names: [PersonChanged.name],
            logger: quietLogger)
        let (stream, continuation) = AsyncStream<PersonChanged>.makeStream()
        Task {
            for await event in subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                continuation.yield(try JSONCoder.decode(from: payload))
            }
            continuation.finish()
        }
        // Makes events until one comes.
        let probe = messaging.person("probe-a")
        let repeats = Task {
            while !Task.isCancelled {
                try await probe.send("probe", to: "probe-b")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        iterator = stream.makeAsyncIterator()
        last = try #require(await iterator.next(isolation: #isolation))
        repeats.cancel()
        _ = await repeats.result
    }

    /// The next events as texts, such as `ann 6b01…`, sorted, without those of the probe. Their numbers have no gap.
    mutating func next(_ count: Int) async throws -> [String] {
        var found: [String] = []
        while found.count < count {
            let event = try #require(await iterator.next(isolation: #isolation))
            #expect(event.epoch == last.epoch && event.number == last.number + 1)
            last = event
            guard !event.account.key.hasPrefix("probe") else { continue }
            #expect(event.kind == "messages")
            found.append("\(event.account.key) \(event.id ?? "none")")
        }
        return found.sorted()
    }
}
