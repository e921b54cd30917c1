import Schemas
import Testing

@testable import Gateway

/// Who may send to which subject, by the access lists on its path.
@Suite("Access to the cube")
struct CubeAccessTests {
    private let channel = ObjectID()
    private let area = ObjectID()
    private let subject = ObjectID()

    private var topic: TopicKey { TopicKey(channel: channel, area: area, subject: subject) }

    private func access(_ ofChannel: [String] = [], _ ofArea: [String] = [], _ ofSubject: [String] = []) -> CubeAccess {
        let subject = Subject(
            id: subject, name: "Storms", desc: "", access: ofSubject, topicKey: topic,
            opt: SubjectOptions(level: .optional, distribution: .alert))
        let area = Area(id: area, name: "Weather", desc: "", access: ofArea, subjects: [subject])
        return CubeAccess([Channel(id: channel, name: "Campus", desc: "", access: ofChannel, areas: [area])])
    }

    @Test("A communicator may send if no list on the path names anyone, or if one of them names the account")
    func lists() throws {
        let ann = try Principal.sample(.communicator, "ann")
        #expect(access().maySend(ann, to: topic))
        for lists in [(["ann"], [], []), ([], ["ann"], []), ([], [], ["ann"]), (["bob"], [], ["ann"]), (["Ann"], ["bob"], [])] {
            #expect(access(lists.0, lists.1, lists.2).maySend(ann, to: topic), "\(lists)")
        }
        for lists in [(["bob"], [], []), ([], ["bob"], []), ([], [], ["bob"]), (["bob"], ["carl"], ["dora"])] {
            let access = access(lists.0, lists.1, lists.2)
            #expect(!access.maySend(ann, to: topic) && access.topics(for: ann) == [], "\(lists)")
        }
    }

    @Test("An entry that is no account's name names no account, and closes the subject to others")
    func foreignEntry() throws {
        #expect(try !access(["Faculty of Law"]).maySend(.sample(.communicator), to: topic))
        #expect(try !access([], [""], []).maySend(.sample(.communicator), to: topic))
    }

    @Test("A super user may send everywhere, also to the topics of deleted subjects")
    func superUser() throws {
        let access = access(["bob"])
        let deleted = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let root = try Principal.sample(.superUser)
        #expect(access.maySend(root, to: topic) && access.maySend(root, to: deleted) && access.topics(for: root) == nil)
        let ann = try Principal.sample(.communicator)
        #expect(!self.access().maySend(ann, to: deleted) && self.access().topics(for: ann) == [topic])
    }

    @Test("A token's scope restricts a super user as well as a communicator, and gives no access")
    func scope() throws {
        let inside = [TopicPrefix(channel: channel), TopicPrefix(channel: channel, area: area), TopicPrefix(topic)]
        let outside = [
            TopicPrefix(channel: ObjectID()), TopicPrefix(channel: channel, area: ObjectID()),
            TopicPrefix(TopicKey(channel: channel, area: area, subject: ObjectID())),
        ]
        for role in Role.allCases {
            for prefix in inside {
                let token = try Principal.sample(role, kind: .token, scope: [prefix])
                #expect(access().maySend(token, to: topic) && access().topics(for: token) == [topic])
            }
            for prefix in outside {
                let token = try Principal.sample(role, kind: .token, scope: [prefix])
                #expect(!access().maySend(token, to: topic) && access().topics(for: token) == [])
            }
        }
        #expect(try !access(["bob"]).maySend(.sample(.communicator, kind: .token, scope: [inside[0]]), to: topic))
    }
}
