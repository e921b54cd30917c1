import JSON
import NIOHTTP1
import Synchronization
import TestSupport

/// An administrator who adds channels to the cube and deletes them. Each request is repeated until it is answered, so an addition may
/// take effect several times before its answer.
final class CubeEditor: Sendable {
    private struct State {
        var edits = CubeEdits()
        var surprises: [String] = []
        var isOver = false
    }

    /// The cube is part of what each phone reads.
    private static let maxChannels = 30

    private let portal: Portal
    private let retryTimeout: Duration
    private let state = Mutex(State())

    /// - Parameter retryTimeout: How long a request without an answer is repeated.
    init(portal: Portal, retryTimeout: Duration) {
        self.portal = portal
        self.retryTimeout = retryTimeout
    }

    /// The answered edits.
    var edits: CubeEdits { state.withLock(\.edits) }
    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }

    /// Ends the edits once the pending request is answered.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    func run(every period: Duration) async throws {
        var number = 0
        while !state.withLock(\.isOver) {
            let present = edits.added.subtracting(edits.deleted)
            if number % 4 == 3 || present.count >= Self.maxChannels, let channel = present.min() {
                try await delete(channel)
            } else {
                try await add(number)
            }
            number += 1
            try await Task.sleep(for: period)
        }
    }

    private func add(_ number: Int) async throws {
        let answer = try await portal.definiteAnswer(
            .POST, "/channel", ["name": "Chaos \(number)", "desc": ""], within: retryTimeout, surprised: surprised)
        guard answer.status == 201, let id = try? answer.json["_id"]?.string else { return surprised("\(answer)") }
        state.withLock { _ = $0.edits.added.insert(id) }
    }

    private func delete(_ channel: String) async throws {
        let answer = try await portal.definiteAnswer(.DELETE, "/channel/\(channel)", within: retryTimeout, surprised: surprised)
        // A request without an answer has deleted it.
        guard [204, 404].contains(answer.status) else { return surprised("\(answer)") }
        state.withLock { _ = $0.edits.deleted.insert(channel) }
    }

    private func surprised(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }
}

extension Portal {
    /// The paths of all channels, areas and subjects: their ids joined by `-`, as in the audit log.
    func cube() async throws -> Set<String> {
        let answer = try await call(.GET, "/channel")
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        var paths: Set<String> = []
        for channel in try answer.json.array {
            guard let id = channel["_id"]?.string else { throw UnexpectedAnswer(answer) }
            paths.insert(id)
            for area in channel["areas"]?.elements ?? [] {
                let path = "\(id)-\(area["id"]?.string ?? "")"
                paths.insert(path)
                paths.formUnion((area["subjects"]?.elements ?? []).map { "\(path)-\($0["id"]?.string ?? "")" })
            }
        }
        return paths
    }
}
