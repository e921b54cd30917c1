import CZeroMQ
import FoundationEssentials

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
