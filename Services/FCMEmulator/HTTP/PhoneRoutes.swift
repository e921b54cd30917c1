import FCM
import HTTPRouting
import HTTPTypes
import Hummingbird
import Base
import ServiceLifecycle

/// `/emulator/devices`: the actions of a phone: register, listen, unregister. The real FCM has no server API for them. No access
/// token is required; the emulator listens on loopback only.
struct PhoneRoutes: Sendable {
    private static let maxBodyBytes = 1_024
    private static let registration = FCMForm("emulator.Device", ["platform": .choice(Platform.self)])

    let sender: String
    let rules: Adjustable<PlatformRules>
    let fanOuts: Adjustable<FanOuts>
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource("emulator/devices", [.post: { request, _ in try await register(request) }])
        router.resource(
            "emulator/devices/:token",
            [.delete: { _, context in try await unregister(try context.pathParameter("token")) }])
        router.resource(
            "emulator/devices/:token/events",
            [.get: { request, context in try await listen(request, context, try context.pathParameter("token")) }])
    }

    /// Registers a phone. Its platform is Android unless the body says otherwise.
    private func register(_ request: Request) async throws -> Response {
        let body = try await request.bytes(max: Self.maxBodyBytes)
        let document = body.isEmpty ? [:] : try JSONValue(requestBody: body)
        let fields = ControlFields(try FormReader.read(document, as: Self.registration, repeats: .refused))
        let token = RegistrationToken.new(for: fields.choice("platform") ?? .android)
        try await store.register(token: token)
        return Response(.created, ["token": .string(token)], headers: [.location: "/emulator/devices/\(token)"])
    }

    private func unregister(_ token: String) async throws -> Response {
        guard let device = try await store.unregister(token: token) else { throw Self.unknownDevice }
        streams.wake(.devices([device]))
        return Response(status: .noContent)
    }

    private func listen(_ request: Request, _ context: EmulatorRequestContext, _ token: String) async throws -> Response {
        let resumeAfter = try Self.lastEventID(of: request)
        guard let listener = try await store.listener(token: token) else { throw Self.unknownDevice }
        let body = ResponseBody { writer in
            let waker = OpenStreams.Waker()
            let id = streams.open(waker, of: listener.device)
            defer { streams.close(id, of: listener.device) }
            // The stream is listed now, so every later change reaches it. This second lookup sees all earlier ones.
            if let current = try await store.listener(token: token) {
                streams.subscribe(current.device, to: current.topics)
                // An id above the last one would hide later messages.
                let position = resumeAfter.map { min($0, current.last) } ?? current.delivered
                let stream = EventStream(
                    device: current.device, platform: RegistrationToken.platform(of: token), rules: rules, fanOuts: fanOuts,
                    position: position,
                    backlog: try await store.backlog(for: current.device, after: position, through: current.last), waker: waker,
                    store: store, sender: sender, eventLoop: context.eventLoop)
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await withGracefulShutdownHandler {
                        try await stream.write(to: &writer)
                    } onGracefulShutdown: {
                        waker.finish()
                    }
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: ServerSentEvent.contentType, .cacheControl: "no-store"], body: body)
    }

    /// Where the phone's stream resumes: the header `Last-Event-ID`, or the query parameter for clients without it.
    private static func lastEventID(of request: Request) throws -> Int64? {
        let sent =
            request.headers.first { $0.name.canonicalName == "last-event-id" }?.value
            ?? request.queryParameters["last_event_id"]
        guard let sent, !sent.isEmpty else { return nil }
        guard let id = Int64(sent), id >= 0 else {
            throw GoogleError.invalidArgument("Last-Event-ID: expected the id of an event, found \"\(sent.prefix(40))\"")
        }
        return id
    }

    private static let unknownDevice = GoogleError.notFound("No such device: it never registered, or has unregistered.")
}
