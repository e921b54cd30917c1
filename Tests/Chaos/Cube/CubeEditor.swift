import Base
import Bus
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport

/// An administrator who edits the cube in every way that the API has. Each request is repeated until it is answered, so an addition may
/// take effect several times before its answer.
final class CubeEditor: Sendable {
    private struct State {
        var edits = CubeEdits()
        var surprises: [String] = []
        var isOver = false
    }

    private enum Kind: CaseIterable {
        case addChannel, addArea, addSubject, updateChannel, updateArea, updateSubject
        case access, approval, order, move, deleteSubject, deleteArea, deleteChannel
    }

    /// The cube is part of what each phone reads.
    private static let maxChannels = 10
    private static let maxParts = 5

    private let portal: Portal
    private let seed: UInt64
    private let retryTimeout: Duration
    private let state = Mutex(State())

    /// - Parameter retryTimeout: How long a request without an answer is repeated.
    init(portal: Portal, seed: UInt64, retryTimeout: Duration) {
        self.portal = portal
        self.seed = seed
        self.retryTimeout = retryTimeout
    }

    /// The answered additions and deletions of channels.
    var edits: CubeEdits { state.withLock(\.edits) }
    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }

    /// Ends the edits once the pending request is answered.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    func run(every period: Duration) async throws {
        var random = SeededGenerator(seed: seed)
        var number = 0
        while !state.withLock(\.isOver) {
            try await edit(number, &random)
            number += 1
            try await sleep(until: .now + period, unless: { state.withLock(\.isOver) })
        }
    }

    /// Makes one edit of a random kind. If it has no object yet, one is added.
    private func edit(_ number: Int, _ random: inout SeededGenerator) async throws {
        let cube = try await channels()
        let present = edits.added.subtracting(edits.deleted)
        let own = cube.filter { present.contains("\($0.id)") }
        let kind = Kind.allCases.randomElement(using: &random)
        guard let channel = own.randomElement(using: &random) else { return try await addChannel(number) }
        if kind == .addChannel, own.count < Self.maxChannels { return try await addChannel(number) }
        if kind == .deleteChannel { return try await delete(channel) }
        let draft: JSONValue = ["name": "Chaos \(number)", "desc": "é \(number)"]
        if kind == .updateChannel { return try await send(.PUT, "/channel/\(channel.id)", draft) }
        let areas = "/area/\(channel.id)"
        guard let area = channel.areas.randomElement(using: &random), kind != .addArea || channel.areas.count >= Self.maxParts
        else {
            return try await send(.POST, areas, draft)
        }
        if kind == .updateArea { return try await send(.PUT, "\(areas)/\(area.id)", draft) }
        if kind == .deleteArea { return try await send(.DELETE, "\(areas)/\(area.id)") }
        var subjectDraft = draft
        subjectDraft["opt"] = ["level": "", "distribution": .string(Bool.random(using: &random) ? "Alert" : "Information")]
        let place = "\(channel.id)/\(area.id)"
        guard let subject = area.subjects.randomElement(using: &random),
            kind != .addSubject || area.subjects.count >= Self.maxParts
        else { return try await send(.POST, "/subject/\(place)", subjectDraft) }
        switch kind {
        case .updateSubject: try await send(.PUT, "/subject/\(place)/\(subject.id)", subjectDraft)
        case .deleteSubject: try await send(.DELETE, "/subject/\(place)/\(subject.id)")
        case .approval:
            try await send(.PUT, "/approval/\(place)/\(subject.id)", ["approval": .boolean(.random(using: &random))])
        case .move:
            let places = own.flatMap { target in target.areas.map { (channel: target.id, area: $0.id) } }
            guard let to = places.filter({ $0.area != area.id }).randomElement(using: &random) else { return }
            let body: JSONValue = ["channel": .string("\(to.channel)"), "area": .string("\(to.area)")]
            try await send(.PUT, "/place/\(place)/\(subject.id)", body)
        case .access:
            let object = ["\(channel.id)", place, "\(place)/\(subject.id)"].randomElement(using: &random) ?? place
            try await send(.PUT, "/access/\(object)", ["access": Bool.random(using: &random) ? ["ann", "bob"] : []])
        default:
            let lists = [
                ("", cube.map(\.id)), ("/\(channel.id)", channel.areas.map(\.id)), ("/\(place)", area.subjects.map(\.id)),
            ]
            guard let (list, ids) = lists.randomElement(using: &random) else { return }
            let sorted = ids.shuffled(using: &random).map { JSONValue.string("\($0)") }
            try await send(.PUT, "/order\(list)", ["ids": .array(sorted)])
        }
    }

    private func channels() async throws -> [Channel] {
        let answer = try await answer(.GET, "/channel")
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try JSONCoder.decode(from: answer.body)
    }

    private func addChannel(_ number: Int) async throws {
        let answer = try await answer(.POST, "/channel", ["name": "Chaos \(number)", "desc": ""])
        guard answer.status == 201, let id = try? answer.json["_id"]?.string else { return surprised("\(answer)") }
        state.withLock { _ = $0.edits.added.insert(id) }
    }

    private func delete(_ channel: Channel) async throws {
        let answer = try await answer(.DELETE, "/channel/\(channel.id)")
        // A request without an answer has deleted it.
        guard [204, 404].contains(answer.status) else { return surprised("\(answer)") }
        state.withLock { _ = $0.edits.deleted.insert("\(channel.id)") }
    }

    /// Makes an edit. Its object may be gone by a request without an answer, and a cube that is read while its service is away may be
    /// older.
    private func send(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws {
        let answer = try await answer(method, path, body)
        if ![200, 201, 204, 404, 409].contains(answer.status) { surprised("\(answer)") }
    }

    private func answer(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> HTTPAnswer {
        try await portal.definiteAnswer(method, path, body, within: retryTimeout, surprised: surprised)
    }

    private func surprised(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }
}

/// The cube at the end of a run.
struct CubeEvidence: Sendable {
    /// The paths of all channels, areas and subjects: their ids joined by `-`, as in the audit log.
    var paths: Set<String> = []
    /// Whether the gateway's copy of the cube is the cube.
    var isCopied = true
}

extension Portal {
    /// - Parameter service: The cube service.
    func cube(_ service: CommandClient) async throws -> CubeEvidence {
        guard let channels = try await service.request(ReadCube()).channels else {
            throw TooLate("the cube is too large for one reply")
        }
        let answer = try await call(.GET, "/channel")
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        var evidence = CubeEvidence()
        evidence.isCopied = try answer.body == JSONCoder.encode(channels)
        for channel in channels {
            evidence.paths.insert("\(channel.id)")
            for area in channel.areas {
                evidence.paths.insert("\(channel.id)-\(area.id)")
                evidence.paths.formUnion(area.subjects.map { "\($0.topicKey)" })
            }
        }
        return evidence
    }
}
