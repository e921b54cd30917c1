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
                         {"project":"old","service_account_file":"/b.json","endpoint":"https://fcm.test:8443"}]}
            """#)
        #expect(file.projects.map(\.serviceAccountFile) == ["/a.json", "/b.json"])
        #expect(file.projects.map(\.channels) == [[Self.channel], nil])
        #expect(file.projects[0].quota == 1_000)
        #expect(file.projects[0].quotaShare == 50)
        #expect(file.projects[1].endpoint == "https://fcm.test:8443")
    }

    @Test(
        "An error in the file is named",
        arguments: [
            ("", "not valid JSON"), ("{}", "projects: missing"), (#"{"projects":[{}]}"#, "projects[0].service_account_file"),
            (#"{"projects":[{"service_account_file":"a","server_key_file":"b"}]}"#, "projects[0].server_key_file"),
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

    @Test("Missing credentials are an error that names the setting and the file")
    func credentials() async throws {
        func problem(_ environment: [String: String]) async throws -> String {
            let settings = try await SettingValues(arguments: [], environment: environment, accepted: [])
            let error = await #expect(throws: ConfigurationError.self) {
                try await ProjectFactory(settings: settings, logger: .quiet).projects()
            }
            return try #require(error).description
        }
        #expect(try await problem([:]).hasPrefix("MSI_FCM_SERVICE_ACCOUNT_FILE is required"))
        let missing = try await problem(["MSI_FCM_SERVICE_ACCOUNT_FILE": "/nowhere/key"])
        for part in ["MSI_FCM_SERVICE_ACCOUNT_FILE: ", "/nowhere/key", "no such file"] { #expect(missing.contains(part)) }
        try await withTemporaryFolder { folder in
            let (key, projects) = ("\(folder)/key.json", "\(folder)/projects.json")
            try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1:1/token").write(to: URL(filePath: key))
            try #"{"projects":[{"service_account_file":"/nowhere/key"}]}"#
                .write(toFile: projects, atomically: true, encoding: .utf8)
            let other = try await problem(["MSI_FCM_SERVICE_ACCOUNT_FILE": key, "MSI_FCM_PROJECTS_FILE": projects])
            for part in ["MSI_FCM_PROJECTS_FILE: ", "/nowhere/key", "no such file"] { #expect(other.contains(part)) }
        }
    }
}
