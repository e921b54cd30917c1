import Store
import Schemas
import TestSupport
import Testing

/// Changes of `icube` in MongoDB by another program while the hub is running.
@Suite("Foreign edits of the cube over HTTP", .timeLimit(.minutes(10)))
struct ForeignCubeEditTests {
    @Test("Another program's changes in icube are listed with a new ETag and can be posted to; damaged documents are left out")
    func edits() async throws {
        let url = try #require(try await StoreKind.mongodb.newDatabaseURL())
        let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: quietLogger)
        try await perform {
            try await edits(in: database, at: url)
        } finally: {
            await database.close()
        }
    }

    private func edits(in database: MongoDatabase, at url: String) async throws {
        try await RunningGateway.with(database: url) { gateway in
            let path = try await gateway.makeSubject()
            let channel = try #require(ObjectID(path.channel))
            #expect(try await gateway.requestUntilTaken("POST", "/message", body: path.message()).status == 201)
            // Everyone's version: a token whose check takes long would not count, and the two have other ETags.
            var listed = try await gateway.with(token: nil).request("GET", "/channel")

            // A new name.
            try await database.run {
                _ = try $0.update(["_id": channel.bson], ["$set": ["name": "renamed elsewhere"]], in: "icube")
            }
            listed = try await changed(since: listed, at: gateway)
            #expect(listed.text.contains("renamed elsewhere"))

            // A channel with a subject that is posted to.
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let subject: BSONDocument = [
                "id": topic.subject.bson, "name": "S", "desc": "", "access": [ObjectID().bson], "topic_key": topic.bson,
                "opt": ["level": "Forced", "distribution": "Alert"], "tags": [],
            ]
            let area: BSONDocument = ["id": topic.area.bson, "name": "A", "desc": "", "subjects": [.document(subject)]]
            let added: BSONDocument = ["_id": topic.channel.bson, "name": "C", "desc": "", "areas": [.document(area)]]
            try await database.run { connection in
                let errors = try connection.insert([added], into: "icube")
                #expect(errors == [nil])
            }
            listed = try await changed(since: listed, at: gateway)
            #expect(listed.text.contains("\(topic)"))
            let message = path.message().replacing(path.topicKey, with: "\(topic)")
            #expect(try await gateway.requestUntilTaken("POST", "/message", body: message).status == 201)

            // Its distribution is changed, and then removed.
            for (distribution, problem) in [("Information", "distribution-mismatch"), ("Loud", "topic-unknown")] {
                try await database.run {
                    _ = try $0.update(
                        ["_id": topic.channel.bson], ["$set": ["areas.0.subjects.0.opt.distribution": distribution.bson]],
                        in: "icube")
                }
                listed = try await changed(since: listed, at: gateway)
                let refused = try await gateway.requestUntilTaken("POST", "/message", body: message)
                #expect(refused.status == 400 && refused.problem == problem, "\(refused)")
            }
            let spoilt = "/subject/\(topic.channel)/\(topic.area)/\(topic.subject)"
            let kept = try await gateway.requestUntilTaken("DELETE", spoilt, headers: ["If-Match": try #require(listed["etag"])])
            #expect(kept.status == 409 && kept.problem == "conflict" && kept.object["field"] as? String == "subjectID", "\(kept)")

            // An unreadable channel does not affect the others.
            try await database.run {
                _ = try $0.update(["_id": topic.channel.bson], ["$set": ["name": 7]], in: "icube")
            }
            listed = try await changed(since: listed, at: gateway)
            #expect(listed.status == 200 && !listed.text.contains("\(topic.channel)") && listed.text.contains(path.channel))
            #expect(try await gateway.requestUntilTaken("POST", "/message", body: path.message()).status == 201)
            try await eventually { try await gateway.request("GET", "/health").status == 200 }
        }
    }

    /// Waits for another ETag than the one of an answer.
    private func changed(since before: HTTPAnswer, at gateway: RunningGateway) async throws -> HTTPAnswer {
        let tag = try #require(before["etag"])
        var answer = before
        try await eventually {
            answer = try await gateway.with(token: nil).request("GET", "/channel", headers: ["If-None-Match": tag])
            return answer.status == 200
        }
        #expect(answer["etag"] != tag)
        return answer
    }
}
