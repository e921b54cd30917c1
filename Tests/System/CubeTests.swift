import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The seed's REST API for channels, areas and subjects.
    @Suite("The cube over HTTP")
    struct CubeTests {
        let portal: Portal

        init() throws {
            portal = try SharedStack.current.portal
        }

        @Test("A channel, an area and a subject are added and listed in the seed's form")
        func make() async throws {
            let channelAnswer = try await portal.call(.POST, "/channel", ["name": "Library", "desc": "Books"])
            #expect(channelAnswer.status == 201)
            let channelID = try #require(try channelAnswer.json["_id"]?.string)
            #expect(channelID.wholeMatch(of: /[0-9a-f]{24}/) != nil)
            var channel: JSONValue = [
                "_id": "\(channelID)", "name": "Library", "desc": "Books", "access": [], "areas": [],
            ]
            #expect(try channelAnswer.json == channel)

            let areaAnswer = try await portal.call(.POST, "/area/\(channelID)", ["name": "مكتبة", "desc": ""])
            #expect(areaAnswer.status == 201)
            let areaID = try #require(try areaAnswer.json["id"]?.string)
            var area: JSONValue = ["id": "\(areaID)", "name": "مكتبة", "desc": "", "access": [], "subjects": []]
            #expect(try areaAnswer.json == area)

            var subjects: [JSONValue] = []
            for (level, distribution) in [("Forced", "Alert"), ("Recommended", "Information"), ("", "Alert")] {
                let draft: JSONValue = [
                    "name": "\"Hours\" 🕗", "desc": "line\nline",
                    "opt": ["level": "\(level)", "distribution": "\(distribution)"],
                ]
                let answer = try await portal.call(.POST, "/subject/\(channelID)/\(areaID)", draft)
                #expect(answer.status == 201)
                let id = try #require(try answer.json["id"]?.string)
                let subject: JSONValue = [
                    "id": "\(id)", "name": "\"Hours\" 🕗", "desc": "line\nline", "access": [],
                    "topic_key": "\(channelID)-\(areaID)-\(id)",
                    "opt": ["level": "\(level)", "distribution": "\(distribution)"], "tags": [],
                ]
                #expect(try answer.json == subject)
                subjects.append(subject)
            }

            area["subjects"] = .array(subjects)
            channel["areas"] = [area]
            let list = try await portal.call(.GET, "/channel")
            #expect(list.status == 200)
            #expect(list["Content-Type"] == "application/json")
            #expect(try list.json.array.filter { $0["_id"]?.string == channelID } == [channel])
        }

        @Test("A deletion also deletes the objects inside, and messages to them are refused")
        func delete() async throws {
            let path = try await portal.makeSubject("Alert")
            let sibling = try await portal.makeSubject("Alert", in: path.channel, path.area)
            let url = "/subject/\(path.channel)/\(path.area)/\(path.subject)"
            let deleted = try await portal.call(.DELETE, url)
            #expect(deleted.status == 204)
            #expect(deleted.body.isEmpty)
            #expect(try await portal.call(.DELETE, url).status == 404)
            let refused = try await portal.post(path.message())
            #expect(refused.status == 400)
            #expect(try refused.json["field"] == "topic_key")
            #expect(try await portal.post(sibling.message()).status == 201)

            #expect(try await portal.call(.DELETE, "/area/\(path.channel)/\(path.area)").status == 204)
            #expect(try await portal.post(sibling.message()).status == 400)
            #expect(try await portal.call(.DELETE, "/channel/\(path.channel)").status == 204)
            let list = try await portal.call(.GET, "/channel").json
            #expect(!list.array.contains { $0["_id"]?.string == path.channel })
        }
    }
}
