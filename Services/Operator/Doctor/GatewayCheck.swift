import FoundationEssentials
import NIOSSL
import Schemas
import ServiceKit

/// `GET /health` of the gateway, and whether it accepts this user's token.
struct GatewayCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]
    let supervisor: RunningSupervisor?

    /// The outcome of the request.
    enum Answer: Sendable {
        case status(ProductStatus)
        case failure(GatewayFailure)
        /// It was not asked, since a signal has stopped its process.
        case stopped(RunningProcess)
        /// Its process was started with another port than the one that was asked.
        case elsewhere(process: Int32, port: String, asked: Int)
        /// It does not answer, since its process has ended.
        case ended(EndedService)
    }

    /// Asks the gateway.
    ///
    /// - Throws: ``ConfigurationError``.
    func answer() async throws -> Answer {
        if let process = processes.first(where: { $0.service == .gateway && $0.isStopped }) { return .stopped(process) }
        do {
            var status: ProductStatus?
            try await GatewayClient.with(settings, report: { _ in }) { status = try await ProductStatus.read(from: $0, settings) }
            guard let status else { preconditionFailure("the body has run") }
            return .status(status)
        } catch let failure as GatewayFailure {
            let portSetting = Setting<Int>.gatewayPort
            if failure.kind == .unreachable, let process = processes.first(where: { $0.service == .gateway }),
                let port = process.environment[portSetting.declaration.name], let asked = try? settings.value(portSetting),
                port != String(asked), (try? settings.optional(.gatewayURL)) == nil
            {
                return .elsewhere(process: process.id, port: port, asked: asked)
            }
            guard failure.kind == .unreachable, !processes.contains(where: { $0.service == .gateway }),
                let ended = await EndedService.look(.gateway, of: installation, settings, supervisor: supervisor)
            else { return .failure(failure) }
            return .ended(ended)
        }
    }

    /// - Parameter isAnythingRunning: Whether a service answers on the bus.
    func findings(of answer: Answer, isAnythingRunning: Bool) -> [Finding] {
        switch answer {
        case .status(let status): return findings(of: status)
        case .stopped(let process): return [process.stoppedFinding(.gateway)]
        case .ended(let ended): return [.failure(.gateway, "\(ServiceEntry.gateway.executable) \(ended.found)", ended.advice)]
        case .failure(let failure):
            // While nothing runs, the check of the sockets says what to do.
            guard isAnythingRunning || failure.kind != .unreachable else {
                return [.warning(.gateway, "\(failure)", installation.start(.gateway))]
            }
            return [.failure(.gateway, "\(failure)", advice(for: failure))]
        case .elsewhere(let process, let port, let asked):
            let name = Setting<Int>.gatewayPort.declaration.name
            return [
                .failure(
                    .gateway,
                    "nothing answers at port \(asked), and the gateway (process \(process)) was started with port \(port)",
                    "run it with \(name)=\(port), or restart the gateway if its setting has changed")
            ]
        }
    }

    private func advice(for failure: GatewayFailure) -> String {
        switch failure.kind {
        case .notAllowed: "msi account token makes a new one"
        case .unreachable: installation.start(.gateway)
        case .refused, .notFound:
            "another program, or another installation, answers at this port: choose another one with "
                + Setting<Int>.gatewayPort.declaration.name
        }
    }

    private func findings(of status: ProductStatus) -> [Finding] {
        let found = "\(status.gateway) answers: \(status.health.summary)"
        let health: Finding =
            switch status.health.status {
            case .ok: .ok(.gateway, found)
            case .degraded: .warning(.gateway, found, "messages are accepted; msi status says what is away")
            case .unavailable: .failure(.gateway, found, "messages are not accepted; msi status says what is away")
            }
        guard let problem = status.messagesFailure else { return [health] }
        if status.token == .refused {
            return [health, .failure(.gateway, "the gateway refuses the token of this user", "\(problem)")]
        }
        guard problem.kind != .notAllowed else { return [health, token(status.token, cannotBeUsed: problem)] }
        // If the message log is not well, it is the reason, and its own finding says so.
        guard status.health.services[ServiceEntry.messageLog.name] == .ok else { return [health] }
        return [
            health,
            .warning(
                .gateway, "the messages are not known: \(problem)", "run msi doctor again; the message log's log says more"),
        ]
    }

    private func token(_ token: ProductStatus.Token, cannotBeUsed problem: GatewayFailure) -> Finding {
        // Without a token the problem says what to do.
        token == .missing
            ? .warning(.gateway, "this user has no token for the gateway", "\(problem)")
            : .warning(.gateway, "the token of this user cannot be used: \(problem)", ProductStatus.advice(settings))
    }
}

/// The dates of the gateway's TLS certificate. ``ConfigurationCheck`` says whether it fits its key.
struct CertificateCheck: Sendable {
    private let path: String?

    /// When the gateway itself begins to warn, at the latest.
    private static let longWarning: TimeInterval = 14 * 86_400

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        path = try settings.optional(.gatewayTLSCertificateFile)
    }

    func findings(at now: Date) -> [Finding] {
        // A file that cannot be read is a problem of the configuration.
        guard let path, let certificate = try? NIOSSLCertificate.fromPEMFile(path).first else { return [] }
        let begins = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
        let expires = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
        let renew = "renew it; the gateway reads the files again when they change"
        if now >= expires {
            return [.failure(.certificate, "\(path) expired on \(expires.formatted(.iso8601))", renew)]
        }
        if now < begins {
            return [
                .failure(
                    .certificate, "\(path) is valid only from \(begins.formatted(.iso8601))",
                    "check the machine's clock; otherwise use another certificate")
            ]
        }
        // A certificate for a few days is renewed later than one for a year.
        guard expires.timeIntervalSince(now) >= min(Self.longWarning, expires.timeIntervalSince(begins) / 5) else {
            return [.warning(.certificate, "\(path) expires on \(expires.formatted(.iso8601))", renew)]
        }
        return [.ok(.certificate, "\(path) is valid until \(expires.formatted(.iso8601))")]
    }
}
