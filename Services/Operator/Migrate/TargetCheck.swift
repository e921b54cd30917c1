import CubeStorage
import MessageStorage
import Schemas

/// The check before anything is written: the target may only contain the source's data, in its current or an earlier state.
struct TargetCheck {
    let cubes: (source: any CubeStore, target: any CubeStore)
    let archives: (source: any MessageStore, target: any MessageStore)
    /// Advice for the operator about another target.
    let otherTarget: String

    /// - Throws: ``MigrationFailure`` if the target contains anything else.
    func run() async throws {
        let stored = try await cubes.target.snapshot()
        if try await stored != cubes.source.snapshot(), stored != CubeSnapshot(version: 0, channels: []) {
            throw refusal("another cube is there already, at version \(stored.version)")
        }
        var pages = MessagePages(of: archives.target)
        while let page = try await pages.next() {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for message in page { group.addTask { try await check(message) } }
                try await group.waitForAll()
            }
        }
    }

    private func check(_ stored: Message) async throws {
        guard let source = try await archives.source.message(stored.msiKey) else {
            throw refusal("message \(stored.msiKey) is there, which the source does not have")
        }
        if let objection = stored.objection(toBecoming: source) { throw refusal(objection) }
    }

    private func refusal(_ reason: String) -> MigrationFailure {
        MigrationFailure(
            "the target is not empty, and not an earlier copy of the source: \(reason). Nothing was written. If the services have "
                + "worked with the target since the last copy, start them with it; otherwise copy to \(otherTarget)")
    }
}

extension Message {
    /// Why the source's message must not replace this one of the target; `nil` if it may.
    func objection(toBecoming source: Message) -> String? {
        var updated = self
        updated.relay = source.relay
        guard updated == source else { return "message \(msiKey) is another one there" }
        guard !relay.canHaveBecome(source.relay) else { return nil }
        return
            "message \(msiKey) is \(relay.state.rawValue) there, attempts \(relay.attempts), and \(source.relay.state.rawValue) in "
            + "the source, attempts \(source.relay.attempts); a copy would take back what has happened to it"
    }
}
