import CZeroMQ
import FoundationEssentials
import Synchronization
import Base

#if canImport(Glibc)
    import Glibc
#endif

/// One ZeroMQ socket.
///
/// Only one thread uses it at a time: first its creator, then the bus thread. The work queue's lock is the memory barrier that
/// ZeroMQ requires. No call blocks.
final class ZeroMQSocket {
    private let socket: UnsafeMutableRawPointer
    /// A reusable message for received frames.
    private let frame: UnsafeMutablePointer<zmq_msg_t>
    private(set) var isClosed = false

    init(owning socket: UnsafeMutableRawPointer) {
        self.socket = socket
        frame = .allocate(capacity: 1)
        zmq_msg_init(frame)
    }

    deinit {
        assert(isClosed, "a ZeroMQ socket must be closed")
        zmq_msg_close(frame)
        frame.deallocate()
    }

    /// Closes the socket. Unsent messages are sent within its LINGER.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        zmq_close(socket)
    }

    // MARK: Options

    func set(_ option: Int32, _ value: Int32) throws(BusError) {
        let code = withUnsafeBytes(of: value) { zmq_setsockopt(socket, option, $0.baseAddress, $0.count) }
        try check(code, "option \(option)")
    }

    func set(_ option: Int32, _ value: Int64) throws(BusError) {
        let code = withUnsafeBytes(of: value) { zmq_setsockopt(socket, option, $0.baseAddress, $0.count) }
        try check(code, "option \(option)")
    }

    func set(_ option: Int32, _ text: String) throws(BusError) {
        var text = text
        let code = text.withUTF8 { zmq_setsockopt(socket, option, $0.baseAddress, $0.count) }
        try check(code, "option \(option)")
    }

    /// The address of the last ``bind(to:)``, with the port that the system chose.
    func lastEndpoint() throws(BusError) -> String {
        var size = 512
        var code: Int32 = 0
        let text = withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
            code = zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, buffer.baseAddress, &size)
            return String(decoding: buffer.prefix(max(size - 1, 0)), as: UTF8.self)
        }
        try check(code, "the bound address")
        return text
    }

    /// Processes the commands of ZeroMQ's I/O thread for this socket, such as a new subscription.
    ///
    /// A send does this too, but at most once a millisecond. It would miss a newer subscriber.
    func catchUp() {
        var events: Int32 = 0
        var size = MemoryLayout<Int32>.size
        zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size)
    }

    // MARK: Connections

    func bind(to endpoint: String) throws(BusError) {
        guard zmq_bind(socket, endpoint) != 0 else { return }
        let fault = ZeroMQFault.last
        throw BusError(fault.isAddressInUse ? .addressInUse : .system, "\(endpoint): cannot listen: \(fault)")
    }

    /// Stops listening at an endpoint. Has no effect if the socket does not listen there.
    func unbind(from endpoint: String) {
        zmq_unbind(socket, endpoint)
    }

    func connect(to endpoint: String) throws(BusError) {
        guard zmq_connect(socket, endpoint) != 0 else { return }
        throw BusError(.invalidEndpoint, "\(endpoint): cannot connect: \(ZeroMQFault.last)")
    }

    /// Drops a connection with all messages that are not sent or not received yet. Has no effect without a connection.
    func disconnect(from endpoint: String) {
        zmq_disconnect(socket, endpoint)
    }

    /// Reports the given events of this socket's connections at an `inproc://` address.
    func monitor(at address: String, events: Int32) throws(BusError) {
        try check(zmq_socket_monitor(socket, address, events), "the monitor")
    }

    func stopMonitor() {
        zmq_socket_monitor(socket, nil, 0)
    }

    // MARK: Messages

    enum SendResult {
        case sent
        /// There is no room or no connection. Nothing was sent.
        case refused
        /// A ROUTER's peer is gone.
        case unreachable
    }

    func send(_ bytes: some ContiguousBytes, more: Bool = false) -> SendResult {
        bytes.withUnsafeBytes { bytes in
            while zmq_send(socket, bytes.baseAddress, bytes.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 {
                let fault = ZeroMQFault.last
                if fault.isInterruption { continue }
                return fault.wouldBlock ? .refused : .unreachable
            }
            return .sent
        }
    }

    /// Receives the next frame, if there is one. `body` borrows it, and gets whether more frames of the message follow.
    func receive<Result>(_ body: (_ bytes: UnsafeRawBufferPointer, _ more: Bool) -> Result) -> Result? {
        while zmq_msg_recv(frame, socket, ZMQ_DONTWAIT) < 0 {
            guard ZeroMQFault.last.isInterruption else { return nil }
        }
        let bytes = UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame))
        return body(bytes, zmq_msg_more(frame) != 0)
    }

    /// The item for `zmq_poll` to wait for this socket's messages.
    var pollItem: zmq_pollitem_t {
        zmq_pollitem_t(socket: socket, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0)
    }

    private func check(_ code: Int32, _ what: String) throws(BusError) {
        if code != 0 { throw BusError(.system, "ZeroMQ refuses \(what): \(ZeroMQFault.last)") }
    }
}

extension ZeroMQSocket {
    /// Sets the heartbeats and timeouts of a client, which detect a stopped or unreachable service. Each heartbeat tells the service
    /// how long this client may be silent, so that the service need not ask.
    ///
    /// libzmq ends the service's wait at each message of the client, and only the next heartbeat begins it again. A client that
    /// falls silent in between is noticed by the service's own heartbeat.
    ///
    /// - Parameter silence: How long the service may be silent before the connection counts as lost.
    func setLiveness(ofClient silence: Duration) throws(BusError) {
        let milliseconds = Self.milliseconds(silence)
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        // ZeroMQ sends it in tenths of a second.
        try set(ZMQ_HEARTBEAT_TTL, max(milliseconds, 100))
        // For a service that accepts and then sends nothing, such as a stopped process.
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
        // The system would wait for minutes for a machine that does not answer.
        try set(ZMQ_CONNECT_TIMEOUT, milliseconds)
        try set(ZMQ_RECONNECT_IVL, Int32(50))
        try set(ZMQ_RECONNECT_IVL_MAX, Int32(1_000))
    }

    /// Sets the heartbeats and timeouts of a service, which detect a client that is gone.
    ///
    /// A client of the product sends heartbeats by itself. The service's own are for other clients, and rare: each of them wakes up
    /// both processes.
    ///
    /// - Parameter silence: How long a client may be silent after a heartbeat, before its connection counts as lost. After a
    ///   message it is up to 7/3 of that.
    func setLiveness(ofService silence: Duration) throws(BusError) {
        let milliseconds = Self.milliseconds(silence)
        try set(ZMQ_HEARTBEAT_IVL, milliseconds / 3 * 5)
        try set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds - milliseconds / 3)
        try set(ZMQ_HANDSHAKE_IVL, milliseconds)
    }

    private static func milliseconds(_ silence: Duration) -> Int32 {
        Int32(clamping: min(max(Milliseconds(timeout: silence).rawValue, 3), Int64(Int32.max / 5)))
    }

    /// Encrypts the connections that a listening socket accepts from now on. The bus's ``PeerGate`` decides about each.
    func setKeys(ofServer own: BusKeyPair) throws(BusError) {
        try set(ZMQ_CURVE_SERVER, Int32(1))
        try set(ZMQ_CURVE_SECRETKEY, own.secret)
        try set(ZMQ_ZAP_DOMAIN, "msi")
    }

    /// Encrypts the connections that the socket makes from now on.
    ///
    /// - Parameter server: The key that the service must have.
    func setKeys(ofClient own: BusKeyPair, server: BusKey) throws(BusError) {
        try set(ZMQ_CURVE_SERVERKEY, server.text)
        try set(ZMQ_CURVE_PUBLICKEY, own.publicKey.text)
        try set(ZMQ_CURVE_SECRETKEY, own.secret)
    }
}

/// ZeroMQ's context: it owns the I/O thread and makes the sockets.
///
/// Sockets may be made on any thread. The lock prevents a new socket during termination.
final class ZeroMQContext: Sendable {
    private let pointer: Mutex<Pointer?>

    /// A ZeroMQ context is thread-safe.
    private struct Pointer: @unchecked Sendable {
        let raw: UnsafeMutableRawPointer

        func makeSocket(_ type: Int32) throws(BusError) -> Pointer {
            guard let socket = zmq_socket(raw, type) else {
                throw BusError(.system, "ZeroMQ cannot make a socket: \(ZeroMQFault.last)")
            }
            return Pointer(raw: socket)
        }
    }

    init() throws(BusError) {
        guard let raw = zmq_ctx_new() else { throw BusError(.system, "ZeroMQ cannot start: \(ZeroMQFault.last)") }
        pointer = Mutex(Pointer(raw: raw))
    }

    deinit {
        assert(pointer.withLock { $0 == nil }, "a ZeroMQ context must be terminated")
    }

    /// Makes a socket of one of ZeroMQ's types, such as `ZMQ_DEALER`.
    func makeSocket(_ type: Int32) throws(BusError) -> ZeroMQSocket {
        let made = pointer.withLock { context in
            context.map { context in Result { () throws(BusError) in try context.makeSocket(type) } }
        }
        guard let made else { throw BusError(.closed, "the bus is closed") }
        return ZeroMQSocket(owning: try made.get().raw)
    }

    /// Terminates the context. Blocks until every socket's last messages are sent, or its LINGER is over.
    func terminate() {
        let taken = pointer.withLock { pointer in
            defer { pointer = nil }
            return pointer
        }
        guard let taken else { return }
        while zmq_ctx_term(taken.raw) != 0, ZeroMQFault.last.isInterruption {}
    }
}

/// A ZeroMQ error number with its text.
struct ZeroMQFault: Hashable, CustomStringConvertible {
    let number: Int32

    /// The error of the last call on this thread.
    static var last: ZeroMQFault { ZeroMQFault(number: zmq_errno()) }

    /// A signal interrupted the call; call again.
    var isInterruption: Bool { number == EINTR }
    /// There is no message to receive, or no room to send.
    var wouldBlock: Bool { number == EAGAIN }
    var isAddressInUse: Bool { number == EADDRINUSE }

    var description: String {
        guard let text = zmq_strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }
}
