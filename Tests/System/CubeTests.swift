import JSON
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

        @Test("A PUT replaces all fields, keeps the objects inside, and is visible at once")
        func replace() async throws {
            let path = try await portal.makeSubject("Alert")
            let channelAnswer = try await portal.call(.PUT, "/channel/\(path.channel)", ["name": "C2", "desc": "c2"])
            let areaAnswer = try await portal.call(
                .PUT, "/area/\(path.channel)/\(path.area)", ["name": "A2", "desc": "a2"])
            let opt: JSONValue = ["level": "Forced", "distribution": "Information"]
            let subjectAnswer = try await portal.call(
                .PUT, "/subject/\(path.channel)/\(path.area)/\(path.subject)", ["name": "S2", "desc": "s2", "opt": opt])
            let subject: JSONValue = [
                "id": "\(path.subject)", "name": "S2", "desc": "s2", "access": [], "topic_key": "\(path.topicKey)", "opt": opt,
                "tags": [],
            ]
            let area: JSONValue = [
                "id": "\(path.area)", "name": "A2", "desc": "a2", "access": [], "subjects": [subject],
            ]
            #expect([channelAnswer, areaAnswer, subjectAnswer].map(\.status) == [200, 200, 200])
            #expect(try subjectAnswer.json == subject)
            #expect(try areaAnswer.json["name"] == "A2")
            #expect(try areaAnswer.json["subjects"]?.array.count == 1)
            #expect(try channelAnswer.json["areas"]?.array.count == 1)
            let listed = try await portal.call(.GET, "/channel").json.array.first { $0["_id"]?.string == path.channel }
            #expect(listed == ["_id": "\(path.channel)", "name": "C2", "desc": "c2", "access": [], "areas": [area]])
        }

        @Test("A missing, null, unknown or wrong field is an error that names it, and changes nothing")
        func fields() async throws {
            let path = try await portal.makeSubject("Alert")
            let named: JSONValue = ["name": "N", "desc": "D"]
            let subject: JSONValue = ["name": "N", "desc": "D", "opt": ["level": "", "distribution": "Alert"]]
            let channelPath = "/channel/\(path.channel)"
            let areaPath = "/area/\(path.channel)/\(path.area)"
            let subjectPath = "/subject/\(path.channel)/\(path.area)/\(path.subject)"
            let before = try await portal.call(.GET, "/channel").json
            var cases: [(String, String, JSONValue)] = []
            for (url, whole) in [(channelPath, named), (areaPath, named), (subjectPath, subject)] {
                for field in whole.names {
                    var without = whole
                    without[field] = nil
                    var null = whole
                    null[field] = .null
                    cases += [(url, field, without), (url, field, null)]
                }
                var more = whole
                more["colour"] = "red"
                cases.append((url, "colour", more))
            }
            for option in ["level", "distribution"] {
                var without = subject
                without["opt"]?[option] = nil
                var wrong = subject
                wrong["opt"]?[option] = "alert"
                cases += [(subjectPath, "opt.\(option)", without), (subjectPath, "opt.\(option)", wrong)]
            }
            for (url, field, body) in cases {
                let answer = try await portal.call(.PUT, url, body)
                #expect(answer.status == 400, "\(url) \(body)")
                #expect(answer["Content-Type"] == "application/problem+json")
                #expect(try answer.json["field"]?.string == field, "\(url) \(body)")
            }
            #expect(try await portal.call(.GET, "/channel").json == before)
        }

        @Test("Unknown ids are 404, and malformed ones are 400")
        func identifiers() async throws {
            let path = try await portal.makeSubject("Alert")
            let other = try await portal.makeSubject("Alert")
            let nobody = "0123456789abcdef01234567"
            let named: JSONValue = ["name": "N", "desc": "D"]
            let subject: JSONValue = ["name": "N", "desc": "D", "opt": ["level": "", "distribution": "Alert"]]
            let missing = [
                "/channel/\(nobody)", "/area/\(nobody)/\(path.area)", "/area/\(path.channel)/\(nobody)",
                // All objects exist, but not as parts of each other.
                "/area/\(path.channel)/\(other.area)",
                "/subject/\(path.channel)/\(path.area)/\(other.subject)",
                "/subject/\(path.channel)/\(path.area)/\(nobody)",
                "/subject/\(other.channel)/\(path.area)/\(path.subject)",
            ]
            for url in missing {
                let body = url.hasPrefix("/subject") ? subject : named
                #expect(try await portal.call(.PUT, url, body).status == 404, "PUT \(url)")
                #expect(try await portal.call(.DELETE, url).status == 404, "DELETE \(url)")
            }
            #expect(try await portal.call(.POST, "/area/\(nobody)", named).status == 404)
            #expect(try await portal.call(.POST, "/subject/\(other.channel)/\(path.area)", subject).status == 404)
            for url in ["/channel/1", "/area/\(path.channel)/\(path.area)0", "/subject/x/\(path.area)/\(path.subject)"] {
                let answer = try await portal.call(.DELETE, url)
                #expect(answer.status == 400, "\(url)")
                #expect(try answer.json["field"]?.string?.hasSuffix("ID") == true)
            }
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

        @Test("An unchanged cube is answered with 304, and a changed one with 200")
        func entityTag() async throws {
            _ = try await portal.makeSubject("Alert")
            let first = try await portal.call(.GET, "/channel")
            let tag = try #require(first["ETag"])
            let unchanged = try await portal.call(.GET, "/channel", headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            #expect(unchanged["ETag"] == tag)
            _ = try await portal.makeSubject("Alert")
            let changed = try await portal.call(.GET, "/channel", headers: ["If-None-Match": tag])
            #expect(changed.status == 200)
            #expect(changed["ETag"] != tag)
        }

        @Test("Of two edits of one version the second is refused, and succeeds after a new read")
        func lostUpdate() async throws {
            let path = try await portal.makeSubject("Alert")
            let url = "/area/\(path.channel)/\(path.area)"
            let seen = try #require(try await portal.call(.GET, "/channel")["ETag"])
            let ann = try await portal.call(.PUT, url, headers: ["If-Match": seen], ["name": "Ann's", "desc": ""])
            #expect(ann.status == 200)
            let bob = try await portal.call(.PUT, url, headers: ["If-Match": seen], ["name": "Bob's", "desc": ""])
            #expect(bob.status == 412)
            #expect(try await portal.call(.DELETE, url, headers: ["If-Match": seen]).status == 412)
            let again = try #require(ann["ETag"])
            #expect(try await portal.call(.PUT, url, headers: ["If-Match": again], ["name": "Bob's", "desc": ""]).status == 200)
            #expect(try await portal.call(.DELETE, url, headers: ["If-Match": "v1"]).status == 400)
        }
    }
}
