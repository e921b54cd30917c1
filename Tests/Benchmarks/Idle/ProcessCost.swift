import FoundationEssentials
import Glibc

/// What a process costs while it has nothing to do, from `/proc` (proc(5)).
struct ProcessCost: Sendable {
    /// Resident memory that only this process has, in MiB: it would be free if the process ended.
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

/// The processor time of a process's threads, and how often they have gone to sleep, since the first look. It looks again and again,
/// since threads come and go.
struct ThreadCosts {
    private let process: Int32
    private var last: [String: (time: Int64, sleeps: Int64)]
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
            wakeUps += cost.sleeps - (last[thread]?.sleeps ?? 0)
        }
        last = present
    }

    private static func read(_ process: Int32) throws -> [String: (time: Int64, sleeps: Int64)] {
        var threads: [String: (time: Int64, sleeps: Int64)] = [:]
        for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
            let folder = "/proc/\(process)/task/\(task)"
            // The first number is the time on a processor. A thread may have ended.
            guard let times = try? String(contentsOfFile: folder + "/schedstat", encoding: .utf8),
                let status = try? String(contentsOfFile: folder + "/status", encoding: .utf8),
                let time = times.split(whereSeparator: \.isWhitespace).first.flatMap({ Int64($0) }),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches:") }),
                let sleeps = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Int64($0) })
            else { continue }
            threads[task] = (time: time, sleeps: sleeps)
        }
        return threads
    }
}
