import SystemPackage

/// TCP's connections over IPv4 on this machine, as proc(5) lists them.
enum Connections {
    private static let established = "01"
    private static let listening = "0A"

    /// How many connections a server on a port has.
    static func count(on port: Int) throws -> Int {
        try states(of: port).count { $0 == established }
    }

    static func isListening(on port: Int) throws -> Bool {
        try states(of: port).contains { $0 == listening }
    }

    /// The states of the sockets whose local port it is.
    private static func states(of port: Int) throws -> [Substring] {
        try contents(of: "/proc/net/tcp").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, let local = fields[1].split(separator: ":").last, Int(local, radix: 16) == port else {
                return nil
            }
            return fields[3]
        }
    }

    /// All of a file of the kernel's, of which Foundation takes the first page for the whole.
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
