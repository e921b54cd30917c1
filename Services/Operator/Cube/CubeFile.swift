import FoundationEssentials
import Base
import Schemas

/// The channels of a file that `msi cube export` writes and `msi cube import` reads. A field that is missing stays as it is in the cube.
///
/// In JSON it is an array like the answer of `GET /channel`, which can be imported too.
struct CubeFile: Hashable, Sendable {
    var channels: [Channel]

    /// What channels, areas and subjects have in common.
    protocol Part: Sendable {
        var id: ObjectID? { get }
        var name: String { get }
        var desc: String? { get }
        var access: [AccountName]? { get }
    }

    struct Channel: Part, Hashable, Codable, Checked {
        var id: ObjectID?
        var name: String
        var desc: String?
        var access: [AccountName]?
        var areas: [Area]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id = "_id"
            case name, desc, access, areas
        }

        func check() throws(SchemaViolation) { try checkPart() }
    }

    struct Area: Part, Hashable, Codable, Checked {
        var id: ObjectID?
        var name: String
        var desc: String?
        var access: [AccountName]?
        var subjects: [Subject]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id, name, desc, access, subjects
        }

        func check() throws(SchemaViolation) { try checkPart() }
    }

    struct Subject: Part, Hashable, Codable, Checked {
        var id: ObjectID?
        var name: String
        var desc: String?
        var access: [AccountName]?
        var opt: Options?
        var approval: Bool?
        /// A part of the answer of `GET /channel`, and not imported: it follows from the ids.
        var topicKey: String?
        /// In the answer too, and not imported: the hub has no way to set them.
        var tags: [String]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id, name, desc, access, opt, approval, tags
            case topicKey = "topic_key"
        }

        func check() throws(SchemaViolation) { try checkPart() }
    }

    struct Options: Hashable, Sendable, Codable {
        var level: SubscriptionLevel?
        var distribution: Distribution?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case level, distribution
        }
    }
}

extension CubeFile.Part {
    fileprivate func checkPart() throws(SchemaViolation) {
        try NamedDraft(name: name, desc: desc ?? "").check()
        if let access { try AccessList(access: access).check() }
    }
}

extension CubeFile {
    /// The cube as a file.
    ///
    /// - Parameter showsAccess: Whether the access lists are known. Otherwise they are left out.
    init(_ cube: [Schemas.Channel], showsAccess: Bool) {
        func list(_ names: [String]) -> [AccountName]? { showsAccess ? names.compactMap { AccountName($0) } : nil }
        channels = cube.map { channel in
            Channel(
                id: channel.id, name: channel.name, desc: channel.desc, access: list(channel.access),
                areas: channel.areas.map { area in
                    Area(
                        id: area.id, name: area.name, desc: area.desc, access: list(area.access),
                        subjects: area.subjects.map { subject in
                            Subject(
                                id: subject.id, name: subject.name, desc: subject.desc, access: list(subject.access),
                                opt: Options(level: subject.opt.level, distribution: subject.opt.distribution),
                                approval: subject.approval ?? false, topicKey: subject.topicKey.description)
                        })
                })
        }
    }

    /// Whether the author of a version of the cube does not see the access lists (`GET /channel`).
    static func isWithoutAccess(_ version: String?) -> Bool { version?.hasSuffix("-open\"") != false }

    /// Whether the file says who may send anywhere.
    var hasAccess: Bool {
        channels.contains { channel in
            channel.access != nil
                || (channel.areas ?? []).contains { $0.access != nil || ($0.subjects ?? []).contains { $0.access != nil } }
        }
    }

    /// - Throws: ``CubeFileError``.
    init(json: Data) throws {
        do {
            channels = try JSONCoder.decodeStrictly(from: json)
        } catch {
            throw CubeFileError(description: "\(error)")
        }
    }
}

/// Why a file cannot be imported.
struct CubeFileError: Error, Hashable, CustomStringConvertible {
    let description: String
}
