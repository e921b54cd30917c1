import FoundationEssentials
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// The product with its data in MongoDB.
    @Suite("MongoDB", .serialized)
    struct MongoDBTests {
        private static let servicesWithData = ServiceEntry.all.filter(\.keepsData)

        @Test("Only the services that use the database are told where it is")
        func secretOfTheDatabase() async throws {
            try await withMongoServer { server in
                try await expectWithheld("MSI_DATABASE_URL=\(server.url())")
                try await withTemporaryFolder { folder in
                    let file = folder + "/url"
                    try Data("\(server.url())\n".utf8).write(to: URL(filePath: file))
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                    try await expectWithheld("MSI_DATABASE_URL_FILE=\(file)")
                }
            }
        }

        private func expectWithheld(_ setting: String) async throws {
            let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
            try await withStack(settings: [parts[0]: parts[1]]) { stack in
                let told = try stack.processes.filter { _, id in
                    try Data(contentsOf: URL(filePath: "/proc/\(id)/environ")).split(separator: 0)
                        .contains { String(decoding: $0, as: UTF8.self) == setting }
                }
                #expect(Set(told.keys) == Set(Self.servicesWithData.map(\.executable)))
                #expect(stack.processes.count == Stack.services.count)
                try await stack.healthy()
                for file in Self.servicesWithData.flatMap(\.stateFiles) where file.hasSuffix(".sqlite") {
                    #expect(!FileManager.default.fileExists(atPath: stack.stateDirectory + "/" + file))
                }
            }
        }
    }
}
