import CZeroMQ

#if canImport(Glibc)
    import Glibc
#endif

/// An error number of ZeroMQ's, with its text.
struct ZeroMQFault: Hashable, CustomStringConvertible {
    let number: Int32

    /// What the last call on this thread failed with.
    static var last: ZeroMQFault { ZeroMQFault(number: zmq_errno()) }

    /// A signal came; the call is to be made again.
    var isInterruption: Bool { number == EINTR }
    /// There is nothing to receive, or no room to send.
    var wouldBlock: Bool { number == EAGAIN }
    var isAddressInUse: Bool { number == EADDRINUSE }

    var description: String {
        guard let text = zmq_strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }
}
