import Time

/// A store whose state is part of the health of its service.
package protocol CheckedStore: Sendable {
    /// Reads a small value. Throws if the database cannot be read.
    func check() async throws

    /// Whether new documents can be stored: what the last writes came to, or a small one that is tried. `deadline_exceeded`, with the
    /// name of the file and since when, if a write does not end. It answers within about a second, even if the disk is frozen.
    func writeHealth() async -> PartHealth

    /// `storage_full` if nine tenths of the disk are used; the message says how much is left. `ok` if that is not known here.
    var storageHealth: PartHealth { get }
}

extension CheckedStore {
    package var storageHealth: PartHealth { .ok }

    /// The parts ``ServiceHealth/store`` and ``ServiceHealth/storage``, each if there is something to say. The store is not read if its
    /// writes do not end, since then a read may not end either.
    ///
    /// - Throws: If the database cannot be read.
    package func parts() async throws -> [String: PartHealth] {
        let writes = await writeHealth()
        if writes.status != .deadlineExceeded { try await check() }
        return [ServiceHealth.store: writes, ServiceHealth.storage: storageHealth].filter { $0.value != .ok }
    }

    /// The state of a store without which the service can do most of its work, as a part of the service. It answers within about a
    /// second.
    package func health() async -> PartHealth {
        let task = Task {
            do {
                let parts = try await parts()
                let store = parts[ServiceHealth.store] ?? .ok
                return PartHealth(store.status, store.message, parts: parts)
            } catch {
                let failure = error as? CommandFailure
                return PartHealth(failure?.status ?? .unavailable, failure?.message ?? "\(error)")
            }
        }
        guard await task.finishes(by: .now + .seconds(1)) else { return PartHealth(.deadlineExceeded, "it does not answer") }
        return await task.value
    }
}
