import Base
import FoundationEssentials
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import IdentityEmulator

/// What the emulator keeps in its folder, and the process itself.
@Suite("State of the identity emulator")
struct StateTests {
    @Test("Tokens and people of an earlier start count, and only the owner can read the files")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let (google, facebook) = try await withEmulator(in: folder) { emulator in
                try await emulator.put("hana", ["name": "Hana Hill"])
                return (try await emulator.token(.google, of: "hana"), try await emulator.token(.facebook, of: "hana"))
            }
            for name in ["keys.json", "people.json"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            try await withEmulator(in: folder) { emulator async throws in
                #expect(try await emulator.claims(of: google.text)["name"] == "Hana Hill")
                let path = "/facebook/v25.0/debug_token?access_token=1234567890%7Cemulated&input_token=\(facebook.text)"
                #expect(try await emulator.call(.GET, path).json["data"]?["user_id"] == "hana")
                #expect(try await emulator.call(.GET, "/").text.contains("Hana Hill"))
            }
        }
    }

    @Test(
        "A damaged file is an error that names it, and is not replaced",
        arguments: [("keys.json", "{"), ("keys.json", #"{"google.current":{"id":"1","pem":"x"}}"#), ("people.json", "[]")])
    func damaged(file: String, content: String) async throws {
        try await withTemporaryFolder { folder in
            try Data(content.utf8).write(to: URL(filePath: "\(folder)/\(file)"))
            let error = #expect(throws: StateFileError.self) { try Emulator(folder: folder, port: 0, logger: quietLogger) }
            #expect(error?.path == "\(folder)/\(file)")
            #expect(try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8) == content)
        }
    }

    @Test("There is a limit of people")
    func limit() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/people.json"
            let many = JSONValue.object((0..<People.max).map { .init("p\($0)", [:]) })
            try many.data.write(to: URL(filePath: file))
            let people = try People(file: file)
            await #expect(throws: Refusal.self) { try await people.put(EmulatedPerson(sub: "another", claims: [:])) }
            try await people.put(EmulatedPerson(sub: "p7", claims: ["name": "Seven"]))
            #expect(await people.person("p7").name == "Seven")
        }
    }

    @Test("The process says where it listens, and another one with the same state directory is refused")
    func process() async throws {
        try await withTemporaryFolder { folder in
            let settings = ["MSI_IDENTITY_EMULATOR_PORT": "0"]
            try await withService("msi-identity-emulator", in: folder, settings: settings) { process in
                try await withHTTPClient { http in
                    let emulator = IdentityServer(url: IdentityEmulatorAccess(port: try process.port).url, http: http)
                    #expect(try await emulator.call(.GET, KeyPath.google).status == 200)
                }
                let error = await #expect(throws: ServiceProcess.StartFailed.self) {
                    try await ServiceProcess("msi-identity-emulator", in: folder, settings: settings)
                }
                #expect(error?.description.contains("another identity emulator uses \(folder)/identity-emulator") == true)
            }
        }
    }
}
