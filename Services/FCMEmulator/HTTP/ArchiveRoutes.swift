import HTTPRouting
import Hummingbird
import Base
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

/// `/emulator/counts`: with these counts a test proves that no component was lost and none was accepted twice, at any volume.
struct CountRoutes: Sendable {
    /// How many doubled components the list shows.
    private static let maxDoubled = 1_000

    let store: EmulatorStore
    let answers: AnswerCounts
    let platforms: Adjustable<PlatformRules>

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "emulator/counts",
            [
                .get: { request, _ in
                    guard let key = request.queryParameters["msi_key"] else { return try await summary() }
                    return try await message(key)
                },
                .delete: { _, _ in
                    try await store.clearCounts()
                    answers.clear()
                    platforms.withLock { $0.clearCounts() }
                    return Response(status: .noContent)
                },
            ])
        router.resource("emulator/counts/doubled", [.get: { _, _ in try await doubled() }])
    }

    private func summary() async throws -> Response {
        let counts = try await store.sendCounts()
        let (demoted, throttled) = platforms.withLock { ($0.demoted, $0.throttled) }
        return Response(
            .ok,
            [
                "accepted": .integer(counts.accepted), "distinct": .integer(counts.distinct),
                "doubled": .integer(counts.doubled), "unkeyed": .integer(counts.unkeyed),
                "demoted": .integer(demoted), "throttled": .integer(throttled), "answers": answers.document,
            ])
    }

    private func message(_ msiKey: String) async throws -> Response {
        let counted = try await store.counted(msiKey: msiKey)
        let components = SentComponent.Component.allCases.map { component in
            JSONValue.Member(
                component.rawValue, .integer(counted.first { $0.component.component == component }?.sends ?? 0))
        }
        return Response(.ok, .object(components))
    }

    private func doubled() async throws -> Response {
        let list = try await store.doubled(limit: Self.maxDoubled).map { counted -> JSONValue in
            [
                "msi_key": .string(counted.component.msiKey), "component": .string(counted.component.component.rawValue),
                "sends": .integer(counted.sends),
            ]
        }
        return Response(.ok, .array(list))
    }
}
