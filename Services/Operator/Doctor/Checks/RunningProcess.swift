import FoundationEssentials
import Glibc
import ServiceKit

/// A process of an installed service, as far as this user may look at it (proc(5)).
struct RunningProcess: Sendable {
    let service: ServiceEntry
    let id: Int32
    /// The maximum number of open descriptors.
    let maxDescriptors: Int?
    /// Whether the executable has been replaced since the start.
    let isOutdated: Bool
    /// Its port for metrics.
    let metricsPort: Int?

    /// The processes of an installation's executables with the same state directory.
    static func all(of installation: Installation) -> [RunningProcess] {
        let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        return ids.sorted().compactMap { RunningProcess($0, of: installation) }
    }

    private init?(_ id: Int32, of installation: Installation) {
        guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe") else { return nil }
        let deleted = " (deleted)"
        let path = link.hasSuffix(deleted) ? String(link.dropLast(deleted.count)) : link
        guard let service = installation.services.first(where: { path == "\(installation.executables)/\($0.executable)" }),
            let variables = Self.contents("/proc/\(id)/environ")
        else { return nil }
        func value(_ name: String) -> String? {
            variables.split(separator: "\0").first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        // Another copy of the product may run from the same build.
        let stateDirectory = Setting<String>.stateDirectory.declaration.name
        guard
            value(stateDirectory) == installation.environment[stateDirectory]
                || value(stateDirectory) == installation.defaultStateDirectory
        else { return nil }
        self.service = service
        self.id = id
        isOutdated = link.hasSuffix(deleted)
        metricsPort = value(Setting<Int>.metricsPort.declaration.name).flatMap(Int.init)
        maxDescriptors = Self.contents("/proc/\(id)/limits")?.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            .flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

    private static func contents(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
