import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport

/// The product's executables without FCM, on SQLite, whose browsers are all at one push service: a sink.
struct WebPushStack: Sendable {
    let processes: [(name: String, identifier: Int32)]
    let portal: Portal
    /// Where the message log publishes its events.
    let events: String

    private static let services = ["msi-cube", "msi-people", "msi-message-log", "msi-webpush", "msi-broadcast", "msi-gateway"]
    private static let contact = ["MSI_WEBPUSH_CONTACT": "mailto:benchmark@example.edu"]

    /// Runs a body while the stack runs.
    ///
    /// - Parameters:
    ///   - sink: The push service.
    ///   - folder: The state directory, which may have subscriptions (``SampleSubscriptions``).
    static func with<Value>(
        sink: Sink, in folder: String, _ body: (WebPushStack) async throws -> Value
    ) async throws -> Value {
        let events = "ipc://\(folder)/run/\(ServiceEntry.messageLog.socketFile(.events))"
        return try await withServices(services, in: folder) { name, _ in
            let common = contact.merging(["MSI_FCM": "off"]) { $1 }
            return switch name {
            case "msi-webpush":
                common.merging(["MSI_WEBPUSH_HOSTS": sink.url, "MSI_WEBPUSH_CA_FILE": sink.certificateFile]) { $1 }
            case "msi-gateway": common.merging(["MSI_GATEWAY_PORT": "0"]) { $1 }.merging(MessageStack.unlimitedGateway) { $1 }
            default: common
            }
        } _: { running in
            let port = try running[running.count - 1].port
            return try await withHTTPClient { http in
                try await body(
                    WebPushStack(
                        processes: running.map { ($0.name, $0.identifier) },
                        portal: Portal(port: port, http: http, token: try TestOperator.token(in: folder)), events: events))
            }
        }
    }

    /// The processor time of the product's processes, in seconds.
    func processorTime() throws -> Double {
        try processes.reduce(0) { try $0 + ProcessUsage(of: $1.identifier).processorTime }
    }
}
