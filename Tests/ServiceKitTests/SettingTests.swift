import FoundationEssentials
import Logging
@testable import ServiceKit
import TestSupport
import Testing

@Suite("Settings")
struct SettingTests {
    private static let accepted = SettingDeclaration.common + [Setting.gatewayPort.declaration]

    private func values(_ arguments: [String] = [], _ environment: [String: String] = [:]) async throws -> SettingValues {
        try await SettingValues(arguments: arguments, environment: environment, accepted: Self.accepted)
    }

    private func problem(_ arguments: [String] = [], _ environment: [String: String] = [:]) async -> String? {
        do {
            let values = try await values(arguments, environment)
            _ = try values.value(.gatewayPort)
            _ = try values.value(.logLevel)
            _ = try values.value(.fcmEndpoint)
            _ = try values.optional(.fcmTopicEndpoint)
            _ = try values.value(.gatewayCORSOrigins)
            _ = try values.value(.fcmInformationPriority)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Runs a body with a configuration file.
    private func withFile(_ text: String = "", _ body: (_ file: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/settings"
            try Data(text.utf8).write(to: URL(filePath: file))
            try await body(file)
        }
    }

    @Test("A flag overrides the environment, which overrides the file, which overrides the default")
    func order() async throws {
        #expect(try await values().value(.gatewayPort) == 8_080)
        try await withFile("# ports\nMSI_GATEWAY_PORT=1001\n") { file async throws in
            #expect(try await values(["--config-file", file]).value(.gatewayPort) == 1_001)
            let environment = ["MSI_CONFIG_FILE": file, "MSI_GATEWAY_PORT": "1002", "HOME": "/root"]
            #expect(try await values([], environment).value(.gatewayPort) == 1_002)
            #expect(try await values(["--gateway-port=1003"], environment).value(.gatewayPort) == 1_003)
            #expect(try await values(["--gateway-port", "1004"], environment).value(.gatewayPort) == 1_004)
        }
    }

    @Test("Bus sockets are below the runtime directory, which is below the state directory")
    func folders() async throws {
        let state = try await values([], ["MSI_STATE_DIR": "/srv/msi"])
        #expect(try state.value(.listen(.cube)) == "ipc:///srv/msi/run/cube.sock")
        #expect(try state.value(.endpoints(of: .messageLog)) == ["ipc:///srv/msi/run/message-log.sock"])
        let runtime = try await values([], ["MSI_STATE_DIR": "/srv/msi", "MSI_RUNTIME_DIR": "/run/msi"])
        #expect(try runtime.value(.listen(.fcmRelay)) == "ipc:///run/msi/fcm-relay.sock")
        let home = try await values().value(.stateDirectory)
        #expect(home.hasPrefix("/") && home.hasSuffix("/.local/state/msi"))
        #expect(try await values([], ["HOME": "/home/ann"]).value(.stateDirectory) == "/home/ann/.local/state/msi")
    }

    @Test("A secret is read from the environment only; it has no flag, and no error shows it")
    func secrets() async throws {
        let accepted = SettingDeclaration.common + [Setting.databaseURL.declaration]
        func values(_ arguments: [String], _ environment: [String: String]) async throws -> SettingValues {
            try await SettingValues(arguments: arguments, environment: environment, accepted: accepted)
        }
        let url = "mongodb://ann:s3cret@localhost/campus"
        #expect(try await values([], ["MSI_DATABASE_URL": url]).value(.databaseURL) == url)
        for arguments in [["--database-url", url], ["--database-url=" + url]] {
            let problem = "--database-url would be seen in every list of processes; set MSI_DATABASE_URL instead"
            await #expect { try await values(arguments, [:]) } throws: { "\($0)" == problem }
        }
        struct Unreadable: Error {}
        let read = try await values([], ["MSI_DATABASE_URL": url])
        let unreadable = "MSI_DATABASE_URL: Unreadable()"
        #expect { try read.optional(.databaseURL) { _ in throw Unreadable() } } throws: { "\($0)" == unreadable }
        let help = "\(SettingHelp(program: "msi-cube", summary: "", settings: accepted))"
        #expect(help.contains("  [MSI_DATABASE_URL]\n") && !help.contains("--database-url"))
    }

    @Test("Lists are separated by commas")
    func lists() async throws {
        let some = try await values([], ["MSI_CUBE_ENDPOINTS": "tcp://127.0.0.1:7000, tcp://127.0.0.2:7000"])
        #expect(try some.value(.endpoints(of: .cube)) == ["tcp://127.0.0.1:7000", "tcp://127.0.0.2:7000"])
        #expect(try await values().value(.gatewayCORSOrigins).isEmpty)
    }

    @Test(
        "A wrong value or name is refused with the name of the setting",
        arguments: [
            (["--gateway-port", "eighty"], [:], "MSI_GATEWAY_PORT: expected a whole number from 0 to 65535, found \"eighty\""),
            ([], ["MSI_GATEWAY_PORT": "65536"], "MSI_GATEWAY_PORT: expected"),
            ([], ["MSI_GATEWAY_PORT": ""], "MSI_GATEWAY_PORT: expected"),
            ([], ["MSI_LOG_LEVEL": "loud"], "one of trace, debug"),
            ([], ["MSI_FCM_ENDPOINT": "http://127.0.0.1"], "MSI_FCM_ENDPOINT: expected an https:// URL"),
            ([], ["MSI_FCM_ENDPOINT": "https://a@b"], "MSI_FCM_ENDPOINT: expected an https:// URL"),
            ([], ["MSI_FCM_TOPIC_ENDPOINT": "https://h?x#"], "MSI_FCM_TOPIC_ENDPOINT: expected an https:// URL"),
            ([], ["MSI_GATEWAY_CORS_ORIGINS": "https://a:b:c"], "MSI_GATEWAY_CORS_ORIGINS: expected origins"),
            (
                [], ["MSI_GATEWAY_PROT": "1"],
                "MSI_GATEWAY_PROT in the environment is not a setting; did you mean MSI_GATEWAY_PORT?"
            ),
            (["--gatewayport", "1"], [:], "--gatewayport is not a flag of this program; did you mean --gateway-port?"),
            (["--fcm-endpoint", "https://x"], [:], "--fcm-endpoint is not a flag of this program"),
            (["8080"], [:], "\"8080\" is not a flag"),
            (["--gateway-port"], [:], "--gateway-port needs a value"),
            (
                ["--config-file", "/nowhere/at/all"], [:],
                "MSI_CONFIG_FILE: /nowhere/at/all cannot be read: No such file or directory"
            ),
            (["--config-file", "/proc"], [:], "MSI_CONFIG_FILE: /proc cannot be read: Is a directory"),
            ([], ["MSI_FCM_INFORMATION_PRIORITY": "low"], "expected one of high, normal, found \"low\""),
        ] as [([String], [String: String], String)])
    func refused(arguments: [String], environment: [String: String], expected: String) async throws {
        let problem = try #require(await problem(arguments, environment))
        #expect(problem.contains(expected), "\(problem)")
    }

    @Test("A setting that has ended stops the service that used it, and is a warning elsewhere")
    func ended() async throws {
        try await withFile("MSI_FCM_SERVER_KEY_FILE=/k\n") { file in
            let text = "MSI_FCM_SERVER_KEY_FILE in \(file) is not a setting: Google ended FCM's legacy API"
            let environment = ["MSI_CONFIG_FILE": file]
            let warnings = try await values([], environment).warnings
            #expect(warnings.count == 1 && warnings[0].hasPrefix(text), "\(warnings)")
            let relay = SettingDeclaration.common + ServiceEntry.fcmRelay.settings
            await #expect {
                try await SettingValues(arguments: [], environment: environment, accepted: relay)
            } throws: {
                "\($0)".hasPrefix(text)
            }
        }
    }

    @Test("An authority is a host and perhaps a port, and nothing else")
    func authorities() {
        for text in [
            "h", "fcm.googleapis.com", "127.0.0.1:8443", "[::1]", "[::ffff:1.2.3.4]:80", "LOCALHOST:0", "a_b-c.d:65535",
        ] {
            #expect(HTTPAuthority(text) != nil && isHTTPSOrigin("https://\(text)"), "\(text)")
        }
        for text in [
            "", ":80", "a@b", "h?x#", "h?", "h#", "h/", "h\\x", "h:", "h:+1", "h:-1", "h:65536", "h:8:8", "[::1]evil.example",
            "127.0.0.1:evil.example", "[]", "[::1", "::1", "[::1%25lo]", "a b", "é", "h\n", "h:８０",
        ] {
            #expect(HTTPAuthority(text) == nil && !isHTTPSOrigin("https://\(text)"), "\(text)")
        }
        #expect(HTTPAuthority("LOCALHOST:80")?.host == "localhost" && HTTPAuthority("[::A]:80")?.port == 80)
    }

    @Test(
        "A name with one or two typing errors is refused with the name of the setting",
        arguments: [
            ("MSI_GATEWAY_PORTS", "MSI_GATEWAY_PORT"), ("MSI_GATWAY_PROT", "MSI_GATEWAY_PORT"), ("MSI_STATEDIR", "MSI_STATE_DIR"),
            ("MSI_DATABASE_ULR", "MSI_DATABASE_URL"), ("MSI_FCM_SERVICE_ACOUNT_FLE", "MSI_FCM_SERVICE_ACCOUNT_FILE"),
        ])
    func slips(name: String, meant: String) async throws {
        let inEnvironment = try #require(await problem([], [name: "1"]))
        #expect(inEnvironment == "\(name) in the environment is not a setting; did you mean \(meant)?")
        try await withFile("\(name)=1\n") { file in
            let inFile = try #require(await problem(["--config-file", file]))
            #expect(inFile == "\(name) in \(file) is not a setting; did you mean \(meant)?")
        }
    }

    @Test("No setting has the name of another one with two typing errors: an older version without one of them would not start")
    func upgrades() {
        let names = SettingDeclaration.all.map(\.name)
        // Every version has both.
        let known: Set = ["MSI_GATEWAY_HOST", "MSI_GATEWAY_PORT"]
        for name in names {
            for other in names where name < other && ![name, other].allSatisfy(known.contains) {
                #expect(editDistance(name, other) > 2, "\(name) and \(other)")
            }
        }
    }

    @Test("Any other unknown name is a warning; the name of another service's setting is not")
    func otherNames() async throws {
        try await withFile("MSI_COLOUR=red\nMSI_FCM_QUOTA=1\n") { file in
            let values = try await values(
                [], ["MSI_CONFIG_FILE": file, "MSI_GATEWAY_SERVICE_HOST": "10.0.0.1", "MSI_CUBE_LISTEN": "x", "HOME": "/root"])
            #expect(
                values.warnings == [
                    "MSI_GATEWAY_SERVICE_HOST in the environment is not a setting of this version, and is ignored",
                    "MSI_COLOUR in \(file) is not a setting of this version, and is ignored",
                ])
        }
    }

    @Test("A setting that is in the file twice is a warning with its lines and without its values; the last one counts")
    func repeated() async throws {
        let text = """
            MSI_GATEWAY_PORT=1001
            # MSI_GATEWAY_PORT=1002
            MSI_DATABASE_URL=mongodb://ann:s3cret@one

            MSI_GATEWAY_PORT=1003
            MSI_DATABASE_URL=mongodb://ann:s3cret@two
            MSI_GATEWAY_PORT = 1004
            """
        try await withFile(text) { file in
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let values = try await values(["--config-file", file])
            #expect(
                values.warnings == [
                    "MSI_DATABASE_URL is in the lines 3 and 6 of \(file); only line 6 counts",
                    "MSI_GATEWAY_PORT is in the lines 1, 5 and 7 of \(file); only line 7 counts",
                ])
            #expect(try values.value(.gatewayPort) == 1_004)
        }
    }

    @Test("A file with a secret that others can read is a warning")
    func readableFile() async throws {
        try await withFile { file in
            for (line, mode, isWarning) in [
                ("MSI_DATABASE_URL=x", 0o600, false), ("MSI_DATABASE_URL=x", 0o640, true), ("MSI_DATABASE_URL=x", 0o604, true),
                ("MSI_GATEWAY_PORT=1", 0o644, false),
            ] {
                try Data(line.utf8).write(to: URL(filePath: file))
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                let warnings = try await values(["--config-file", file]).warnings
                #expect(
                    warnings.contains { $0.contains(file) && $0.contains(String(mode, radix: 8)) } == isWarning, "\(warnings)")
            }
        }
    }

    @Test(
        "An invalid line of the file is named by its number, and its content is not shown",
        arguments: [
            "MSI_DATABASE_URL mongodb://ann:s3cret@h/msi", "MSI_DATABASE_URL mongodb://ann:s3cret@h/msi?w=1", "s3cret",
            "s3cret==", "MSI_s3cret",
        ])
    func strayLine(line: String) async throws {
        try await withFile("# ports\n\nMSI_GATEWAY_PORT=1\n\(line)\n") { file in
            let problem = try #require(await problem(["--config-file", file]))
            #expect(problem == "line 4 of \(file) is not a setting: expected MSI_NAME=value")
        }
    }

    @Test("A missing required setting is an error that names it")
    func required() async throws {
        let values = try await values()
        #expect(throws: ConfigurationError.self) { try values.value(.fcmServiceAccountFile) }
        #expect(try values.optional(.fcmCAFile) == nil)
    }

    @Test("Every setting has its own name and flag")
    func unique() {
        let all = SettingDeclaration.all
        #expect(Set(all.map(\.name)).count == all.count)
        #expect(Setting.gatewayPort.declaration.name == "MSI_GATEWAY_PORT")
        #expect(Setting.fcmServiceAccountFile.declaration.name == "MSI_FCM_SERVICE_ACCOUNT_FILE")
        #expect(Setting.fcmServiceAccountFile.declaration.flag == "--fcm-service-account-file")
    }
}

@Suite("Edit distance")
struct EditDistanceTests {
    @Test(
        "Each typing error counts once",
        arguments: [
            ("", "", 0), ("PORT", "PORT", 0), ("", "PORT", 4), ("PORT", "PORTS", 1), ("PORT", "PRT", 1), ("PORT", "PART", 1),
            ("PORT", "PROT", 1), ("PORT", "RPOTS", 3), ("PORT", "LEVEL", 5), ("AB", "BA", 1), ("ABCD", "BADC", 2),
        ])
    func distance(one: String, other: String, expected: Int) {
        #expect(editDistance(one, other) == expected)
        #expect(editDistance(other, one) == expected)
    }
}
