import CZeroMQ

#if canImport(Glibc)
    import Glibc
#endif

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
