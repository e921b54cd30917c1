import Schemas
import Store
import TestSupport

@testable import Study

extension SessionDocument {
    /// An open session with its host and nobody else.
    static func stored(
        id: ObjectID = ObjectID(), of classID: ObjectID = ObjectID(), host: AccountName, starts: UnixMilliseconds,
        ends: UnixMilliseconds
    ) -> SessionDocument {
        SessionDocument(
            id: id, classID: classID, topics: ["Waves"], description: "bring notes",
            place: Coordinate(latitude: 51.5007, longitude: -0.1246), placeName: "Library", starts: starts, ends: ends,
            sponsored: false, host: host.key, hostName: host, hostRole: .student, hostNumber: 2,
            attendants: [.stored(host, number: 2, joined: starts)],
            area: SessionDocument.Area(state: .inside, since: nil), warned: nil, told: nil, news: nil, posts: 0, open: true,
            ended: nil, reason: nil, due: ends, namesUntil: nil, restored: nil, request: nil)
    }

    /// The same session after its end.
    func ending(at time: UnixMilliseconds, namesUntil: UnixMilliseconds) -> SessionDocument {
        var session = self
        (session.open, session.due) = (nil, nil)
        (session.ended, session.reason) = (time, .time)
        session.namesUntil = namesUntil
        return session
    }
}

extension SessionDocument.Attendant {
    static func stored(_ name: AccountName, number: Int, joined: UnixMilliseconds) -> SessionDocument.Attendant {
        SessionDocument.Attendant(account: name.key, name: name, role: .student, number: number, joined: joined)
    }
}

/// Uses a new, empty store of the study service.
func withStudyStore<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (Storage) async throws -> Result
) async throws -> Result {
    let url = try await kind.newDatabaseURL()
    return try await withTemporaryFolder { folder in
        try await withStudyStore(in: folder, database: url, body)
    }
}
