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

    @Test("An entry that is not an account's name names no account, and closes the subject to others")
    func foreignEntry() throws {
        #expect(try !access(["Faculty of Law"]).maySend(.sample(.communicator), to: topic))
        #expect(try !access([], [""], []).maySend(.sample(.communicator), to: topic))
    }

    @Test("A super user may send everywhere, even to the topics of deleted subjects")
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
        for role in Role.staff {
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

    @Test("A moved subject has the lists and the tokens of its new place, and keeps those that name it")
    func moved() throws {
        let (otherChannel, otherArea) = (ObjectID(), ObjectID())
        let kept = TopicKey(channel: channel, area: area, subject: ObjectID())
        let native = TopicKey(channel: otherChannel, area: otherArea, subject: ObjectID())
        func subject(_ topic: TopicKey) -> Subject {
            Subject(
                id: topic.subject, name: "Storms", desc: "", topicKey: topic,
                opt: SubjectOptions(level: .optional, distribution: .alert))
        }
        func cube(_ subjects: [TopicKey], _ others: [TopicKey]) -> CubeAccess {
            CubeAccess([
                Channel(
                    id: channel, name: "Campus", desc: "", access: ["bob"],
                    areas: [Area(id: area, name: "Weather", desc: "", subjects: subjects.map(subject))]),
                Channel(
                    id: otherChannel, name: "Library", desc: "", access: ["ann"],
                    areas: [Area(id: otherArea, name: "News", desc: "", subjects: others.map(subject))]),
            ])
        }
        let (before, after) = (cube([topic, kept], [native]), cube([kept], [native, topic]))
        let ann = try Principal.sample(.communicator, "ann")
        #expect(!before.maySend(ann, to: topic) && after.maySend(ann, to: topic))
        #expect(after[topic]?.names.channel == "Library" && !after.hasSameLists(as: before))
        for (scope, isIn) in [
            (TopicPrefix(channel: channel), false), (TopicPrefix(channel: channel, area: area), false),
            (TopicPrefix(topic), true), (TopicPrefix(channel: otherChannel), true),
            (TopicPrefix(channel: otherChannel, area: otherArea), true),
        ] {
            let token = try Principal.sample(.superUser, kind: .token, scope: [scope])
            #expect(after.maySend(token, to: topic) == isIn && after.topics(for: token)?.contains(topic) == isIn, "\(scope)")
        }

        func topics(_ access: CubeAccess, channel: ObjectID?, area: ObjectID? = nil) -> Set<TopicKey>? {
            var filter = MessageFilter()
            (filter.channel, filter.area) = (channel, area)
            let placed = access.placed(filter)
            #expect(placed.topics == nil ? placed == filter : placed.channel == nil && placed.area == nil)
            return placed.topics.map { Set($0) }
        }
        #expect(topics(before, channel: channel) == nil && topics(after, channel: ObjectID()) == nil)
        #expect(topics(after, channel: channel) == [kept] && topics(after, channel: nil, area: area) == [kept])
        #expect(topics(after, channel: otherChannel) == [native, topic])
        #expect(topics(after, channel: otherChannel, area: otherArea) == [native, topic])
    }
}
