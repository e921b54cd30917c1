import Base

/// The identifiers of what a case names by its path.
struct CaseNames {
    /// The subjects of the cube.
    private(set) var subjects: [TestHub.Subject] = []
    /// The paths and the channels' names of every cube, by topic key and identifier.
    private var names: [String: String] = [:]

    /// - Parameter cube: As the case has it.
    /// - Throws: ``CaseMistake``.
    mutating func set(_ cube: [JSONValue], _ place: String) throws {
        subjects = []
        for (number, element) in cube.enumerated() {
            var members = try CaseMembers(element, "\(place).cube[\(number)]")
            let path = try members.text("path")
            let count = try members.optionalInteger("count")
            var subject = TestHub.Subject(path: path, level: try members.optionalText("level") ?? "")
            subject.distribution = try members.optionalText("dist") ?? subject.distribution
            subject.movedFrom = try members.optionalText("moved_from")
            try members.end()
            for text in Self.numbered(path, count) {
                subject.path = text
                subjects.append(subject)
            }
        }
        for subject in subjects {
            let channel = String(subject.path.prefix { $0 != "/" })
            names[subject.topicKey] = subject.path
            names[TestHub.identifier(of: channel)] = channel
        }
    }

    /// A text in which `#` is each of so many numbers.
    static func numbered(_ text: String, _ count: Int64?) -> [String] {
        guard let count else { return [text] }
        return (0..<count).map { text.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\($0)") }
    }

    /// The topic key of a subject, by its path, or the identifier of a channel, by its name.
    func identifier(of path: String) -> String {
        if let subject = subjects.first(where: { $0.path == path }) { return subject.topicKey }
        return path.contains("/") ? TestHub.Subject(path: path).topicKey : TestHub.identifier(of: path)
    }

    /// The path or the name of an identifier; the identifier if no cube had it.
    func name(of identifier: String) -> String { names[identifier] ?? identifier }

    /// A value in whose texts `{Campus/Weather/Storms}` stands for the topic key, and `{Campus}` for the channel's identifier.
    func filled(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text.replacing(/\{([^{}]+)\}/) { identifier(of: String($0.output.1)) })
        case .array(let elements): .array(elements.map(filled))
        case .object(let members): .object(members.map { JSONValue.Member($0.name, filled($0.value)) })
        default: value
        }
    }
}
