import FoundationEssentials
import TestSupport

/// The product with SQLite: the message log is the queue, and the relay its consumer, whose outcomes are stored. FCM is a sink that
/// answers at once.
struct ProductQueue: DurableQueue {
    let name = "the product"
    let syncLogs: [SyncLog]
    let posts: QueuePosts
    private let stack: MessageStack

    /// Of the services, without the sink.
    var processorTime: Double {
        get throws {
            try stack.processes.filter { $0.name.hasPrefix("msi-") }.map { try ProcessUsage(of: $0.identifier).processorTime }
                .reduce(0, +)
        }
    }

    func run(inFlight: Int, seconds: Double) async throws -> QueueRun {
        try await posts.run(inFlight: inFlight, seconds: seconds) { _ in
            try await eventually("the archive is at rest") { try await stack.isArchiveAtRest() }
        }
    }

    /// Runs a body with new services.
    ///
    /// - Parameters:
    ///   - isTraced: Whether the services' syncs are counted.
    ///   - folder: The path of a new folder on a disk.
    static func with<Value>(
        isTraced: Bool, peers: String, in folder: String, _ body: (ProductQueue) async throws -> Value
    ) async throws -> Value {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let (executables, logs) = isTraced ? try await traced(in: folder) : (ServiceProcess.executables, [])
        return try await RelaySink.with(in: folder + "/sink") { sink in
            try await MessageStack.with(database: nil, sink: sink, executables: executables, in: folder + "/state") { stack in
                let subjects = [try await stack.portal.makeSubject("Alert")]
                let driver = GatewayDriver(
                    port: stack.portal.port, token: stack.portal.token ?? "", peers: peers, folder: folder)
                let posts = QueuePosts(driver: driver, subjects: subjects)
                return try await body(ProductQueue(syncLogs: logs, posts: posts, stack: stack))
            }
        }
    }

    /// Makes scripts that start the services with strace.
    ///
    /// - Returns: The scripts' folder, and the services' logs.
    private static func traced(in folder: String) async throws -> (executables: URL, logs: [SyncLog]) {
        let scripts = folder + "/traced"
        try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: false)
        var logs: [SyncLog] = []
        for name in MessageStack.services {
            let log = SyncLog(file: "\(folder)/\(name).syncs")
            let executable = ServiceProcess.executables.appending(path: name).path(percentEncoded: false)
            let command = (log.command + [executable]).map { "'\($0)'" }.joined(separator: " ")
            try await ExecutableFile.write("#!/bin/sh\nexec \(command) \"$@\"\n", to: "\(scripts)/\(name)")
            logs.append(log)
        }
        return (URL(filePath: scripts), logs)
    }
}
