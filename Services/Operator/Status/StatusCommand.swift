import ArgumentParser
import Glibc
import JSON
import ServiceKit

/// `msi status`: what runs, and how far the messages are.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows the services with their states and versions, and how many messages wait.",
        discussion: """
            The gateway is that of `msi send`, and is asked for GET /health and GET /statistics. The endpoints are those of this machine's \
            settings.

            Exit status, as of a Nagios plugin, so that a monitoring system can call it:
              0   everything works
              1   degraded: messages are accepted, and something is away
              2   unavailable: messages are not accepted, or the gateway does not answer
              3   not known: the gateway does not accept the token, or is none
              78  a setting is wrong
            """)

    @Flag(help: "Show it again every two seconds, until Ctrl-C.")
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
                guard status.health.status == .ok else { throw ExitCode(status.health.status == .degraded ? 1 : 2) }
            } catch let failure as GatewayFailure {
                // Monitoring systems show standard output.
                show(failure)
                throw ExitCode(failure.kind == .unreachable ? 2 : 3)
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

    private func show(_ status: ProductStatus) {
        if printsJSON, let json = try? JSONCoder.encode(status) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            clear()
            print(StatusText(status: status))
        }
    }

    private func show(_ failure: GatewayFailure) {
        if printsJSON, let json = try? JSONCoder.encode(["problem": failure.description]) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            clear()
            print("\(failure.kind == .unreachable ? "unavailable" : "not known"): \(failure)")
        }
    }

    /// Clears the terminal before the next picture of `--watch`.
    private func clear() {
        guard watch, !printsJSON, isatty(STDOUT_FILENO) == 1 else { return }
        print("\u{1b}[H\u{1b}[2J", terminator: "")
    }
}
