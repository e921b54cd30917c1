import FoundationEssentials
import JSON
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
    /// - Throws: `SchemaViolation`.
    init(json: Data) throws {
        let channels: [Schemas.Channel] = try JSONCoder.decode(from: json)
        self.channels = channels.map { channel in
            Channel(
                id: channel.id.description, name: channel.name,
                areas: channel.areas.map { area in
                    Area(
                        id: area.id.description, name: area.name,
                        subjects: area.subjects.map { subject in
                            Subject(
                                topicKey: subject.topicKey.description, name: subject.name, desc: subject.desc,
                                level: Level(rawValue: subject.opt.level.rawValue) ?? .optional,
                                isAlert: subject.opt.distribution == .alert)
                        })
                })
        }
    }
}
