import Schemas
import ServiceKit

/// The names of a channel, an area and a subject, as a caller gives them.
struct SubjectNames: Sendable {
    let channel: String
    let area: String
    let subject: String

    /// The subject with these names in a cube. Exact names go first; otherwise the case does not matter.
    ///
    /// - Throws: ``Problem`` if there is none, or if there are several.
    func find(in channels: [Channel]) throws(Problem) -> FoundSubject {
        let exact = subjects(in: channels) { $0 == $1 }
        let found = exact.isEmpty ? subjects(in: channels) { $0.caseFolded == $1.caseFolded } : exact
        guard let first = found.first else { throw unknown(in: channels) }
        guard found.count == 1 else { throw Self.ambiguous(found) }
        return first
    }

    /// Whether they name the place of a message, as it was called when the message was sent.
    func fit(_ names: CubeNames) -> Bool {
        [(channel, names.channel), (area, names.area), (subject, names.subject)].allSatisfy { $0.caseFolded == $1.caseFolded }
    }

    /// - Parameter isSame: Compares a name in the cube with a given one.
    private func subjects(in channels: [Channel], _ isSame: (String, String) -> Bool) -> [FoundSubject] {
        channels.filter { isSame($0.name, channel) }.flatMap { channel in
            channel.areas.filter { isSame($0.name, area) }.flatMap { area in
                area.subjects.filter { isSame($0.name, subject) }.map { subject in
                    FoundSubject(
                        subject: subject,
                        names: CubeNames(channel: channel.name, area: area.name, subject: subject.name))
                }
            }
        }
    }

    // MARK: Errors

    /// The maximum number of names or places that an error lists.
    private static let maxListed = 5

    /// Says which name is wrong: the first for which there is nothing.
    private func unknown(in channels: [Channel]) -> Problem {
        let inChannel = channels.filter { $0.name.caseFolded == channel.caseFolded }
        guard !inChannel.isEmpty else {
            return Self.unknown(channel, "channel", "there is no channel", among: channels.map(\.name))
        }
        let inArea = inChannel.flatMap(\.areas).filter { $0.name.caseFolded == area.caseFolded }
        guard !inArea.isEmpty else {
            return Self.unknown(
                area, "area", "the channel \"\(inChannel[0].name)\" has no area", among: inChannel.flatMap(\.areas).map(\.name))
        }
        return Self.unknown(
            subject, "subject", "the area \"\(inArea[0].name)\" has no subject", among: inArea.flatMap(\.subjects).map(\.name))
    }

    private static func unknown(_ name: String, _ field: String, _ sentence: String, among names: [String]) -> Problem {
        let close = closeNames(to: name, among: names).map { "\"\($0)\"" }
        let hint = close.isEmpty ? "" : "; did you mean \(close.joined(separator: " or "))?"
        return Problem(.notFound, "\(field): \(sentence) \"\(name.prefix(200))\"\(hint)", field: field)
    }

    /// The names with few differences to a name, the closest first. Names that begin with it count as close.
    private static func closeNames(to name: String, among names: [String]) -> [String] {
        // A longer name is in no cube, and comparing it is expensive.
        guard name.unicodeScalars.count <= TextLimits.name.max else { return [] }
        let name = name.caseFolded
        let scored = Set(names).map { other in
            (name: other, distance: other.caseFolded.hasPrefix(name) ? 1 : editDistance(name, other.caseFolded))
        }
        let close = scored.filter { $0.distance <= max(2, name.count / 3) }
        return close.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(maxListed).map(\.name)
    }

    private static func ambiguous(_ found: [FoundSubject]) -> Problem {
        let places = found.prefix(maxListed).map { place in
            "\(place.names.channel)/\(place.names.area)/\(place.names.subject) (\(place.subject.topicKey))"
        }
        let more = found.count > places.count ? ", and \(found.count - places.count) more" : ""
        return Problem(
            .ambiguousName,
            "These names fit \(found.count) subjects: \(places.joined(separator: ", "))\(more). POST /message takes a topic_key.")
    }
}

/// A subject that was found by its names.
struct FoundSubject: Hashable, Sendable {
    let subject: Subject
    /// The names as they are in the cube.
    let names: CubeNames
}
