import FoundationEssentials
import TestSupport

/// RabbitMQ with one durable quorum queue on one node. Messages are persistent, and each is confirmed to the publisher.
///
/// The consumer gets up to 256 messages ahead, and acknowledges each.
struct RabbitMQQueue: DurableQueue {
    let name: String
    /// Whether each message in flight has a separate connection, as the clients of HTTP have. RabbitMQ is faster with one for all.
    let hasManyConnections: Bool
    let node: RabbitMQNode

    var processorTime: Double { get throws { node.server.processorTime } }
    var syncLogs: [SyncLog] { node.syncLogs }

    func run(inFlight: Int, seconds: Double) async throws -> QueueRun {
        let output = try await Peer(path: node.peers + "/drive_rabbitmq").output([
            "\(node.port)", "\(hasManyConnections ? inFlight : 1)", "\(inFlight)", "\(seconds)", node.bodyFile,
        ])
        let figures = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == 5 else { throw PeerFailure(description: "drive_rabbitmq printed: \(output)") }
        return QueueRun(
            messages: Int(figures[0]), acceptedSeconds: figures[1], seconds: figures[2],
            answer: Latency(p50: figures[3].twoDigits, p99: figures[4].twoDigits))
    }
}

/// A running node of RabbitMQ.
struct RabbitMQNode {
    let server: PeerServer
    let port: Int
    let bodyFile: String
    let peers: String
    let syncLogs: [SyncLog]

    /// The node's queue, with one connection for all messages, or one for each in flight.
    var queues: [RabbitMQQueue] {
        [
            RabbitMQQueue(name: "RabbitMQ", hasManyConnections: true, node: self),
            RabbitMQQueue(name: "RabbitMQ, 1 connection", hasManyConnections: false, node: self),
        ]
    }

    /// Runs a body with a new node.
    ///
    /// - Parameters:
    ///   - bodyFile: The file of a message.
    ///   - isTraced: Whether its syncs are counted.
    ///   - folder: The path of a new folder on a disk.
    static func with<Value>(
        bodyFile: String, isTraced: Bool, peers: String, in folder: String, _ body: (RabbitMQNode) async throws -> Value
    ) async throws -> Value {
        try PeerServer.makeFolder(folder)
        let tracer = isTraced ? SyncLog(file: folder + ".syncs") : nil
        let names = try FreePort.choose()
        // Without it RabbitMQ would start one that stays.
        let nameServer = try await PeerServer(
            ["/usr/bin/epmd", "-address", "127.0.0.1", "-port", "\(names)"], end: .kill, in: folder)
        return try await perform {
            try await eventually("epmd listens") { try Connections.isListening(on: names) }
            let port = try FreePort.choose()
            let server = try await start(port: port, names: names, tracer: tracer, in: folder)
            return try await perform {
                try await server.process.waitForLog { $0.contains("Server startup complete") ? () : nil }
                return try await body(
                    RabbitMQNode(
                        server: server, port: port, bodyFile: bodyFile, peers: peers, syncLogs: tracer.map { [$0] } ?? []))
            } finally: {
                try await server.stop()
            }
        } finally: {
            try await nameServer.stop()
        }
    }

    /// - Parameters:
    ///   - port: The port of its clients.
    ///   - names: The port of Erlang's name server.
    private static func start(port: Int, names: Int, tracer: SyncLog?, in folder: String) async throws -> PeerServer {
        let (configuration, plugins) = (folder + "/rabbitmq.conf", folder + "/plugins")
        try Data("listeners.tcp.1 = 127.0.0.1:\(port)\n".utf8).write(to: URL(filePath: configuration))
        try Data("[].\n".utf8).write(to: URL(filePath: plugins))
        let environment = [
            "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": "\(names)", "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_NODENAME": "benchmark@localhost", "RABBITMQ_MNESIA_BASE": folder + "/mnesia",
            "RABBITMQ_LOG_BASE": folder + "/log", "RABBITMQ_LOGS": "-", "RABBITMQ_CONFIG_FILE": configuration,
            "RABBITMQ_ENABLED_PLUGINS_FILE": plugins, "RABBITMQ_DIST_PORT": "\(try FreePort.choose())",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} -noinput",
            // Its script becomes the Erlang VM instead of waiting for it. Then the signal reaches the VM.
            "RABBITMQ_ALLOW_INPUT": "true",
        ]
        return try await PeerServer(
            ["/usr/lib/rabbitmq/bin/rabbitmq-server"], environment: environment, end: .kill, tracer: tracer, in: folder)
    }
}
