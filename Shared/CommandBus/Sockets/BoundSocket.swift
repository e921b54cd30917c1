import CZeroMQ

/// A socket that listens: a service's ROUTER, a publisher's PUB.
///
/// Owned by the thread that owns the socket.
final class BoundSocket {
    let socket: ZeroMQSocket
    /// Where it listens, with the port that the system chose.
    let endpoint: String
    private let listener: UnixListener?

    /// - Parameter configure: Sets the socket's options before it listens.
    init(
        _ type: Int32, at endpoint: String, context: ZeroMQContext, configure: (ZeroMQSocket) throws(BusError) -> Void
    ) throws(BusError) {
        let address = try Endpoint(endpoint)
        let socket = try context.makeSocket(type)
        do throws(BusError) {
            try configure(socket)
            switch address {
            case .ipc(let path):
                listener = try Self.lend(UnixListener(path: path), to: socket, as: address.text)
                self.endpoint = address.text
            case .tcp(.name(let name), _) where name != "localhost":
                throw BusError(.invalidEndpoint, "\(endpoint): expected a loopback address such as 127.0.0.1 to listen at, found a name")
            case .tcp(let host, let port):
                if case .address(let address) = host, address.hasPrefix("[") { try socket.set(ZMQ_IPV6, Int32(1)) }
                let address = Endpoint.tcp(host: host == .name("localhost") ? .address("127.0.0.1") : host, port: port)
                try socket.bind(to: address.text)
                listener = nil
                self.endpoint = try socket.lastEndpoint()
            }
        } catch {
            socket.close()
            throw error
        }
        self.socket = socket
    }

    private static func lend(
        _ listener: UnixListener, to socket: ZeroMQSocket, as endpoint: String
    ) throws(BusError) -> UnixListener {
        do {
            try socket.set(ZMQ_USE_FD, listener.descriptor)
            try socket.bind(to: endpoint)
        } catch {
            listener.abandon()
            throw error
        }
        return listener
    }

    /// Stops listening; messages that are not sent yet leave within the socket's LINGER.
    func close() {
        socket.close()
        listener?.release()
    }
}
