import SystemPackage

/// The IPv4 TCP connections of this machine, from proc(5).
enum Connections {
    private static let established = "01"
    private static let listening = "0A"

    /// The number of connections of a server on a port.
    static func count(on port: Int) throws -> Int {
        try states(of: port).count { $0 == established }
    }

    static func isListening(on port: Int) throws -> Bool {
        try states(of: port).contains { $0 == listening }
    }

    /// The states of the sockets with this local port.
    private static func states(of port: Int) throws -> [Substring] {
        try contents(of: "/proc/net/tcp").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, let local = fields[1].split(separator: ":").last, Int(local, radix: 16) == port else {
                return nil
            }
            return fields[3]
        }
    }

    /// Reads a whole file of `/proc`; Foundation stops after its first page.
    private static func contents(of path: FilePath) throws -> String {
        let file = try FileDescriptor.open(path, .readOnly)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while case let part = try part(of: file), !part.isEmpty { bytes += part }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func part(of file: FileDescriptor) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
