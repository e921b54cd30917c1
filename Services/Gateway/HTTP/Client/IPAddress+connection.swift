import NIOCore
import ServiceKit

extension IPAddress {
    /// The address of a connection's other end; `nil` for a socket that has none.
    init?(_ address: SocketAddress?) {
        guard let address else { return nil }
        // The bytes of `sockaddr_in` and `sockaddr_in6`: family, port, (flow,) address. Text would have to be made and read again.
        switch address {
        case .v4: self.init(ipv4: address.bytes(4..<8).reduce(0) { $0 << 8 | UInt32($1) })
        case .v6: self.init(ipv6: address.bytes(8..<24))
        case .unixDomainSocket: return nil
        }
    }
}

extension SocketAddress {
    fileprivate func bytes(_ range: Range<Int>) -> [UInt8] {
        withSockAddr { pointer, size in Array(UnsafeRawBufferPointer(start: pointer, count: size)[range]) }
    }
}
