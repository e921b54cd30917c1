import FoundationEssentials
import Glibc
import TestSupport

/// A process and its descendants.
enum ProcessTree {
    /// The processor time of all of them so far, in seconds. That of ended ones counts once their parent has waited for them.
    static func processorTime(of root: Int32) -> Double {
        let children = Dictionary(grouping: ProcessTable.all, by: \.parent)
        var (sum, open) = (0.0, [root])
        while let process = open.popLast() {
            sum += ownTime(of: process)
            open += children[process, default: []].map(\.id)
        }
        return sum
    }

    /// proc(5): `utime`, `stime`, `cutime` and `cstime`, from the 12th field after the name in parentheses on, in clock ticks.
    private static func ownTime(of process: Int32) -> Double {
        // It may have ended.
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = (stat.split(separator: ")").last ?? "").split(separator: " ").dropFirst(11).prefix(4)
        return fields.compactMap { Double($0) }.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
