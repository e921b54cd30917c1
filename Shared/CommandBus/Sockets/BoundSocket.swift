import CSocketGuard
import CZeroMQ
import Logging
import Time

#if canImport(Glibc)
    import Glibc
#endif

/// A listening ZeroMQ socket: a service's ROUTER or a publisher's PUB.
///
/// It creates the listening system socket itself and lends it to ZeroMQ. So it can limit the peers (``PeerLimits``), and recreate
/// a Unix socket whose file was removed. The owner of the ZeroMQ socket owns it.
final class BoundSocket {
    let socket: ZeroMQSocket
    /// Its endpoint, with the port that the system chose.
    let endpoint: String
    private let limits: PeerLimits
    private let logger: Logger
    private var unixListener: UnixListener?
    /// The listening socket, which ZeroMQ closes.
    private var descriptor: Int32
    private var nextCheck: MonotonicMilliseconds = 0
    /// The number of old listening sockets without a file. They stay open, since ZeroMQ would close their connections with them
    /// and lose replies.
    private var replaced = 0
    /// Why the file could not be recreated. It is logged already.
    private var lastProblem: String?
    private var reported = PeerCounts()
    private var nextReport: MonotonicMilliseconds = 0
    /// The keys of its peers, if it has any.
    private let keyRing: KeyRing?
    private var knownRevocations = 0

    private static let maxReplaced = 16
    /// How often to look whether the file is in place.
    private static let checkInterval: Milliseconds = 1_000
    /// The minimum interval between log lines about refused connections.
    private static let reportInterval: Milliseconds = 10_000

    /// - Parameter configure: Sets the socket's options before it listens.
    init(
        _ type: Int32, at endpoint: String, context: ZeroMQContext, security: BusSecurity, limits: PeerLimits, logger: Logger,
        configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        let address = try Endpoint(endpoint)
        try security.check(address)
        var (limits, keyRing) = (limits, security.keyRing)
        let socket = try context.makeSocket(type)
        do throws(BusError) {
            try configure(socket)
            switch address {
            case .ipc(let path):
                let listener = try UnixListener(path: path)
                do throws(BusError) {
                    try Self.lend(listener.descriptor, to: socket, as: address.text, limits)
                } catch {
                    listener.release()
                    throw error
                }
                unixListener = listener
                descriptor = listener.descriptor
                self.endpoint = address.text
                keyRing = nil
            case .tcp(let host, let port):
                if let keyRing {
                    try socket.setKeys(ofServer: keyRing.own)
                    limits.isEncrypted()
                }
                descriptor = try TCPListener.listen(at: host, port: port, of: address)
                try Self.lend(descriptor, to: socket, as: "tcp://127.0.0.1:\(port)", limits)
                self.endpoint = try socket.lastEndpoint()
                keyRing?.listens(at: try Endpoint(self.endpoint))
                knownRevocations = keyRing?.revocations ?? 0
            }
        } catch {
            socket.close()
            throw error
        }
        self.socket = socket
        self.keyRing = keyRing
        self.limits = limits
        self.logger = logger
    }

    /// - Parameter endpoint: The endpoint. For a TCP socket ZeroMQ ignores it and asks the descriptor.
    private static func lend(
        _ descriptor: Int32, to socket: ZeroMQSocket, as endpoint: String, _ limits: PeerLimits
    ) throws(BusError) {
        do throws(BusError) {
            try limits.guardListener(descriptor)
            try socket.set(ZMQ_USE_FD, descriptor)
            try socket.bind(to: endpoint)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    // MARK: Time

    var nextTick: MonotonicMilliseconds { nextCheck }

    /// Checks the file, and logs refused connections.
    func tick(now: MonotonicMilliseconds) {
        guard nextCheck <= now else { return }
        nextCheck = now.next(Self.checkInterval)
        if let unixListener, !unixListener.isInPlace { listenAgain(instead: unixListener) }
        if let keyRing, keyRing.revocations != knownRevocations {
            knownRevocations = keyRing.revocations
            // ZeroMQ does not say which connection is whose. The peers that are still in the list connect again at once.
            msi_guard_end_connections(descriptor)
        }
        if nextReport <= now { report(now) }
    }

    private func listenAgain(instead old: UnixListener) {
        do throws(BusError) {
            let listener = try UnixListener(replacing: old)
            replaced += 1
            if replaced > Self.maxReplaced {
                socket.unbind(from: endpoint)
                replaced = 0
            }
            unixListener = listener
            descriptor = listener.descriptor
            reported = PeerCounts()
            do throws(BusError) {
                try Self.lend(descriptor, to: socket, as: endpoint, limits)
            } catch {
                // The next check finds the file missing, and tries again.
                listener.removeFile()
                throw error
            }
            logger.warning("the socket's file was removed, and is there again", metadata: ["endpoint": "\(endpoint)"])
            lastProblem = nil
        } catch {
            if error.message != lastProblem {
                logger.error("the socket's file was removed, and cannot be made anew", metadata: ["error": "\(error)"])
            }
            lastProblem = error.message
        }
    }

    private func report(_ now: MonotonicMilliseconds) {
        let counts = PeerCounts(of: descriptor)
        guard counts.refused != reported.refused || counts.dropped != reported.dropped else { return }
        logger.warning(
            "connections were refused, because there were too many, or closed, because they exceeded a limit",
            metadata: [
                "endpoint": "\(endpoint)", "connections": "\(counts.peers)", "refused": "\(counts.refused - reported.refused)",
                "closed": "\(counts.dropped - reported.dropped)",
            ])
        reported = counts
        nextReport = now + Self.reportInterval
    }

    /// Stops listening. Unsent messages are sent within the socket's LINGER.
    func close() {
        socket.close()
        unixListener?.release()
    }
}
