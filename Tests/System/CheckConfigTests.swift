import FoundationEssentials
import Glibc
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `--check-config` of the services.
    @Suite("--check-config")
    struct CheckConfigTests {
        private func check(_ service: String, _ settings: [String: String]) async throws -> ProgramEnd<Void> {
            try await runProgram(service, ["--check-config"], environment: settings)
        }

        @Test(
            "The defaults are valid, and nothing is started or made",
            arguments: ServiceEntry.all.map(\.executable).filter { $0 != "msi-fcm-relay" })
        func defaults(service: String) async throws {
            try await withTemporaryFolder { folder in
                let end = try await check(service, ["MSI_STATE_DIR": folder + "/state"])
                #expect(end.exitCode == 0 && end.lines == ["\(service): the configuration is valid"], "\(end.lines)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/state"))
            }
        }

        @Test("What libmongoc says while it is loaded is not a line of the program")
        func loading() async throws {
            // The shell makes the file that a killed process with its id would have left, and becomes the program.
            let script = #"echo $$; : >/dev/shm/mongoc-$$; exec "$0" --check-config"#
            let end = try await runProgram("/bin/sh", ["-c", script, BuiltProduct.path(of: "msi-cube")])
            unlink("/dev/shm/mongoc-\(end.lines.first ?? "")")
            #expect(end.exitCode == 0 && end.lines.dropFirst() == ["msi-cube: the configuration is valid"], "\(end.lines)")
        }

        @Test("All settings of the wrong form are named at once")
        func several() async throws {
            let end = try await check(
                "msi-gateway", ["MSI_GATEWAY_PORT": "http", "MSI_GATEWAY_HOST": "here", "MSI_LOG_LEVEL": "loud"])
            #expect(end.exitCode == EX_CONFIG)
            for name in ["MSI_GATEWAY_PORT", "MSI_GATEWAY_HOST", "MSI_LOG_LEVEL"] {
                #expect(end.lines.contains { $0.hasPrefix("msi-gateway: \(name): expected ") }, "\(end.lines)")
            }
        }

        @Test(
            "What only the start would show is found too",
            arguments: [
                ("msi-gateway", ["MSI_GATEWAY_HOST": "0.0.0.0"], "MSI_GATEWAY_HOST: 0.0.0.0 is not a loopback address"),
                ("msi-gateway", ["MSI_GATEWAY_TLS_CERTIFICATE_FILE": "/none", "MSI_GATEWAY_TLS_KEY_FILE": "/none"], "/none"),
                ("msi-fcm-relay", [:], "MSI_FCM_SERVICE_ACCOUNT_FILE"),
                (
                    "msi-fcm-relay", ["MSI_FCM_SERVICE_ACCOUNT_FILE": "/none"],
                    "MSI_FCM_SERVICE_ACCOUNT_FILE: the service account in /none"
                ),
                ("msi-cube", ["MSI_STATE_DIR": "/etc"], "MSI_STATE_DIR: /etc holds something else"),
                ("msi-cube", ["MSI_DATABASE_URL": "postgres://x"], "MSI_DATABASE_URL"),
                ("msi-people", ["MSI_DATABASE_URL_FILE": "/none"], "MSI_DATABASE_URL_FILE: /none cannot be read"),
                ("msi-people", ["MSI_OIDC_ISSUER": "https://id.example.edu"], "MSI_OIDC_CLIENT_ID"),
                ("msi-message-log", ["MSI_FCM_RELAY_ENDPOINTS": "tcp://192.0.2.1:9"], "MSI_FCM_RELAY_ENDPOINTS"),
                ("msi-message-log", ["MSI_CONFIG_FILE": "/none"], "MSI_CONFIG_FILE"),
                ("msi-message-log", ["MSI_ALERT_FETCH_DELAY": "0"], "MSI_ALERT_FETCH_DELAY: expected a whole number from 1"),
                ("msi-cube", ["MSI_BUS_KEY_FILE": "/none"], "MSI_BUS_KEY_FILE is set, and MSI_BUS_PEERS_FILE is not"),
                ("msi-cube", ["MSI_BUS_PEERS_FILE": "/none"], "MSI_BUS_PEERS_FILE is set, and MSI_BUS_KEY_FILE is not"),
                (
                    "msi-cube", ["MSI_BUS_KEY_FILE": "/none", "MSI_BUS_PEERS_FILE": "/none"],
                    "MSI_BUS_KEY_FILE: /none cannot be read"
                ),
                (
                    "msi-cube", ["MSI_BUS_KEY_FILE": "/etc/hostname", "MSI_BUS_PEERS_FILE": "/none"],
                    "MSI_BUS_KEY_FILE: /etc/hostname does not hold a secret key"
                ),
                ("msi-fcm-emulator", ["MSI_FCM_EMULATOR_BEHAVIOUR_FILE": "/none"], "/none"),
                ("msi-phone", ["MSI_PHONE_BROADCASTS_FILE": "/none"], "/none"),
                ("msi-broadcast", ["MSI_BROADCAST_FILE": "/none/a.json"], "MSI_BROADCAST_FILE: there is no folder /none"),
                ("msi-broadcast", ["MSI_BROADCAST_FILE": "/tmp"], "MSI_BROADCAST_FILE: /tmp is a folder"),
                ("msi-cube", ["MSI_CUBE_SIZE_LIMITS": "1MiB"], "did you mean MSI_CUBE_SIZE_LIMIT?"),
            ] as [(String, [String: String], String)])
        func deeper(service: String, settings: [String: String], problem: String) async throws {
            let end = try await check(service, settings)
            #expect(end.exitCode == EX_CONFIG)
            #expect(end.lines.contains { $0.contains(problem) }, "\(end.lines)")
            #expect(!end.lines.contains { $0.contains("the configuration is valid") })
        }

        @Test("Without keys, a host name with an address of another machine is refused, as its client would")
        func nameOfAnotherMachine() async throws {
            var name = [CChar](repeating: 0, count: 256)
            gethostname(&name, name.count)
            let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let end = try await check("msi-message-log", ["MSI_FCM_RELAY_ENDPOINTS": "tcp://localhost:9,tcp://\(host):9"])
            // The name of this machine may have a loopback address alone.
            let isElsewhere = end.lines.contains { $0.contains("MSI_FCM_RELAY_ENDPOINTS: tcp://\(host):9: ") }
            #expect(end.exitCode == (isElsewhere ? EX_CONFIG : 0), "\(end.lines)")
            #expect(!end.lines.contains { $0.contains("localhost:9: ") }, "\(end.lines)")
        }

        @Test(
            "The layouts of several machines are valid for each service",
            arguments: ["three-machines.env", "six-machines.env"])
        func layouts(file: String) async throws {
            try await withTemporaryFolder { folder in
                let layouts = URL(filePath: try BuiltProduct.packageFolder()).appending(path: "deploy/cluster")
                var settings = try variables(of: layouts.appending(path: file))
                let (key, peers) = ("\(folder)/key", "\(folder)/peers")
                let hosts = ["hub-1.example.edu", "hub-2.example.edu", "hub-3.example.edu"]
                var lines: [String] = []
                for host in hosts {
                    lines += try await runProgram("msi", ["keys", "new", "\(folder)/\(host)", "--name", host]).lines
                }
                try FileManager.default.moveItem(atPath: "\(folder)/\(hosts[0])", toPath: key)
                try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: peers))
                #expect(settings["MSI_BUS_KEY_FILE"] == "/var/lib/msi/bus-key")
                #expect(settings["MSI_BUS_PEERS_FILE"] == "/etc/msi/peers")
                settings.merge(["MSI_BUS_KEY_FILE": key, "MSI_BUS_PEERS_FILE": peers, "MSI_STATE_DIR": folder]) { $1 }
                let account = "\(folder)/service-account.json"
                try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1:1/token").write(to: URL(filePath: account))
                settings["MSI_FCM_SERVICE_ACCOUNT_FILE"] = account
                for service in ServiceEntry.all where service.usesBus {
                    let second = layouts.appending(path: "\(service.executable)@2.env")
                    let own = file == "six-machines.env" && service.mayHaveInstances ? try variables(of: second) : [:]
                    let end = try await check(service.executable, settings.merging(own) { $1 })
                    #expect(end.exitCode == 0 && end.lines.last?.hasSuffix("the configuration is valid") == true, "\(end.lines)")
                }
                // Machines that are missing in the list are noticed, in each setting that names them.
                try Data(lines.prefix(1).joined(separator: "\n").utf8).write(to: URL(filePath: peers))
                let end = try await check("msi-gateway", settings)
                #expect(end.exitCode == EX_CONFIG)
                for name in ["MSI_CUBE_ENDPOINTS", "MSI_PEOPLE_ENDPOINTS"] where settings[name]?.contains("hub-3") == true {
                    #expect(
                        end.lines.contains {
                            $0.contains("\(name): ") && $0.contains("hub-3.example.edu") && $0.contains("no key")
                        },
                        "\(end.lines)")
                }
                #expect(end.lines.contains { $0.contains("hub-2.example.edu") && $0.contains("no key") }, "\(end.lines)")
            }
        }

        /// The variables of a file that systemd reads.
        private func variables(of file: URL) throws -> [String: String] {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .filter { !$0.hasPrefix("#") }
            return Dictionary(
                uniqueKeysWithValues: lines.map { line in
                    let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                    return (parts[0], parts.count == 2 ? parts[1] : "")
                })
        }
    }
}
