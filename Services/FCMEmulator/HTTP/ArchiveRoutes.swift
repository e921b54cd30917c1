import HTTPRouting
import Hummingbird
import JSON
import NIOCore

/// `/emulator/messages` and `/emulator/status`: tests read here which messages FCM was sent.
struct ArchiveRoutes: Sendable {
    private static let page = 200

    let archive: Adjustable<ArchiveLimit>
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "emulator/messages",
            [
                .get: { request, _ in try await list(topic: request.queryParameters["topic"]) },
                .delete: { _, _ in
                    try await store.clearArchive(now: .now())
                    return Response(status: .noContent)
                },
            ])
        router.resource("emulator/status", [.get: { _, _ in try await status() }])
    }

    /// Streams all accepted sends as one JSON array. The store is read page by page.
    private func list(topic: String?) async throws -> Response {
        let span = try await store.archiveSpan(keeping: archive.withLock(\.keep))
        let body = ResponseBody { writer in
            var after = span.after
            var buffer = ByteBuffer(string: "[")
            var separator = "\n"
            while true {
                let messages = try await store.archive(
                    .init(after: after, through: span.through), topic: topic, limit: Self.page)
                for message in messages {
                    buffer.writeString(separator)
                    separator = ",\n"
                    Self.write(message, to: &buffer)
                    after = message.position
                }
                guard messages.count == Self.page else { break }
                try await writer.write(buffer)
                buffer.clear()
            }
            buffer.writeString("\n]\n")
            try await writer.write(buffer)
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/json; charset=UTF-8"], body: body)
    }

    /// Writes the body unchanged: it was checked to be JSON when it was accepted.
    private static func write(_ message: EmulatorStore.Stored, to buffer: inout ByteBuffer) {
        let name = JSONValue.string(message.name).text
        buffer.writeString("{\"name\":\(name),\"received_at\":\(message.received),\"body\":")
        buffer.writeBytes(message.body)
        buffer.writeString("}")
    }

    private func status() async throws -> Response {
        let span = try await store.archiveSpan(keeping: archive.withLock(\.keep))
        let population = try await store.population()
        return Response(
            .ok,
            [
                "accepted": .integer(span.count), "devices": .integer(population.devices),
                "subscriptions": .integer(population.subscriptions), "open_streams": .integer(streams.count),
            ])
    }
}
