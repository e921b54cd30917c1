import Base
import Bus
import FoundationEssentials
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport
import Testing

extension HarmTests {
    /// The product with its data in MongoDB.
    @Suite("MongoDB", .serialized)
    struct MongoDBTests {
        private static let servicesWithData = ServiceEntry.all.filter(\.keepsData)

        @Test(
            """
            Accepted messages survive a kill of the database; requests get 503 until it is back; an outage is logged once. Only the services \
            that use the database are told the file with its address
            """)
        func outage() async throws {
            try await withMongoServer { server in
                try await withAddressFile(of: server) { file in
                    try await withStack(settings: ["MSI_DATABASE_URL_FILE": file]) { stack in
                        try await expectWithheld("MSI_DATABASE_URL_FILE", file, at: stack)
                        try await expectOneOutage(of: server, at: stack)
                    }
                }
            }
        }

        @Test("While the database is unreachable, everything starts, and the accounts are made once it is reachable")
        func unreachable() async throws {
            try await withMongoServer { server in
                await server.stop()
                let url = server.url()
                try await withStack(settings: ["MSI_DATABASE_URL": url]) { stack in
                    #expect(stack.program.lines.contains { $0.hasPrefix("the accounts cannot be read or made yet: ") })
                    try await server.restart()
                    try await eventually("the token") {
                        guard let text = try? String(contentsOfFile: stack.stateDirectory + "/token", encoding: .utf8) else {
                            return false
                        }
                        return try await stack.portal.with(token: String(text.prefix { !$0.isWhitespace })).call(.GET, "/session")
                            .status == 200
                    }
                    // However often the accounts could not be made.
                    #expect(stack.program.lines.count { $0.hasPrefix("first start") } == 1)
                    let password = try stack.firstPassword
                    _ = try await stack.withPeople {
                        try await $0.request(BeginSignIn(account: "admin", password: password, address: "127.0.0.1"))
                    }
                    try await expectWithheld("MSI_DATABASE_URL", url, at: stack)
                }
            }
        }

        /// Expects that only the services with data have a setting, and that they keep nothing in files.
        private func expectWithheld(_ name: String, _ value: String, at stack: Stack) async throws {
            let told = try stack.processes.filter { _, id in
                try Data(contentsOf: URL(filePath: "/proc/\(id)/environ")).split(separator: 0)
                    .contains { String(decoding: $0, as: UTF8.self) == "\(name)=\(value)" }
            }
            #expect(Set(told.keys) == Set(Self.servicesWithData.map(\.executable)))
            #expect(stack.processes.count == Stack.services.count)
            try await stack.healthy()
            for file in Self.servicesWithData.flatMap(\.stateFiles) where file.hasSuffix(".sqlite") {
                #expect(!FileManager.default.fileExists(atPath: stack.stateDirectory + "/" + file))
            }
        }

        /// - Parameter body: Gets the path of a file with the connection string of a database.
        private func withAddressFile(of server: MongoServer, _ body: (String) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                let file = folder + "/url"
                try Data("\(server.url(database: "campus"))\n".utf8).write(to: URL(filePath: file))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                try await body(file)
            }
        }

        private func expectOneOutage(of server: MongoServer, at stack: Stack) async throws {
            let portal = stack.portal
            let subject = try await portal.makeSubject("Information")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let processes = stack.processes
                var accepted: Set<String> = []
                for number in 0..<20 {
                    accepted.insert(try await portal.accepted(subject.message(title: "\(number)")))
                }
                await server.kill()
                try await expectUnavailable(portal, subject)

                try await server.restart()
                try await eventually("a message is accepted again") {
                    let posted = try await portal.post(subject.message(title: "after"))
                    guard posted.status == 201 else { return false }
                    accepted.insert(try #require(try posted.json["msi_key"]?.string))
                    return true
                }
                // The gateway answers 200 with its copies of what other services have not read again yet.
                try await stack.healthy()
                for key in accepted { _ = try await portal.message(key, hasState: "relayed") }
                let expected = accepted
                _ = try await phone.events(expected.count) { expected.contains($0.msiKey) }
                let cube = try await portal.call(.GET, "/channel")
                #expect(cube.status == 200)
                #expect(String(decoding: cube.body, as: UTF8.self).contains(subject.topicKey))
                #expect(stack.processes == processes)
                for service in Self.servicesWithData { try expectOneOutage(in: service.executable, of: stack) }
            }
        }

        private func expectUnavailable(_ portal: Portal, _ subject: SubjectPath) async throws {
            // A result of the moment before is shared for half a second.
            try await eventually("a health that says so") {
                let health = try await portal.call(.GET, "/health")
                return health.status == 503 && health["Retry-After"] != nil
            }
            // The first service that notices searches for another server, longer than the gateway's timeout.
            try await eventually("all services with data say that their database is away") {
                let services = try await portal.call(.GET, "/health").json["services"]
                return Self.servicesWithData.filter { $0.gatewayNeed != .reportedByOther }
                    .allSatisfy { services?[$0.name]?.string == "unavailable" }
            }
            // The gateway's copy of the cube is still served, within MSI_GATEWAY_PEOPLE_GRACE.
            #expect(try await portal.call(.GET, "/channel").status == 200)
            let calls: [(HTTPMethod, String, JSONValue?)] = [
                (.POST, "/channel", ["name": "C", "desc": ""]), (.GET, "/message", nil),
                (.POST, "/message", subject.message()), (.GET, "/message/\(subject.channel)", nil),
            ]
            for (method, path, body) in calls {
                let answer = try await portal.call(method, path, body)
                #expect(answer.status == 503, "\(method) \(path): \(answer)")
                #expect(answer["Retry-After"] != nil)
            }
        }

        private func expectOneOutage(in service: String, of stack: Stack) throws {
            let log = try String(contentsOfFile: "\(stack.stateDirectory)/log/\(service).log", encoding: .utf8)
            let lines = log.split(separator: "\n")
            // The message log has one store for the messages and one for the templates. On a busy machine the restarted server can be
            // too slow once more.
            let stores = 2 * (service == ServiceEntry.messageLog.executable ? 2 : 1)
            #expect((1...stores).contains(lines.count { $0.contains("the database is away") }), "\(log)")
            #expect((1...stores).contains(lines.count { $0.contains("the database is back") }), "\(log)")
            // Each kind of work that fails is named once, not at each of its many attempts.
            let complaints = try lines.map { try JSONValue(parsing: Array($0.utf8)) }.filter { line in
                line["level"] == "warning" || line["level"] == "error"
            }
            let times = complaints.reduce(into: [:]) { times, line in times[line["message"]?.string ?? "", default: 0] += 1 }
            #expect(times.values.allSatisfy { $0 <= stores }, "\(complaints)")
        }
    }
}
