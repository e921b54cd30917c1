import CCurl
import Glibc
import ServiceKit

extension IPAddress {
    /// The address of a server that libcurl connects to.
    ///
    /// - Returns: `nil` for an address of another family than IP.
    init?(_ address: UnsafeMutablePointer<curl_sockaddr>) {
        // libcurl's structure ends with the bytes of the system's structure for the family, which may be longer than `sockaddr`.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let system = UnsafeRawPointer(address) + offset
        switch address.pointee.family {
        case AF_INET: self.init(ipv4: UInt32(bigEndian: system.load(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6: self.init(ipv6: withUnsafeBytes(of: system.load(as: sockaddr_in6.self).sin6_addr) { Array($0) })
        default: return nil
        }
    }
}
