import FoundationEssentials

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
        try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, let local = fields[1].split(separator: ":").last, Int(local, radix: 16) == port else {
                return nil
            }
            return fields[3]
        }
    }
}
