import FoundationEssentials
import Base
import Schemas

/// The information cube as the phone knows it.
public struct InformationCube: Hashable, Sendable {
    public struct Channel: Hashable, Sendable, Identifiable {
        public let id: String
        public let name: String
        public let areas: [Area]
    }

    public struct Area: Hashable, Sendable, Identifiable {
        public let id: String
        public let name: String
        public let subjects: [Subject]
    }

    public struct Subject: Hashable, Sendable, Identifiable {
        public let topicKey: String
        /// The channel that it is in now. Its topic key keeps the channel in which it was added.
        public let channelID: String
        public let areaID: String
        public let name: String
        public let desc: String
        public let level: Level
        public let isAlert: Bool

        public var id: String { topicKey }
    }

    /// Whether students choose the subscription (seed, "Data Dictionary", `opt.level`).
    public enum Level: String, Sendable, CaseIterable {
        case forced = "Forced"
        case recommended = "Recommended"
        case optional = ""
    }

    public let channels: [Channel]

    /// Every subject with its names from the outside in.
    public var subjects: [(names: [String], subject: Subject)] {
        channels.flatMap { channel in
            channel.areas.flatMap { area in area.subjects.map { ([channel.name, area.name, $0.name], $0) } }
        }
    }
}

extension InformationCube {
    /// Reads the answer of `GET /channel`.
    ///
    /// A level that this version of the app does not know leaves the subscription to the student: whoever is subscribed stays so.
    ///
    /// - Throws: `SchemaViolation`.
    init(json: Data) throws {
        let channels: [ReceivedChannel] = try JSONCoder.decode(from: json)
        self.channels = channels.map { channel in
            Channel(
                id: channel._id.description, name: channel.name,
                areas: channel.areas.map { area in
                    Area(
                        id: area.id.description, name: area.name,
                        subjects: area.subjects.map { Subject($0, in: channel._id, area.id) })
                })
        }
    }
}

extension InformationCube.Subject {
    fileprivate init(_ subject: ReceivedSubject, in channel: ObjectID, _ area: ObjectID) {
        self.init(
            topicKey: subject.topic_key.description, channelID: channel.description, areaID: area.description,
            name: subject.name, desc: subject.desc,
            level: InformationCube.Level(rawValue: subject.opt.level) ?? .optional,
            isAlert: subject.opt.distribution == Distribution.alert.rawValue)
    }
}

// What the phone needs of `Schemas.Channel`, and of it less strictly: a hub of a later version may know more levels.

private struct ReceivedChannel: Decodable {
    let _id: ObjectID
    let name: String
    let areas: [ReceivedArea]
}

private struct ReceivedArea: Decodable {
    let id: ObjectID
    let name: String
    let subjects: [ReceivedSubject]
}

private struct ReceivedSubject: Decodable {
    struct Options: Decodable {
        let level: String
        let distribution: String
    }

    let topic_key: TopicKey
    let name: String
    let desc: String
    let opt: Options
}
