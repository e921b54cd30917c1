import Foundation
import Hummingbird
import Logging
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The HTTP server on a socket of the service manager.
@Suite("Passed sockets", .timeLimit(.minutes(10)))
struct PassedSocketTests {
    @Test("Each connection is answered while one server after another stops")
    func replaced() async throws {
        let listening = try ListeningDescriptor()
        let clients = Clients()
        try await withThrowingTaskGroup { group in
            for _ in 0..<16 {
                group.addTask {
                    while !clients.areDone.load(ordering: .relaxed) {
                        let answer = try await HTTPConversation.send(HTTPConversation.request("GET", "/"), to: listening.port)
                        #expect(answer?.status == 200)
                        clients.answers.add()
                    }
                }
            }
            for _ in 0..<40 {
                let before = clients.answers.count
                let server = PassedServer(on: try listening.copy())
                try await eventually("answers of this server") {
                    clients.answers.count > before + 20
                }
                try await server.stop()
            }
            // For the connections that wait in the socket.
            let last = PassedServer(on: try listening.copy())
            clients.areDone.store(true, ordering: .relaxed)
            try await group.waitForAll()
            try await last.stop()
        }
    }
}

/// What the clients of the test share.
private final class Clients: Sendable {
    let answers = Counter()
    let areDone = Atomic<Bool>(false)
}

/// A socket that listens as long as the test runs, as that of systemd does.
private final class ListeningDescriptor: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, listen(descriptor, 1_024) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = try PassedSocket(descriptor: descriptor).port
    }

    deinit { close(descriptor) }

    /// What a service gets.
    func copy() throws -> PassedSocket { try PassedSocket(descriptor: dup(descriptor)) }
}

/// A gateway's server that answers each request with 200.
private struct PassedServer {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    init(on socket: PassedSocket) {
        let limit = ConnectionLimit(maxConnections: 500, maxPerAddress: 500, logger: quietLogger)
        let responder = GatewayResponder(
            CallbackResponder<GatewayContext> { _, _ in Response(status: .ok) }, logger: quietLogger)
        let server = PassedSocketServer(
            socket: socket,
            connections: GatewayChannel(
                // On a busy machine a client needs its time from the connection to the request.
                responder: responder.respond, limit: limit, timeouts: ConnectionTimeouts(stopping: .seconds(60)),
                certificate: nil, security: SecurityHeaders(isPublic: false)),
            onServerRunning: { _ in }, logger: quietLogger)
        let group = ServiceGroup(configuration: .init(services: [server], logger: quietLogger))
        self.group = group
        running = Task { try await group.run() }
    }

    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
