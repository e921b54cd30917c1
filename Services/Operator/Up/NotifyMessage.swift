import Glibc

/// One datagram of sd_notify(3), and who sent it.
struct NotifyMessage {
    let lines: [String]
    /// The process as the kernel knows it.
    let sender: pid_t

    /// `SCM_CREDENTIALS`, which Swift does not import.
    private static let credentials: Int32 = 2

    /// Receives one from a socket with `SO_PASSCRED` that does not block.
    ///
    /// - Returns: `nil` where there is none, or the kernel does not say who sent it.
    init?(from descriptor: Int32) {
        var text = [UInt8](repeating: 0, count: 4_096)
        // Room for the credentials alone, which come first: descriptors that a sender adds are closed by the kernel.
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
            // `struct ucred` begins with the process.
            return control.loadUnaligned(fromByteOffset: headerSize, as: pid_t.self)
        }
        guard count >= 0, let sender else { return nil }
        lines = String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
        self.sender = sender
    }
}
