import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// The collections of the study service, on both databases.
@Suite("The store of the study service", .timeLimit(.minutes(10)))
struct StudyStoreTests {
    private static let classID = ObjectID()

    private static func session(_ account: AccountName) -> SessionDocument {
        SessionDocument(
            id: ObjectID(), classID: classID, topics: ["Waves"], description: nil,
            place: Coordinate(latitude: 51.5007, longitude: -0.1246), placeName: "Library", starts: 1_000, ends: 3_601_000,
            sponsored: false, host: account.key, hostName: account, hostRole: .student, hostNumber: 1,
            attendants: [
                SessionDocument.Attendant(account: account.key, name: account, role: .student, number: 1, joined: 1_000)
            ],
            area: SessionDocument.Area(state: .inside, since: nil), warned: nil, told: nil, news: nil, posts: 0, open: true,
            ended: nil, reason: nil, due: 3_001_000, namesUntil: nil, restored: nil, request: nil)
    }

    @Test("A session is found by its class while it is open, and by its end afterwards", arguments: StoreKind.allCases)
    func sessions(kind: StoreKind) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
            let store = try await Storage.open(
                StudyStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
            try await perform {
                let session = Self.session("Ann")
                try await store.insert(session, into: StudyStore.sessions)
                let open = Query(where: StudyStore.sessionClass == Self.classID, StudyStore.sessionOpen == true)
                let past = Query(
                    where: StudyStore.sessionClass == Self.classID, StudyStore.sessionEnded >= 0,
                    order: .descending(StudyStore.sessionEnded))
                #expect(try await store.page(of: StudyStore.sessions, open, limit: 2).documents.map(\.document) == [session])
                #expect(try await store.page(of: StudyStore.sessions, past, limit: 2).documents.isEmpty)
                try await store.update(session.id, in: StudyStore.sessions) { stored in
                    stored.open = nil
                    stored.due = nil
                    stored.ended = 2_000_000
                    stored.reason = .host
                }
                #expect(try await store.page(of: StudyStore.sessions, open, limit: 2).documents.isEmpty)
                let found = try await store.page(of: StudyStore.sessions, past, limit: 2).documents
                #expect(found.map(\.document.id) == [session.id])
            } finally: {
                try await store.close()
            }
        }
    }
}
