import Glibc

/// One datagram of sd_notify(3) and its sender.
struct NotifyMessage {
    let lines: [String]
    /// The sender's process id, from the kernel.
    let sender: pid_t

    /// `SCM_CREDENTIALS`, which Swift does not import.
    private static let credentials: Int32 = 2

    /// Receives a datagram from a non-blocking socket with `SO_PASSCRED`.
    ///
    /// - Returns: `nil` if there is none, or if it has no credentials.
    init?(from descriptor: Int32) {
        var text = [UInt8](repeating: 0, count: 4_096)
        // Space for the credentials only, which come first. The kernel closes descriptors that a sender adds.
        let headerSize = MemoryLayout<cmsghdr>.size
        var control = [UInt64](repeating: 0, count: (headerSize + 3 * MemoryLayout<Int32>.size + 7) / 8)
        let count = text.withUnsafeMutableBytes { text in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var header = msghdr()
                    header.msg_iov = part
                    header.msg_iovlen = 1
                    header.msg_control = control.baseAddress
                    header.msg_controllen = control.count
                    return recvmsg(descriptor, &header, Int32(MSG_DONTWAIT))
                }
            }
        }
        let sender = control.withUnsafeBytes { control -> pid_t? in
            let header = control.loadUnaligned(as: cmsghdr.self)
            guard header.cmsg_level == SOL_SOCKET, header.cmsg_type == Self.credentials else { return nil }
            // `struct ucred` begins with the process id.
            return control.loadUnaligned(fromByteOffset: headerSize, as: pid_t.self)
        }
        guard count >= 0, let sender else { return nil }
        lines = String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
        self.sender = sender
    }
}
