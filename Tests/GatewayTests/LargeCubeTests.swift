import CubeStorage
import Foundation
import Schemas
import TestSupport
import Testing

/// A large cube: additions are refused, and everything else works.
@Suite("Large cube", .serialized, .timeLimit(.minutes(10)))
struct LargeCubeTests {
    /// 2,000 characters of four bytes.
    private static let long = String(repeating: "🎓", count: 2_000)

    @Test(
        "Beyond 1,400 subjects with long descriptions the answer is 507; listing, posting and deleting go on, also after a restart"
    )
    func fill() async throws {
        try await withTemporaryFolder { folder in
            let path = try await RunningGateway.with(in: folder) { gateway in
                let path = try await gateway.makeSubject()
                let body = #"{"name":"n","desc":"\#(Self.long)","opt":{"level":"","distribution":"Alert"}}"#
                let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var statuses: [Int] = []
                            for _ in 0..<350 {
                                let target = "/subject/\(path.channel)/\(path.area)"
                                statuses.append(try await gateway.request("POST", target, body: body).status)
                            }
                            return statuses
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(Set(statuses) == [201, 507])
                // 8 MiB.
                #expect((1_000..<1_048).contains(statuses.count { $0 == 201 }))
                let refused = try await gateway.request("POST", "/channel", body: #"{"name":"n","desc":"\#(Self.long)"}"#)
                #expect(refused.status == 507 && refused.problem == "storage-full")
                #expect((refused.object["detail"] as? String)?.contains("MSI_CUBE_SIZE_LIMIT") == true)
                try await expectWorking(gateway, path)
                return path
            }
            try await RunningGateway.with(in: folder) { gateway in
                try await expectWorking(gateway, path)
                let channel = try await gateway.request("POST", "/channel", body: #"{"name":"n","desc":"\#(Self.long)"}"#)
                #expect(channel.status == 507)
                let area = "/area/\(path.channel)/\(path.area)"
                #expect(try await gateway.request("DELETE", area).status == 204)
                _ = try await gateway.makeSubject()
            }
        }
    }

    @Test("A cube that is larger than any reply can be listed, posted to, and made smaller")
    func largerThanAReply() async throws {
        try await withTemporaryFolder { folder in
            let topic = try await storeLargeCube(in: folder)
            try await RunningGateway.with(in: folder) { gateway in
                let path = SamplePath(
                    channel: "\(topic.channel)", area: "\(topic.area)", subject: "\(topic.subject)", topicKey: "\(topic)")
                try await expectWorking(gateway, path)
                let listed = try await gateway.request("GET", "/channel")
                #expect(listed.body.count > 20 << 20)
                let areas = try #require((listed.array.first as? [String: Any])?["areas"] as? [[String: Any]])
                #expect(areas.compactMap { ($0["subjects"] as? [Any])?.count } == [2_000, 600])

                let area = "/area/\(path.channel)/\(path.area)"
                let longer = try await gateway.request("PUT", area, body: #"{"name":"A longer name","desc":"d"}"#)
                #expect(longer.status == 507)
                let subject = "/subject/\(path.channel)/\(path.area)/\(path.subject)"
                let shorter = #"{"name":"n","desc":"","opt":{"level":"","distribution":"Alert"}}"#
                #expect(try await gateway.request("PUT", subject, body: shorter).status == 200)
                #expect(try await gateway.request("DELETE", subject).status == 204)
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 400)
            }
        }
    }

    private func expectWorking(_ gateway: RunningGateway, _ path: SamplePath) async throws {
        let listed = try await gateway.request("GET", "/channel")
        #expect(listed.status == 200 && listed.array.count == 1)
        #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
        #expect(try await gateway.request("GET", "/health").status == 200)
    }

    /// Stores a cube of one channel in the service's database.
    ///
    /// - Returns: The first subject.
    private func storeLargeCube(in folder: String) async throws -> TopicKey {
        let channel = ObjectID()
        let areas = [2_000, 600].map { count in
            let area = ObjectID()
            return Area(
                id: area, name: "A", desc: "",
                subjects: (0..<count).map { _ in
                    let topic = TopicKey(channel: channel, area: area, subject: ObjectID())
                    return Subject(
                        id: topic.subject, name: "n", desc: Self.long, topicKey: topic,
                        opt: SubjectOptions(level: .optional, distribution: .alert))
                })
        }
        let store = try await openCubeStore(
            database: nil, folder: folder, sizeLimit: CubeSizeLimit(bytes: 1), logger: quietLogger)
        try await store.restore(CubeSnapshot(version: 7, channels: [Channel(id: channel, name: "C", desc: "", areas: areas)]))
        try await store.close()
        return try #require(areas.first?.subjects.first).topicKey
    }
}

extension HTTPAnswer {
    /// The body as an array; empty if it is not an array.
    fileprivate var array: [Any] {
        (try? JSONSerialization.jsonObject(with: body)) as? [Any] ?? []
    }
}
