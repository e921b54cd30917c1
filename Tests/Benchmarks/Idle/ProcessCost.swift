import FoundationEssentials
import Glibc

/// What a process costs while it has nothing to do, from `/proc` (proc(5)).
struct ProcessCost: Sendable {
    /// Resident memory of its own, in MiB: it would be free if the process ended.
    let privateMemory: Double
    /// Resident memory that other processes may have as well, such as libraries and the executable's file, in MiB.
    let sharedMemory: Double
    /// ``privateMemory``, and its share of what several processes have, in MiB.
    let proportional: Double

    init(of process: Int32) throws {
        let rollup = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
        func mebibytes(_ names: String...) -> Double {
            let lines = rollup.split(separator: "\n").filter { line in names.contains { line.hasPrefix($0 + ":") } }
            return Double(lines.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }.reduce(0, +))
                / 1_024
        }
        privateMemory = mebibytes("Private_Clean", "Private_Dirty")
        sharedMemory = mebibytes("Shared_Clean", "Shared_Dirty")
        proportional = mebibytes("Pss")
    }
}

/// The processor time of a process's threads, and how often they have begun to run, since the first look. It looks again and again, since
/// threads come and go.
struct ThreadCosts {
    private let process: Int32
    private var last: [String: (time: Int64, runs: Int64)]
    /// In nanoseconds.
    private(set) var processorTime: Int64 = 0
    private(set) var wakeUps: Int64 = 0

    init(of process: Int32) throws {
        self.process = process
        last = try Self.read(process)
    }

    mutating func look() throws {
        let present = try Self.read(process)
        for (thread, cost) in present {
            processorTime += cost.time - (last[thread]?.time ?? 0)
            wakeUps += cost.runs - (last[thread]?.runs ?? 0)
        }
        last = present
    }

    private static func read(_ process: Int32) throws -> [String: (time: Int64, runs: Int64)] {
        var threads: [String: (time: Int64, runs: Int64)] = [:]
        for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
            // The time on a processor, the time in a queue, and the number of runs. A thread may have ended.
            guard let text = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/schedstat", encoding: .utf8) else {
                continue
            }
            let fields = text.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
            guard fields.count == 3 else { continue }
            threads[task] = (time: fields[0], runs: fields[2])
        }
        return threads
    }
}
