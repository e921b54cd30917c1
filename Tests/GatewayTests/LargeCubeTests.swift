import CubeStorage
import Foundation
import Schemas
import TestSupport
import Testing

/// A large cube: additions are refused, and everything else works.
@Suite("Large cube", .timeLimit(.minutes(10)))
struct LargeCubeTests {
    /// 2,000 characters of four bytes.
    private static let long = String(repeating: "🎓", count: 2_000)

    @Test("A cube that is larger than any reply can be listed, posted to, and made smaller, and cannot grow")
    func largerThanAReply() async throws {
        try await withTemporaryFolder { folder in
            let topic = try await storeLargeCube(in: folder)
            try await RunningGateway.with(in: folder) { gateway in
                let path = SamplePath(
                    channel: "\(topic.channel)", area: "\(topic.area)", subject: "\(topic.subject)", topicKey: "\(topic)")
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
                #expect(try await gateway.request("GET", "/health").status == 200)
                let listed = try await gateway.request("GET", "/channel")
                #expect(listed.status == 200 && listed.body.count > 20 << 20)
                let channels = try #require(try JSONSerialization.jsonObject(with: listed.body) as? [[String: Any]])
                let areas = try #require(channels.first?["areas"] as? [[String: Any]])
                #expect(areas.compactMap { ($0["subjects"] as? [Any])?.count } == [2_000, 600] && channels.count == 1)

                let area = "/area/\(path.channel)/\(path.area)"
                let growths = [
                    ("PUT", area, #"{"name":"A longer name","desc":"d"}"#),
                    ("POST", "/channel", #"{"name":"n","desc":"\#(Self.long)"}"#),
                ]
                for (method, target, body) in growths {
                    let refused = try await gateway.request(method, target, body: body)
                    #expect(refused.status == 507 && refused.problem == "storage-full", "\(refused)")
                    #expect((refused.object["detail"] as? String)?.contains("MSI_CUBE_SIZE_LIMIT") == true)
                }
                let subject = "/subject/\(path.channel)/\(path.area)/\(path.subject)"
                let shorter = #"{"name":"n","desc":"","opt":{"level":"","distribution":"Alert"}}"#
                #expect(try await gateway.request("PUT", subject, body: shorter).status == 200)
                #expect(try await gateway.request("DELETE", subject).status == 204)
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 400)
                // Below the limit there is room again.
                #expect(try await gateway.request("DELETE", "/channel/\(path.channel)").status == 204)
                _ = try await gateway.makeSubject()
            }
        }
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
