import CoreMetrics
import FoundationEssentials
import Glibc
import Instruments
import Base

/// The metrics of the process itself, as Prometheus's client libraries name them. They are read from `/proc` (proc(5)).
struct ProcessMetrics: Sendable {
    let registry: MetricRegistry

    init(of service: String, in registry: MetricRegistry) {
        self.registry = registry
        Instrument.buildInfo.gauge(["service": service, "version": productVersion]).set(1)
        if let start = Self.startTime() { Instrument.processStartTime.gauge().set(start) }
    }

    /// Reads the current values.
    func collect() {
        var usage = rusage()
        if getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            registry.counter(.processCPUTime).set(Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime))
        }
        let dropped = JournalOutput.droppedEvents + LineWriter.standardError.droppedLines
        registry.counter(.logLinesDropped).set(Double(dropped))
        if let pages = Self.contents("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) {
            Instrument.processMemory.gauge().set(pages * Double(sysconf(Int32(_SC_PAGESIZE))))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            // One of them is the folder itself.
            Instrument.processDescriptors.gauge().set(open.count - 1)
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            Instrument.processMaxDescriptors.gauge().set(Double(limit.rlim_cur))
        }
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The boot's time and the ticks from then to the start.
    private static func startTime() -> Double? {
        guard let stat = contents("/proc/self/stat"), let system = contents("/proc/stat") else { return nil }
        // The second field is the program's name in parentheses, which may contain spaces.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 20, let ticks = Double(fields[20]),
            let boot = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") })?.split(separator: " ").last,
            let begin = Double(boot)
        else { return nil }
        return begin + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func contents(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
