import FoundationEssentials
import Glibc

/// The processes of this machine, from `/proc`.
package enum ProcessTable {
    package struct Entry: Hashable, Sendable {
        package let id: Int32
        package let parent: Int32
        /// The executable's name.
        package let name: String
    }

    /// All processes that have not ended.
    package static var all: [Entry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.compactMap(entry)
    }

    /// The children of a process that have not ended.
    package static func children(of parent: Int32) -> [Entry] {
        all.filter { $0.parent == parent }
    }

    /// Whether a process exists and has not ended. A zombie has ended.
    package static func isRunning(_ id: Int32) -> Bool {
        status(of: id) != nil
    }

    /// Whether all threads of a process are stopped by a signal: the state `T` of proc(5), after the name in parentheses. A busy machine
    /// stops them some time after the signal.
    package static func hasStopped(_ id: Int32) throws -> Bool {
        let tasks = "/proc/\(id)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            let stat = try String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
            return stat.split(separator: ")").last?.hasPrefix(" T") == true
        }
    }

    private static func entry(_ id: Int32) -> Entry? {
        guard let status = status(of: id),
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")
        else { return nil }
        return Entry(id: id, parent: status.parent, name: String(path.split(separator: "/").last ?? ""))
    }

    private static func status(of id: Int32) -> (parent: Int32, state: Character)? {
        // "17 (name) S 1 …": the name may contain spaces and parentheses.
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let nameEnd = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[nameEnd...].split(separator: " ")
        guard fields.count > 2, let state = fields[1].first, let parent = Int32(fields[2]), !"ZX".contains(state) else {
            return nil
        }
        return (parent, state)
    }
}
