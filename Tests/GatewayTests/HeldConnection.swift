import Foundation
import Glibc
import Synchronization
import TestSupport

/// A connection to an HTTP server that the test controls completely.
final class HeldConnection: Sendable {
    private let descriptor: Int32
    private let port: Int
    /// Received bytes that are not a complete response yet.
    private let unread = Mutex<[UInt8]>([])

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - source: The client's address is 127.0.0.`source`.
    ///   - receiveBuffer: The size of the kernel's receive buffer, in bytes.
    init(to port: Int, from source: UInt8 = 1, receiveBuffer: Int32? = nil) throws {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard Self.withAddress(source, port: 0, { bind(descriptor, $0, $1) }) == 0,
            Self.withAddress(1, port: port, { connect(descriptor, $0, $1) }) == 0
        else { throw Failed(description: "cannot connect: errno \(errno)") }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Lends the address 127.0.0.`last`.
    private static func withAddress(
        _ last: UInt8, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = (0x7f00_0000 + in_addr_t(last)).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends as many bytes as the kernel accepts now.
    ///
    /// - Returns: The number of bytes; `nil` if the server has closed the connection.
    @discardableResult
    func send(_ bytes: some Sequence<UInt8>) -> Int? {
        let bytes = Array(bytes)
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        return count >= 0 ? count : errno == EAGAIN ? 0 : nil
    }

    /// Sends a request that leaves the connection open.
    func send(_ method: String, _ target: String, _ fields: String..., body: String? = nil) {
        send(method, target, fields, body: body)
    }

    func send(_ method: String, _ target: String, _ fields: [String], body: String? = nil) {
        let fields = ["Host: 127.0.0.1"] + fields + (body.map { ["Content-Length: \($0.utf8.count)"] } ?? [])
        send("\(method) \(target) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n\(body ?? "")".utf8)
    }

    /// Sends the head of a request, whose body the test sends later.
    func sendHead(_ method: String, _ target: String, _ fields: [String], length: Int) {
        let fields = ["Host: 127.0.0.1"] + fields + ["Content-Length: \(length)"]
        send("\(method) \(target) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8)
    }

    /// Reads the next response.
    ///
    /// - Parameter hasBody: Whether a body follows the header; `false` for `HEAD`.
    func answer(hasBody: Bool = true, within limit: Duration = .seconds(120)) async throws -> HTTPAnswer {
        let deadline = ContinuousClock.now + limit
        while true {
            let isOpen = receive()
            if let answer = takeAnswer(hasBody: hasBody) { return answer }
            guard isOpen else { throw Failed(description: "the connection was closed without a response") }
            guard .now < deadline else { throw Failed(description: "no response within \(limit)") }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Whether the server has closed the connection.
    var hasEnded: Bool { !receive() }

    /// Whether the server has closed the connection, as the kernel shows it. Unread bytes stay unread.
    ///
    /// - Throws: An error if the kernel's list of connections cannot be read.
    var isClosedByServer: Bool {
        get throws {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            let ends = [port, Int(in_port_t(bigEndian: address.sin_port))]
            let established = "01"
            return try !String(contentsOfFile: "/proc/net/tcp", encoding: .ascii).split(separator: "\n").contains { line in
                let fields = line.split(separator: " ")
                guard fields.count > 3, fields[3] == established else { return false }
                return fields[1...2].map { Int($0.split(separator: ":").last ?? "", radix: 16) } == ends
            }
        }
    }

    /// Reads to the end of the connection.
    ///
    /// - Returns: Whether the server closed it in time.
    func ends(within limit: Duration = .seconds(120)) async throws -> Bool {
        let deadline = ContinuousClock.now + limit
        while receive() {
            guard .now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    /// Reads and drops a few of the received bytes.
    func drop(atMost count: Int) {
        var buffer = [UInt8](repeating: 0, count: count)
        _ = recv(descriptor, &buffer, count, 0)
    }

    /// Reads the received bytes.
    ///
    /// - Returns: Whether the connection is open.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            unread.withLock { $0 += buffer[..<count] }
        }
    }

    private func takeAnswer(hasBody: Bool) -> HTTPAnswer? {
        unread.withLock { unread in
            guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound,
                let head = HTTPAnswer(parsing: Array(unread[..<end]))
            else { return nil }
            let length = hasBody ? head["content-length"].flatMap { Int($0) } ?? 0 : 0
            guard unread.count >= end + length else { return nil }
            defer { unread.removeFirst(end + length) }
            return HTTPAnswer(parsing: Array(unread[..<(end + length)]))
        }
    }
}
