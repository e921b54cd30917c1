import Schemas

/// The edits that bring the cube into the state of a file.
///
/// A part of the file is the part of the cube with its id, or else with its name at the same place: ids differ between
/// installations. What the file does not mention stays, or is removed if the file is to be the whole cube.
struct CubeDifference: Sendable {
    private(set) var edits: [CubeEdit] = []
    private let removesOthers: Bool
    /// The names on the path of each subject of the cube.
    private let subjects: [ObjectID: [String]]
    /// The subjects that are no longer where their topic keys say.
    private let moved: [Subject]

    /// - Parameter removesOthers: Whether to remove what the file does not mention.
    /// - Throws: ``CubeFileError`` if a name fits several parts, if a new subject has no distribution, or if a subject is in another
    ///   area, perhaps since the file was written.
    init(from cube: [Channel], to file: CubeFile, removesOthers: Bool) throws {
        self.removesOthers = removesOthers
        var subjects: [ObjectID: [String]] = [:]
        var moved: [Subject] = []
        for channel in cube {
            for area in channel.areas {
                for subject in area.subjects {
                    subjects[subject.id] = [channel.name, area.name, subject.name]
                    if subject.topicKey != TopicKey(channel: channel.id, area: area.id, subject: subject.id) {
                        moved.append(subject)
                    }
                }
            }
        }
        self.subjects = subjects
        self.moved = moved
        guard !removesOthers || !file.channels.isEmpty else {
            throw CubeFileError(description: "there is no channel in it: with --remove-others that would remove the whole cube")
        }
        try editChannels(cube, to: file.channels)
    }

    private mutating func editChannels(_ present: [Channel], to wanted: [CubeFile.Channel]) throws {
        let matches = try Self.match(present, wanted, in: [])
        for (before, after) in zip(matches, wanted) {
            let place = [before?.name ?? after.name]
            let path = [compare(before, after, kind: .channel, at: place, in: [])]
            if let areas = after.areas { try editAreas(before?.areas ?? [], to: areas, in: place, path) }
        }
        remove(present, except: matches, .channel, in: [], [])
    }

    private mutating func editAreas(
        _ present: [Area], to wanted: [CubeFile.Area], in channel: [String], _ channelPath: [CubeReference]
    ) throws {
        let matches = try Self.match(present, wanted, in: channel)
        for (before, after) in zip(matches, wanted) {
            let place = channel + [before?.name ?? after.name]
            let path = channelPath + [compare(before, after, kind: .area, at: place, in: channelPath)]
            if let subjects = after.subjects { try editSubjects(before?.subjects ?? [], to: subjects, in: place, path) }
        }
        remove(present, except: matches, .area, in: channel, channelPath)
    }

    private mutating func editSubjects(
        _ present: [Subject], to wanted: [CubeFile.Subject], in area: [String], _ areaPath: [CubeReference]
    ) throws {
        let matches = try Self.match(present, wanted, in: area)
        for (before, after) in zip(matches, wanted) {
            let place = area + [before?.name ?? after.name]
            // A new one instead would have another topic key, and no subscribed phones.
            if let id = after.id, before?.id != id, let present = subjects[id] {
                throw CubeFileError(
                    description: "\(Self.shown(place)): the subject \(id) is \(Self.shown(present)); move it in the portal")
            }
            if before == nil, let other = moved.first(where: { $0.name == after.name && Self.wasAdded($0, in: areaPath) }) {
                throw CubeFileError(
                    description: "\(Self.shown(place)) was moved: it is \(Self.shown(subjects[other.id] ?? [])) now. "
                        + "Export the cube again, or add another subject of this name in the portal")
            }
            try compare(before, after, at: place, in: areaPath)
        }
        remove(present, except: matches, .subject, in: area, areaPath)
    }

    private static func wasAdded(_ subject: Subject, in area: [CubeReference]) -> Bool {
        area == [.existing(subject.topicKey.channel), .existing(subject.topicKey.area)]
    }

    private mutating func remove<Present: CubePart>(
        _ present: [Present], except kept: [Present?], _ kind: CubeEdit.Kind, in place: [String], _ path: [CubeReference]
    ) {
        guard removesOthers else { return }
        let kept = Set(kept.compactMap { $0?.id })
        for part in present where !kept.contains(part.id) {
            append(kind, place + [part.name], path + [.existing(part.id)], .remove, part.contents)
        }
    }

    /// - Returns: For each wanted part the present one, or `nil` if it is new.
    private static func match<Present: CubePart, Wanted: CubeFile.Part>(
        _ present: [Present], _ wanted: [Wanted], in place: [String]
    ) throws -> [Present?] {
        let byID = Dictionary(uniqueKeysWithValues: present.map { ($0.id, $0) })
        var matches = wanted.map { $0.id.flatMap { byID[$0] } }
        var taken = Set(matches.compactMap { $0?.id })
        guard taken.count == matches.count(where: { $0 != nil }) else {
            throw CubeFileError(description: "\(shown(place)): the same id is there twice")
        }
        var names: Set<String> = []
        for (index, part) in wanted.enumerated() where matches[index] == nil {
            guard names.insert(part.name).inserted else {
                throw CubeFileError(
                    description: "\(shown(place + [part.name])) is there twice, and not both have an id of this cube")
            }
            let fitting = present.filter { $0.name == part.name && !taken.contains($0.id) }
            guard fitting.count < 2 else {
                throw CubeFileError(
                    description:
                        "\(shown(place + [part.name])) is \(fitting.count) times in the cube; give the id of the one that is meant"
                )
            }
            matches[index] = fitting.first
            if let match = fitting.first { taken.insert(match.id) }
        }
        return matches
    }

    /// Compares a channel or an area.
    ///
    /// - Returns: What it is for its content.
    private mutating func compare(
        _ before: (some CubePart)?, _ after: some CubeFile.Part, kind: CubeEdit.Kind, at place: [String], in path: [CubeReference]
    ) -> CubeReference {
        let draft = NamedDraft(name: after.name, desc: after.desc ?? before?.desc ?? "")
        let reference = before.map { CubeReference.existing($0.id) } ?? .added(edits.count)
        let fields = changes(before, name: draft.name, desc: draft.desc)
        if before == nil {
            append(kind, place, path + [reference], .add(draft), fields)
        } else if !fields.isEmpty {
            append(kind, place, path + [reference], .replace(draft), fields)
        }
        compareAccess(before, after, kind, place, path + [reference])
        return reference
    }

    private mutating func compare(
        _ before: Subject?, _ after: CubeFile.Subject, at place: [String], in path: [CubeReference]
    ) throws {
        guard let distribution = after.opt?.distribution ?? before?.opt.distribution else {
            throw CubeFileError(description: "\(Self.shown(place)) is new, and needs a distribution: Alert or Information")
        }
        let draft = SubjectDraft(
            name: after.name, desc: after.desc ?? before?.desc ?? "",
            opt: SubjectOptions(level: after.opt?.level ?? before?.opt.level ?? .optional, distribution: distribution))
        let path = path + [before.map { CubeReference.existing($0.id) } ?? .added(edits.count)]
        let fields =
            changes(before, name: draft.name, desc: draft.desc)
            + change("level", before?.opt.level.rawValue, draft.opt.level.rawValue)
            + change("distribution", before?.opt.distribution.rawValue, distribution.rawValue)
        if before == nil {
            append(.subject, place, path, .addSubject(draft), fields)
        } else if !fields.isEmpty {
            append(.subject, place, path, .replaceSubject(draft), fields)
        }
        compareAccess(before, after, .subject, place, path)
        let approval = before?.approval ?? false
        if let wanted = after.approval, wanted != approval {
            append(.subject, place, path, .setApproval(wanted), change("approval", "\(approval)", "\(wanted)"))
        }
    }

    private mutating func compareAccess(
        _ before: (some CubePart)?, _ after: some CubeFile.Part, _ kind: CubeEdit.Kind, _ place: [String], _ path: [CubeReference]
    ) {
        guard let wanted = after.access else { return }
        let present = before?.access ?? []
        guard Set(wanted) != Set(present.compactMap { AccountName($0) }) else { return }
        let names = wanted.map(\.description).joined(separator: " ")
        append(kind, place, path, .setAccess(wanted), change("access", present.joined(separator: " "), names))
    }

    private mutating func append(
        _ kind: CubeEdit.Kind, _ place: [String], _ path: [CubeReference], _ action: CubeEdit.Action, _ changes: [CubeEdit.Change]
    ) {
        edits.append(CubeEdit(kind: kind, place: place, path: path, action: action, changes: changes))
    }

    /// The changes of the name and the description. The name of a new part is in its place.
    private func changes(_ before: (some CubePart)?, name: String, desc: String) -> [CubeEdit.Change] {
        (before == nil ? [] : change("name", before?.name, name)) + change("desc", before?.desc, desc)
    }

    private func change(_ field: String, _ before: String?, _ after: String) -> [CubeEdit.Change] {
        (before ?? "") == after ? [] : [CubeEdit.Change(field: field, before: before ?? "", after: after)]
    }

    private static func shown(_ place: [String]) -> String {
        place.isEmpty ? "the file" : CubeEdit.text(of: place)
    }
}

/// What channels, areas and subjects of the cube have in common.
protocol CubePart {
    var id: ObjectID { get }
    var name: String { get }
    var desc: String { get }
    var access: [String] { get }
    /// How much is inside, as the fields of a removal.
    var contents: [CubeEdit.Change] { get }
}

extension Channel: CubePart {
    var contents: [CubeEdit.Change] {
        [
            CubeEdit.Change(field: "areas", before: "\(areas.count)", after: "0"),
            CubeEdit.Change(field: "subjects", before: "\(areas.reduce(0) { $0 + $1.subjects.count })", after: "0"),
        ]
    }
}

extension Area: CubePart {
    var contents: [CubeEdit.Change] { [CubeEdit.Change(field: "subjects", before: "\(subjects.count)", after: "0")] }
}

extension Subject: CubePart {
    var contents: [CubeEdit.Change] { [] }
}
