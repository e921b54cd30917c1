import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// A process of an installed service, as far as this user may look at it (proc(5)).
struct RunningProcess: Sendable {
    let service: ServiceEntry
    let id: Int32
    /// Its environment at its start.
    let environment: [String: String]
    /// The folder that its relative paths are in; `nil` if this user may not see it.
    private let workingDirectory: String?
    /// Its command line without the program's name.
    let arguments: [String]
    /// The maximum number of open descriptors.
    let maxDescriptors: Int?
    /// Whether the executable has been replaced since the start.
    let isOutdated: Bool
    /// Whether a signal has stopped it: it keeps its sockets, and answers nothing.
    let isStopped: Bool
    /// When it was started, up to two seconds late, since the time of the boot has whole seconds; `nil` if that is not known.
    let started: UnixMilliseconds?
    /// The unit that runs it, such as `msi-fcm-relay@2.service`; `nil` if none does.
    let unit: String?

    /// Its port for metrics.
    var metricsPort: Int? { environment[Setting<Int>.metricsPort.declaration.name].flatMap(Int.init) }

    /// Whether `msi up` runs it, and keeps its log.
    var isSupervised: Bool { environment[Setting<Bool>.supervised.declaration.name] != nil }

    /// The processes of an installation's executables with the state directory of the settings. Empty if that setting has a mistake.
    static func all(of installation: Installation, _ settings: SettingValues) async -> [RunningProcess] {
        guard let folder = try? settings.value(.stateDirectory) else { return [] }
        let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        var found: [RunningProcess] = []
        for id in ids.sorted() {
            // Another copy of the product may run from the same build.
            guard let process = RunningProcess(id, of: installation), await process.belongs(to: folder, settings) else {
                continue
            }
            found.append(process)
        }
        return found
    }

    /// - Parameter folder: The state directory of the settings.
    private func belongs(to folder: String, _ settings: SettingValues) async -> Bool {
        let own = await self.settings()
        // The canary keeps nothing, so it needs no state directory.
        if service == .canary, unit != nil || CanaryCheck.usesGateway(of: settings, own) { return true }
        return (try? own.value(.stateDirectory)).map { Self.isSameFile($0, folder) } ?? false
    }

    /// The executable of any process, and whether it has been replaced since the start; `nil` if this user may not see it.
    static func program(of id: Int32) -> (path: String, isReplaced: Bool)? {
        guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe") else { return nil }
        let deleted = " (deleted)"
        return link.hasSuffix(deleted) ? (String(link.dropLast(deleted.count)), true) : (link, false)
    }

    /// Whether two paths are of the same file or folder.
    static func isSameFile(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    private init?(_ id: Int32, of installation: Installation) {
        guard let program = Self.program(of: id),
            // The phone of msi up is none of the services, and is there all the same.
            let service = (installation.services + [.phone]).first(where: { program.path == installation.path(of: $0) }),
            let files = ProcessFiles(id)
        else { return nil }
        self.service = service
        self.id = id
        workingDirectory = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/cwd")
        (environment, arguments, isStopped) = (files.environment, files.arguments, files.isStopped)
        isOutdated = program.isReplaced
        maxDescriptors = ProcessFiles.contents("/proc/\(id)/limits")?.split(separator: "\n")
            .first { $0.hasPrefix("Max open files") }
            .flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
        // The 22nd field, in clock ticks since the boot.
        started = files.fields.count > 19 ? Int64(files.fields[19]).flatMap(Self.time) : nil
        unit = ProcessFiles.contents("/proc/\(id)/cgroup")?.split(whereSeparator: { $0 == "/" || $0 == "\n" })
            .last { $0.hasPrefix("msi-") && $0.hasSuffix(".service") }.map(String.init)
    }

    private static func time(ofTicks ticks: Int64) -> UnixMilliseconds? {
        let boot = ProcessFiles.contents("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard let boot = boot.flatMap({ Int64($0.dropFirst("btime ".count)) }) else { return nil }
        return UnixMilliseconds(rawValue: (boot + 2) * 1_000 + ticks * 1_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Its environment, with paths that another process can use.
    var startEnvironment: [String: String] {
        guard let workingDirectory else { return environment }
        let paths = SettingDeclaration.withFiles.map(\.name).filter { $0.hasSuffix("_FILE") || $0.hasSuffix("_DIR") }
        return environment.merging(
            paths.compactMap { name in
                guard let path = environment[name], !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("~") else { return nil }
                return (name, "\(workingDirectory)/\(path)")
            }
        ) { $1 }
    }

    /// The settings with which it would start now: its environment and flags, with its configuration file as that is now. What has a
    /// mistake is left out.
    func settings() async -> SettingValues {
        let accepted = SettingDeclaration.common + service.settings
        let environment = startEnvironment
        if let values = try? await SettingValues(arguments: arguments, environment: environment, accepted: accepted) {
            return values
        }
        // The check of the configuration names them.
        var mistakes: [String] = []
        return await SettingValues(environment: environment, mistakes: &mistakes)
    }

    /// Where it takes commands; `nil` if it takes none, or its settings have a mistake.
    func commandEndpoint() async -> String? {
        guard service.sockets.contains(.commands) else { return nil }
        return try? await settings().value(.listen(service))
    }
}
