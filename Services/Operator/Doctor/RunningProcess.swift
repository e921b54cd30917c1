import Base
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
            // `msi up` also starts a phone, which is not in the service catalogue.
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

/// What the system tells about any process (proc(5)), as far as this user may see it.
struct ProcessFiles: Sendable {
    /// Its environment at its start.
    let environment: [String: String]
    /// Its command line without the program's name.
    let arguments: [String]
    /// The fields of `/proc/PID/stat` after the process's name.
    let fields: [String]

    /// - Returns: `nil` if this user may not see its environment, or if it has ended.
    init?(_ id: Int32) {
        guard let variables = Self.contents("/proc/\(id)/environ") else { return nil }
        environment = Dictionary(
            variables.split(separator: "\0").compactMap { variable in
                let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }, uniquingKeysWith: { first, _ in first })
        arguments = (Self.contents("/proc/\(id)/cmdline") ?? "").split(separator: "\0").dropFirst().map(String.init)
        // The name of the program, in parentheses, may contain anything.
        fields =
            (Self.contents("/proc/\(id)/stat") ?? "").split(separator: ")").last?.split(whereSeparator: \.isWhitespace).map(
                String.init)
            ?? []
    }

    /// Whether a signal has stopped it: it keeps its sockets, and answers nothing.
    var isStopped: Bool { fields.first.map { ["T", "t"].contains($0) } ?? false }

    static func contents(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The process of `msi up` that runs the services of a state directory.
struct RunningSupervisor: Sendable {
    let id: Int32
    /// Whether a signal has stopped it: then it starts no service again.
    let isStopped: Bool

    /// - Returns: `nil` if there is none.
    static func find(_ installation: Installation, _ settings: SettingValues) -> RunningSupervisor? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory) else { return nil }
        let holder = StateLock.holders(of: .control, in: folder).first { $0.program == "msi up" }
        return holder.map { RunningSupervisor(id: $0.process, isStopped: $0.isStopped) }
    }

    /// A warning that this check misses services: an `msi up` of this build runs with another state directory, and none with that of the settings.
    static func elsewhere(_ installation: Installation, _ settings: SettingValues) async -> Finding? {
        guard installation.layout == .build, let folder = try? settings.value(.stateDirectory) else { return nil }
        let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
        for id in ids.sorted() {
            guard RunningProcess.program(of: id)?.path == installation.executables + "/msi", let process = ProcessFiles(id),
                process.arguments.first == "up"
            else { continue }
            var mistakes: [String] = []
            let own = await SettingValues(environment: process.environment, mistakes: &mistakes)
            guard let used = try? own.value(.stateDirectory), !RunningProcess.isSameFile(used, folder) else { continue }
            let name = Setting.stateDirectory.declaration.name
            return .warning(
                .installation,
                "msi up (process \(id)) runs with the state directory \(used), and this command looks at \(folder)",
                "for that one: \(name)=\(used.shellQuoted) msi doctor, with the ports that it was started with")
        }
        return nil
    }
}
