import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import ServiceKit
import TestSupport

/// The product's executables, with settings that remove the limits of the gateway and of FCM.
struct MessageStack: Sendable {
    /// The services, the sink, and the database server if the benchmark has started it.
    let processes: [(name: String, identifier: Int32)]
    let portal: Portal
    /// `nil` if the relay sends to a sink.
    let emulator: FCMServer?

    /// The executables of the services.
    static let services = ["msi-fcm-relay", "msi-cube", "msi-people", "msi-message-log", "msi-broadcast", "msi-gateway"]

    /// The settings of a gateway whose limits are not to be measured.
    static let unlimitedGateway = [
        "MSI_GATEWAY_ADDRESS_REQUESTS": "1000000000", "MSI_GATEWAY_ACCOUNT_REQUESTS": "1000000000",
        // Requests may come from many addresses, as through a proxy.
        "MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1", "MSI_GATEWAY_MAX_CONNECTIONS": "3000",
        "MSI_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS": "3000",
    ]

    /// Runs the stack, with a new state directory on a disk.
    ///
    /// - Parameters:
    ///   - database: The connection string, and the process of the server if it is on this machine; `nil` for SQLite.
    ///   - sink: What the relay sends to; `nil` for the FCM emulator.
    ///   - gateway: Settings of the gateway; by default those without its limits.
    ///   - people: Settings of the people service.
    ///   - messageLog: Settings of the message log.
    ///   - executables: The folder of the executables.
    ///   - folder: The state directory. Its path is short, because it contains sockets.
    static func with<Value>(
        database: (url: String, process: Int32?)?, sink: RelaySink? = nil, gateway: [String: String] = unlimitedGateway,
        people: [String: String] = [:], messageLog: [String: String] = [:], executables: URL = ServiceProcess.executables,
        in folder: String, _ body: (MessageStack) async throws -> Value
    ) async throws -> Value {
        // The services require that other users may not enter it.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let emulator = try Emulator.settings(in: folder)
        let storeSettings = database.map { ["MSI_DATABASE_URL": $0.url] } ?? [:]
        return try await withServices(
            ((sink == nil ? ["msi-fcm-emulator"] : []) + services).filter { isThere($0, in: executables) }, in: folder,
            executables: executables
        ) { name, running in
            switch name {
            case "msi-fcm-emulator": emulator
            case "msi-fcm-relay":
                (try sink?.settings ?? EmulatorAccess(port: try running[0].port, stateDirectory: folder).settings)
                    .merging(RunningRelay.unlimitedPace) { given, _ in given }
            case "msi-people": storeSettings.merging(people) { $1 }
            case "msi-message-log": storeSettings.merging(messageLog) { $1 }
            case "msi-gateway": ["MSI_GATEWAY_PORT": "0"].merging(gateway) { $1 }
            default: storeSettings
            }
        } _: { running in
            let access = sink == nil ? EmulatorAccess(port: try running[0].port, stateDirectory: folder) : nil
            let gatewayPort = try running[running.count - 1].port
            return try await withHTTPClient(trusting: access?.certificateFile) { http in
                try await body(
                    MessageStack(
                        processes: running.map { ($0.name, $0.identifier) }
                            + (sink.map { [("nghttpd", $0.process)] } ?? [])
                            + (database?.process.map { [("database", $0)] } ?? []),
                        portal: Portal(port: gatewayPort, http: http, token: try TestOperator.token(in: folder)),
                        emulator: access.map { FCMServer(port: $0.port, folder: $0.folder, http: http) }))
            }
        }
    }

    /// Whether a version of the product has a service: earlier ones have no accounts and no broadcasts.
    private static func isThere(_ name: String, in executables: URL) -> Bool {
        FileManager.default.fileExists(atPath: executables.appending(path: name).path(percentEncoded: false))
    }

    /// Whether every message of the archive has ended.
    func isArchiveAtRest() async throws -> Bool {
        for state in ["pending", "retrying"] {
            let answer = try await portal.call(.GET, "/message?limit=1&state=\(state)")
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            if try answer.json["messages"]?.array.isEmpty != true { return false }
        }
        return true
    }

    /// The number of messages in the archive that FCM has accepted.
    func relayedMessages() async throws -> Int {
        let answer = try await portal.call(.GET, "/statistics")
        guard answer.status == 200, let count = try answer.json["states"]?["relayed"]?.integer else {
            throw UnexpectedAnswer(answer)
        }
        return Int(count)
    }
}
