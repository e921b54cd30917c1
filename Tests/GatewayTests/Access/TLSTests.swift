import AsyncHTTPClient
import Base
import Foundation
@testable import Gateway
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing

/// The gateway as a process, with TLS.
@Suite("TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    /// A gateway whose certificate is in a folder.
    private func withGateway(
        _ certificate: TestCertificate, settings: [String: String] = [:],
        _ body: (RunningGateway, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try write(certificate, folder)
            let all = Self.settings(folder).merging(settings) { $1 }
            try await RunningGateway.with(services: [], in: folder, settings: all) { try await body($0, folder) }
        }
    }

    private static func settings(_ folder: String) -> [String: String] {
        [
            "MSI_GATEWAY_HOST": "0.0.0.0", "MSI_GATEWAY_TLS_CERTIFICATE_FILE": folder + "/tls.pem",
            "MSI_GATEWAY_TLS_KEY_FILE": folder + "/tls.key", "MSI_GATEWAY_PUBLIC_URL": "https://localhost",
        ]
    }

    private func write(_ certificate: TestCertificate, _ folder: String) throws {
        try certificate.write(certificateFile: folder + "/tls.pem", keyFile: folder + "/tls.key")
    }

    /// The status of a request on a new connection; `nil` if TLS fails.
    private func status(trusting file: String, _ port: Int) async throws -> Int? {
        try await withHTTPClient(trusting: file) { http in
            do {
                return try await http.answer(.GET, "https://127.0.0.1:\(port)/problems", within: .seconds(60)).status
            } catch is NIOSSLError {
                return nil
            } catch is NIOSSLExtraError {
                return nil
            }
        }
    }

    @Test("A client gets answers over TLS, with the headers that keep browsers there")
    func answers() async throws {
        try await withGateway(try TestCertificate()) { gateway, folder in
            try await withHTTPClient(trusting: folder + "/tls.pem", version: .automatic) { http in
                let answer = try await http.answer(.GET, "https://127.0.0.1:\(gateway.port)/problems", within: .seconds(60))
                #expect(answer.status == 200 && answer["Strict-Transport-Security"] != nil)
                let posted = try await http.answer(
                    .POST, "https://localhost:\(gateway.port)/nowhere", headers: ["Origin": "https://localhost:\(gateway.port)"],
                    body: Data(repeating: 0x20, count: 60_000), within: .seconds(60))
                #expect(posted.status == 404)
                let foreign = try await http.answer(
                    .GET, "https://localhost:\(gateway.port)/problems", headers: ["Origin": "http://localhost:\(gateway.port)"],
                    within: .seconds(60))
                #expect(foreign.status == 403)
                let health = try await http.answer(.GET, "https://127.0.0.1:\(gateway.port)/health", within: .seconds(60))
                #expect(try health.json["parts"]?["gateway"]?["certificate"]?["status"]?.string == "ok")
            }
            #expect(!gateway.process.log.contains("warning"), "\(gateway.process.log)")
        }
    }

    @Test("TLS 1.2 and 1.3 are spoken, older versions and plain HTTP are not")
    func versions() async throws {
        try await withGateway(try TestCertificate()) { gateway, folder in
            for (version, isSpoken) in [(TLSVersion.tlsv11, false), (.tlsv12, true), (.tlsv13, true)] {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(folder + "/tls.pem")
                tls.minimumTLSVersion = .tlsv1
                tls.maximumTLSVersion = version
                var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
                configuration.connectionPool.retryConnectionEstablishment = false
                // Long enough for a busy machine.
                configuration.timeout.connect = .seconds(60)
                let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                let answer = try? await http.answer(.GET, "https://127.0.0.1:\(gateway.port)/problems", within: .seconds(60))
                try await http.shutdown()
                #expect((answer?.status == 200) == isSpoken, "\(version)")
            }
            let plain = try HeldConnection(to: gateway.port)
            plain.send("GET", "/problems")
            #expect(try await plain.ends())
            // A client that never begins TLS is a slow client like any other.
            let silent = try HeldConnection(to: gateway.port)
            silent.send([0x16, 3, 1])
            #expect(try await silent.ends())
        }
    }

    @Test("A renewed certificate is used without a restart, and no request fails during the change")
    func renewal() async throws {
        let (old, new) = (try TestCertificate(), try TestCertificate())
        try await withGateway(old) { gateway, folder in
            try Data((old.pem + "\n" + new.pem).utf8).write(to: URL(filePath: folder + "/both.pem"))
            try Data(old.pem.utf8).write(to: URL(filePath: folder + "/old.pem"))
            let port = gateway.port
            let answers = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<4 {
                    group.addTask {
                        try await withHTTPClient(trusting: folder + "/both.pem") { http in
                            // Half of the clients make a new connection for each request.
                            let headers = client % 2 == 0 ? [:] : ["Connection": "close"]
                            while !Task.isCancelled {
                                let answer = try await http.answer(
                                    .GET, "https://127.0.0.1:\(port)/problems", headers: headers, within: .seconds(60))
                                guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
                                answers.add()
                            }
                        }
                    }
                }
                try await eventually { answers.count > 20 }
                #expect(try await status(trusting: folder + "/old.pem", port) == 200)
                try write(new, folder)
                try await eventually { gateway.process.log.contains("uses a new TLS certificate") }
                let since = answers.count
                try await eventually { answers.count > since + 20 }
                #expect(try await status(trusting: folder + "/tls.pem", port) == 200)
                #expect(try await status(trusting: folder + "/old.pem", port) == nil)
                group.cancelAll()
                do {
                    try await group.waitForAll()
                } catch is CancellationError {
                    // The clients were told to stop.
                } catch let error as HTTPClientError where error == .cancelled {}
            }
        }
    }

    @Test("A bad new certificate or key is reported, and the previous certificate stays in use")
    func badRenewal() async throws {
        try await withGateway(try TestCertificate()) { gateway, folder in
            try FileManager.default.copyItem(atPath: folder + "/tls.pem", toPath: folder + "/old.pem")
            let other = try TestCertificate()
            try other.write(certificateFile: folder + "/tls.pem", keyFile: folder + "/other.key")
            try await eventually { gateway.process.log.contains("is not the private key of the certificate in") }
            try Data("nothing".utf8).write(to: URL(filePath: folder + "/tls.pem"))
            try await eventually { gateway.process.log.contains("contains no certificate in PEM form") }
            try FileManager.default.removeItem(atPath: folder + "/tls.pem")
            try await eventually { gateway.process.log.contains("\(folder)/tls.pem cannot be read") }
            #expect(try await status(trusting: folder + "/old.pem", gateway.port) == 200)
            #expect(!gateway.process.log.contains("PRIVATE"))
            try write(other, folder)
            try await eventually { gateway.process.log.contains("uses a new TLS certificate") }
            #expect(try await status(trusting: folder + "/tls.pem", gateway.port) == 200)
        }
    }

    @Test(
        "A certificate that expires soon is announced in the log and in GET /health",
        arguments: [(TimeInterval(900), "expires on"), (-900, "expired on")])
    func expiry(lifetime: TimeInterval, text: String) async throws {
        try await withGateway(try TestCertificate(lifetime: lifetime)) { gateway, _ in
            try await eventually { gateway.process.log.contains("the TLS certificate \(text)") }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
            configuration.timeout.connect = .seconds(60)
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            let health = try await http.answer(.GET, "https://127.0.0.1:\(gateway.port)/health", within: .seconds(60))
            try await http.shutdown()
            let certificate = try health.json["parts"]?["gateway"]?["certificate"]
            #expect(certificate?["message"]?.string?.contains(text) == true, "\(health)")
        }
    }

    @Test("The gateway refuses to start with bad files, and warns of a key that others can read")
    func start() async throws {
        try await withTemporaryFolder { folder in
            func failure() async throws -> String {
                let settings = Self.settings(folder).merging(["MSI_GATEWAY_PORT": "0"]) { $1 }
                let error = try await #require(throws: ServiceProcess.StartFailed.self) {
                    let process = try await ServiceProcess("msi-gateway", in: folder, settings: settings)
                    await process.kill()
                }
                return error.description
            }
            #expect(try await failure().contains("MSI_GATEWAY_TLS_CERTIFICATE_FILE: \(folder)/tls.pem cannot be read"))
            try write(try TestCertificate(), folder)
            try Data("PRIVATE".utf8).write(to: URL(filePath: folder + "/tls.key"))
            let problem = try await failure()
            #expect(problem.contains("MSI_GATEWAY_TLS_KEY_FILE: \(folder)/tls.key contains no private key in PEM form"))
        }
        try await withTemporaryFolder { folder in
            try write(try TestCertificate(), folder)
            chmod(folder + "/tls.key", 0o644)
            try await RunningGateway.with(services: [], in: folder, settings: Self.settings(folder)) { gateway in
                #expect(gateway.process.log.contains("tls.key contains secrets, and its mode 644 lets other users read them"))
            }
        }
    }

    @Test("Without TLS or a proxy the gateway does not listen for other machines")
    func refusal() async throws {
        try await withTemporaryFolder { folder in
            let error = try await #require(throws: ServiceProcess.StartFailed.self) {
                let process = try await ServiceProcess("msi-gateway", in: folder, settings: ["MSI_GATEWAY_HOST": "0.0.0.0"])
                await process.kill()
            }
            #expect(error.description.contains("MSI_GATEWAY_TLS_CERTIFICATE_FILE"), "\(error)")
            #expect(error.description.contains("MSI_GATEWAY_TRUSTED_PROXIES"), "\(error)")
        }
    }
}

@Suite("Changes of the certificate's files")
struct FileChangesTests {
    @Test("New content is loaded once it stays the same from one look to the next")
    func settled() {
        var changes = FileChanges("a")
        // The certificate is written before its key.
        let looks = ["a", "half", "b", "b", "b"].map { changes.saw($0) }
        #expect(looks == [false, false, false, true, false])
        // Bad content is tried once. The earlier content is loaded again if it returns.
        #expect(["a", "a"].map { changes.saw($0) } == [false, true])
    }
}
