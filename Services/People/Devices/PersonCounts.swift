import CoreMetrics
import Instruments
import Schemas
import Store
import Synchronization

/// How many students there are, and on how many devices they are signed in. They are counted now and then, for the metrics.
final class PersonCounts: Sendable {
    private static let pageSize = 500

    private let store: Storage
    private let counts = Mutex<(students: Int, devices: Int)>((0, 0))

    init(store: Storage) {
        self.store = store
    }

    /// Counts all of them again.
    func recount() async throws {
        let students = try await count(
            PeopleStore.accounts, Query(where: PeopleStore.role == .student, PeopleStore.removed == nil), where: \.isActive)
        let devices = try await count(PeopleStore.devices, Query()) { _ in true }
        counts.withLock { $0 = (students, devices) }
    }

    private func count<Document>(
        _ collection: Collection<Document>, _ query: Query<Document>, where counts: @Sendable (Document) -> Bool
    ) async throws -> Int {
        var count = 0
        var cursor: Cursor?
        repeat {
            let page = try await store.page(of: collection, query, after: cursor, limit: Self.pageSize)
            count += page.documents.count { counts($0.document) }
            cursor = page.next
        } while cursor != nil
        return count
    }

    /// Sets the gauges.
    func collectMetrics() {
        let counts = counts.withLock(\.self)
        Instrument.students.gauge().set(counts.students)
        Instrument.devices.gauge().set(counts.devices)
    }
}
