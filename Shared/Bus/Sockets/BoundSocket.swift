import CZeroMQ
import Logging
import Base

#if canImport(Glibc)
    import Glibc
#endif

/// A listening ZeroMQ socket: a service's ROUTER or a publisher's PUB.
///
/// It creates the listening system socket itself and lends it to ZeroMQ. So it can recreate a Unix socket whose file was removed,
/// and end the connections of a TCP port that it keeps. The owner of the ZeroMQ socket owns it.
final class BoundSocket {
    private enum Listener {
        /// `replaced` counts the old listening sockets without a file. They stay open, since ZeroMQ would close their connections with
        /// them and lose replies.
        case ipc(UnixListener, replaced: Int)
        case tcp(TCPListener)
        /// `revocations` counts the revocations of keys at the time when its connections were last ended.
        case encrypted(TCPListener, KeyRing, revocations: Int)
    }

    let socket: ZeroMQSocket
    /// Its endpoint, with the port that the system chose.
    let endpoint: String
    private let logger: Logger
    private var listener: Listener
    private var nextCheck: MonotonicMilliseconds = 0
    /// Why it cannot listen again. It is logged already.
    private var lastProblem: String?

    private static let maxReplaced = 16
    /// How often to look whether the file is in place, and whether keys were revoked.
    private static let checkInterval: Milliseconds = 1_000

    /// - Parameter configure: Sets the socket's options before it listens.
    init(
        _ type: Int32, at endpoint: String, context: ZeroMQContext, security: BusSecurity, logger: Logger,
        configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        let address = try Endpoint(endpoint)
        try security.check(address)
        let socket = try context.makeSocket(type)
        do throws(BusError) {
            try configure(socket)
            switch address {
            case .ipc(let path):
                let unix = try UnixListener(path: path)
                listener = .ipc(unix, replaced: 0)
                do throws(BusError) {
                    try socket.listen(with: unix.descriptor, at: address.text)
                } catch {
                    unix.release()
                    throw error
                }
                self.endpoint = address.text
            case .tcp(let host, let port):
                if let keyRing = security.keyRing { try socket.setKeys(ofServer: keyRing.own) }
                let tcp = try TCPListener(at: host, port: port, of: address)
                listener = security.keyRing.map { .encrypted(tcp, $0, revocations: $0.revocations) } ?? .tcp(tcp)
                do throws(BusError) {
                    try socket.listen(with: tcp.copy(), at: TCPListener.anyEndpoint)
                    self.endpoint = try socket.lastEndpoint()
                    security.keyRing?.listens(at: try Endpoint(self.endpoint))
                } catch {
                    tcp.close()
                    throw error
                }
            }
        } catch {
            socket.close()
            throw error
        }
        self.socket = socket
        self.logger = logger
    }

    // MARK: Time

    var nextTick: MonotonicMilliseconds { nextCheck }

    /// Listens again if the file was removed, or if connections must end.
    func tick(now: MonotonicMilliseconds) {
        guard nextCheck <= now else { return }
        nextCheck = now.next(Self.checkInterval)
        do throws(BusError) {
            switch listener {
            case .ipc(let old, let replaced) where !old.isInPlace:
                try listenAgain(instead: old, replaced: replaced + 1)
            case .encrypted(let tcp, let keyRing, let known) where keyRing.revocations != known:
                try endConnections(of: tcp, keyRing)
            case .ipc, .tcp, .encrypted: break
            }
            lastProblem = nil
        } catch {
            // The next check tries again.
            if error.message != lastProblem {
                logger.error("a service cannot listen again", metadata: ["endpoint": "\(endpoint)", "error": "\(error)"])
            }
            lastProblem = error.message
        }
    }

    private func listenAgain(instead old: UnixListener, replaced: Int) throws(BusError) {
        let new = try UnixListener(replacing: old)
        if replaced > Self.maxReplaced { socket.unbind(from: endpoint) }
        listener = .ipc(new, replaced: replaced > Self.maxReplaced ? 0 : replaced)
        do throws(BusError) {
            try socket.listen(with: new.descriptor, at: endpoint)
        } catch {
            new.removeFile()
            throw error
        }
        logger.warning("the socket's file was removed, and is there again", metadata: ["endpoint": "\(endpoint)"])
    }

    /// ZeroMQ does not say which connection is whose, but ends all of a listening socket that it gives up. The peers that are still
    /// in the list connect again at once.
    private func endConnections(of tcp: TCPListener, _ keyRing: KeyRing) throws(BusError) {
        let revocations = keyRing.revocations
        socket.unbind(from: endpoint)
        try socket.listen(with: tcp.copy(), at: TCPListener.anyEndpoint)
        listener = .encrypted(tcp, keyRing, revocations: revocations)
    }

    /// Stops listening. Unsent messages are sent within the socket's LINGER.
    func close() {
        socket.close()
        switch listener {
        case .ipc(let unix, _): unix.release()
        case .tcp(let tcp), .encrypted(let tcp, _, _): tcp.close()
        }
    }
}

extension ZeroMQSocket {
    /// Listens with a listening system socket, which ZeroMQ closes. After a failure it is closed already.
    fileprivate func listen(with descriptor: Int32, at endpoint: String) throws(BusError) {
        do throws(BusError) {
            try set(ZMQ_USE_FD, descriptor)
            try bind(to: endpoint)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }
}

/// The listening socket of a `tcp://` endpoint. ZeroMQ gets copies of the descriptor (`ZMQ_USE_FD`), so that the port stays taken
/// when ZeroMQ closes one with all its connections.
struct TCPListener {
    private let descriptor: Int32

    /// For a lent descriptor, ZeroMQ asks the system for the address.
    static let anyEndpoint = "tcp://127.0.0.1:1"

    /// - Parameter host: An address or `localhost`.
    init(at host: Endpoint.Host, port: UInt16, of endpoint: Endpoint) throws(BusError) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(try Self.address(of: host, endpoint), String(port), &hints, &list)
        guard code == 0, let list else {
            throw BusError(.invalidEndpoint, "\(endpoint.text): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        let type = list.pointee.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(list.pointee.ai_family, type, 0)
        var yes: Int32 = 1
        guard descriptor >= 0, setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
            bind(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let fault = ZeroMQFault(number: errno)
            if descriptor >= 0 { Glibc.close(descriptor) }
            if fault.isAddressInUse { throw BusError(.addressInUse, "\(endpoint.text): another process listens there") }
            let problem = fault.number == EADDRNOTAVAIL ? "this machine has no such address" : "cannot listen: \(fault)"
            throw BusError(.system, "\(endpoint.text): \(problem)")
        }
    }

    /// Another descriptor of the socket, for ZeroMQ to close.
    func copy() throws(BusError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw BusError(.system, "cannot listen: \(ZeroMQFault(number: errno))") }
        return copy
    }

    func close() {
        Glibc.close(descriptor)
    }

    private static func address(of host: Endpoint.Host, _ endpoint: Endpoint) throws(BusError) -> String {
        switch host {
        case .name("localhost"): return "127.0.0.1"
        case .name:
            throw BusError(
                .invalidEndpoint,
                "\(endpoint.text): expected an address of this machine to listen at, or 0.0.0.0 for all of them, found a name")
        case .address(let address): return address.hasPrefix("[") ? String(address.dropFirst().dropLast()) : address
        }
    }
}
