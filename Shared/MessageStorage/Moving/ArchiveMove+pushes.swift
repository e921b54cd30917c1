import Schemas
import Storage

/// The pushes of other services.
extension ArchiveMove {
    func checkPushes() async throws {
        var pages = PushPages(of: target)
        while let page = try await pages.next() {
            for stored in page {
                guard let source = try await source.push(stored.id) else {
                    throw refusal("it contains push \(stored.id), which is not in the source")
                }
                if let objection = stored.objection(toBecoming: source) { throw refusal(objection) }
            }
        }
    }

    /// - Returns: How many were new in the target.
    func copyPushes() async throws -> Int {
        var pages = PushPages(of: source)
        var copied = 0
        while let page = try await pages.next() {
            for push in page where try await copy(push) { copied += 1 }
        }
        return copied
    }

    /// - Returns: Whether it was new in the target.
    private func copy(_ push: Push) async throws -> Bool {
        guard let known = try await target.insert(push) else { return true }
        guard known != push else { return false }
        guard known.id == push.id else {
            throw MigrationFailure(
                "push \(push.id) of the source has its sender's idempotency key from push \(known.id) of the target")
        }
        try await target.update(push: push.id) { record, stored in
            if let objection = stored.objection(toBecoming: push) {
                throw MigrationFailure("another process is writing to the target: \(objection)")
            }
            record = push.relay
        }
        return false
    }

    func pushDigest(of store: any MessageStore) async throws -> StoreDigest {
        var digest = StoreDigest()
        var pages = PushPages(of: store)
        while let page = try await pages.next() {
            for push in page { try digest.add(push) }
        }
        return digest
    }
}

/// All pushes, page by page, in the order of their ids.
private struct PushPages {
    private static let size = 50

    private let store: any MessageStore
    private var last: ObjectID?

    init(of store: any MessageStore) {
        self.store = store
    }

    /// - Returns: `nil` after the last page.
    mutating func next() async throws -> [Push]? {
        let page = try await store.pushes(after: last, limit: Self.size)
        last = page.last?.id ?? last
        return page.isEmpty ? nil : page
    }
}

extension Push {
    /// Why the source's push must not replace this one of the target; `nil` if it may.
    fileprivate func objection(toBecoming source: Push) -> String? {
        var updated = self
        updated.relay = source.relay
        guard updated == source else { return "push \(id) is another one there" }
        guard !relay.canHaveBecome(source.relay) else { return nil }
        return
            "push \(id) is \(relay.state.rawValue) there, attempts \(relay.attempts), and \(source.relay.state.rawValue) in the "
            + "source, attempts \(source.relay.attempts); a copy would revert its state"
    }
}
