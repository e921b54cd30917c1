import FoundationEssentials

/// What a process's file descriptors are, from `/proc`. It shows which one has become one too many.
package struct OpenDescriptors: Sendable, CustomStringConvertible {
    /// The number of descriptors by kind: a file's path, `anon_inode:[eventfd]`, or for a socket its family, and for TCP its state.
    package private(set) var counts: [String: Int] = [:]

    package init(of process: Int32) throws {
        let sockets = Self.sockets(of: process)
        let folder = "/proc/\(process)/fd"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // One that was closed since is not counted.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name) else { continue }
            counts[target.hasPrefix("socket:") ? sockets[target] ?? "another socket" : target, default: 0] += 1
        }
    }

    /// The number of all descriptors without the timers: libdispatch keeps a timerfd for each of its three clocks from the first use
    /// on, which may be at any time.
    package var countWithoutTimers: Int {
        counts.reduce(0) { $1.key == "anon_inode:[timerfd]" ? $0 : $0 + $1.value }
    }

    package var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    /// The kinds of all sockets of the process's network, by the target of the descriptor's link. proc(5), `/proc/net`.
    private static func sockets(of process: Int32) -> [String: String] {
        /// The column of the inode, and that of the state.
        let tables = ["unix": (6, nil), "tcp": (9, 3), "tcp6": (9, 3), "udp": (9, nil)] as [String: (Int, Int?)]
        var kinds: [String: String] = [:]
        for (table, (inode, state)) in tables {
            let text = (try? String(contentsOfFile: "/proc/\(process)/net/\(table)", encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n").dropFirst() {
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count > inode else { continue }
                kinds["socket:[\(fields[inode])]"] = state.map { "\(table) socket in state \(fields[$0])" } ?? "\(table) socket"
            }
        }
        return kinds
    }
}
