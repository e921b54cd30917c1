import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import FCMRelay

@Suite("The file of further projects")
struct ProjectsFileTests {
    private static let channel = ObjectID()

    private static func read(_ text: String) async throws -> ProjectsFile {
        try await withTemporaryFolder { folder in
            try text.write(toFile: "\(folder)/projects.json", atomically: true, encoding: .utf8)
            return try ProjectsFile(file: "\(folder)/projects.json")
        }
    }

    @Test("The file has the account, the channels and the pace of each project")
    func good() async throws {
        let file = try await Self.read(
            #"""
            {"projects":[{"service_account_file":"/a.json","channels":["\#(Self.channel)"],"quota":1000,"quota_share":50},
                         {"project":"old","server_key_file":"/k.txt","endpoint":"https://gateway.test:8443"}]}
            """#)
        #expect(file.projects.map(\.serviceAccountFile) == ["/a.json", nil])
        #expect(file.projects.map(\.serverKeyFile) == [nil, "/k.txt"])
        #expect(file.projects.map(\.channels) == [[Self.channel], nil])
        #expect(file.projects[0].quota == 1_000)
        #expect(file.projects[0].quotaShare == 50)
        #expect(file.projects[1].endpoint == "https://gateway.test:8443")
    }

    @Test(
        "An error in the file is named",
        arguments: [
            ("", "not valid JSON"), ("{}", "projects: missing"), (#"{"projects":[{}]}"#, "projects[0].service_account_file"),
            (#"{"projects":[{"service_account_file":"a","server_key_file":"b"}]}"#, "projects[0].service_account_file"),
            (#"{"projects":[{"server_key_file":"b"}]}"#, "projects[0].project"),
            (#"{"projects":[{"service_account_file":"a","channels":["x"]}]}"#, "projects[0].channels[0]"),
            (#"{"projects":[{"service_account_file":"a","quota":0}]}"#, "projects[0].quota"),
            (#"{"projects":[{"service_account_file":"a","endpoint":"http://x"}]}"#, "projects[0].endpoint"),
            (#"{"projects":[{"service_account_file":"a","colour":"red"}]}"#, "projects[0].colour"),
            (
                #"{"projects":[{"service_account_file":"a","channels":["\#(channel)"]},{"service_account_file":"b","channels":["\#(channel)"]}]}"#,
                "\(channel) is in it twice"
            ),
        ])
    func bad(text: String, problem: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { _ = try await Self.read(text) }
        let words = error.map { "\($0)" } ?? ""
        #expect(words.contains("MSI_FCM_PROJECTS_FILE"))
        #expect(words.contains(problem))
    }

    @Test("A server key is one line, and no error shows it")
    func serverKeys() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/key"
            try "AAAA-secret\n".write(toFile: path, atomically: true, encoding: .utf8)
            let key = try ServerKey(file: path)
            #expect(key.value == "AAAA-secret")
            #expect(!"\(key) \(String(reflecting: key))".contains("secret"))
            for text in ["", "two secret\n", "secret\nsecret\n", "\n", "schlüssel-secret"] {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                let error = #expect(throws: ConfigurationError.self) { try ServerKey(file: path) }
                #expect(error.map { !"\($0)".contains("secret") && "\($0)".contains(path) } == true)
            }
            #expect(throws: ConfigurationError.self) { try ServerKey(file: "\(folder)/nothing") }
        }
    }

    @Test("Missing credentials are an error that names the setting and the file")
    func credentials() async throws {
        let nothing = try await SettingValues(
            arguments: [], environment: [:],
            accepted: [Setting.fcmServiceAccountFile.declaration, Setting.fcmServerKeyFile.declaration])
        let none = #expect(throws: ConfigurationError.self) { try ProjectCredentials(settings: nothing) }
        for name in ["MSI_FCM_SERVICE_ACCOUNT_FILE", "MSI_FCM_SERVER_KEY_FILE"] {
            #expect(none.map { "\($0)".contains(name) } == true)
        }
        for field in ["service_account_file", "server_key_file"] {
            let file = try await Self.read(#"{"projects":[{"project":"p","\#(field)":"/nowhere/key"}]}"#)
            let error = #expect(throws: ConfigurationError.self) { try ProjectCredentials(file.projects[0]) }
            for part in ["MSI_FCM_PROJECTS_FILE", "/nowhere/key", "no such file"] {
                #expect(error.map { "\($0)".contains(part) } == true)
            }
        }
    }
}
