import ArgumentParser
import Glibc
import JSON
import Schemas
import ServiceKit

/// `msi status`: what runs, and how far the messages are.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows the services with their states and versions, and how many messages wait.",
        discussion: """
            The gateway is that of `msi send`, and is asked for GET /health, GET /statistics and GET /session, each for at most 5 seconds. \
            The endpoints are those of this machine's settings.

            The first line and the exit status say the same, as those of a Nagios plugin do, so that a monitoring system can call it:
              0   ok: everything works. Messages may be held
              1   degraded: messages are accepted, and something is away; or no phone has reported a message of the canary for five \
            intervals (MSI_CANARY_TOPIC; MSI_CANARY_INTERVAL, or the canary's own if that is longer)
              2   unavailable: messages are not accepted, or the gateway does not answer
              3   unknown: the services are well, and there is no token that can be read, the gateway refuses it, or the messages or the \
            canary cannot be looked at; or what answers is no gateway. A token without the right to read messages is ok
              78  a setting is wrong
            """)

    @Flag(help: "Show it again every two seconds, with the time, until Ctrl-C.")
    var watch = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run() async throws {
        try await Self.withGateway { gateway, settings in
            if watch {
                try await untilInterrupted { try await showRepeatedly(gateway, settings) }
                return
            }
            do {
                let status = try await ProductStatus.read(from: gateway, settings)
                show(status)
                if status.status != .ok { throw status.status.exitCode }
            } catch let failure as GatewayFailure {
                // Monitoring systems show standard output.
                show(failure)
                throw Self.status(after: failure).exitCode
            }
        }
    }

    /// Shows a failure like a status: it may pass.
    private func showRepeatedly(_ gateway: GatewayClient, _ settings: SettingValues) async throws {
        while true {
            do {
                show(try await ProductStatus.read(from: gateway, settings))
            } catch let failure as GatewayFailure {
                show(failure)
            }
            fflush(nil)
            try await Task.sleep(for: .seconds(2))
        }
    }

    private static func status(after failure: GatewayFailure) -> ProductStatus.Status {
        failure.kind == .unreachable ? .unavailable : .unknown
    }

    private func show(_ status: ProductStatus) {
        if printsJSON, let json = try? JSONCoder.encode(status) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            beginPicture()
            print(StatusText(status: status))
        }
    }

    private struct Report: Encodable {
        let status: ProductStatus.Status
        let problems: [String]
        let time: UnixMilliseconds
    }

    private func show(_ failure: GatewayFailure) {
        let status = Self.status(after: failure)
        let report = Report(status: status, problems: [failure.description], time: .now)
        if printsJSON, let json = try? JSONCoder.encode(report) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            beginPicture()
            print("\(status.rawValue): \(failure)")
        }
    }

    /// Prints the time before each picture of `--watch`, on a terminal in the place of the former one.
    private func beginPicture() {
        guard watch else { return }
        if isatty(STDOUT_FILENO) == 1 { Swift.print("\u{1b}[H\u{1b}[2J", terminator: "") }
        print(UnixMilliseconds.now.inUTC)
    }
}

extension ProductStatus.Status {
    /// As of a Nagios plugin.
    fileprivate var exitCode: ExitCode {
        switch self {
        case .ok: ExitCode(0)
        case .degraded: ExitCode(1)
        case .unavailable: ExitCode(2)
        case .unknown: ExitCode(3)
        }
    }
}
