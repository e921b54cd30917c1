import Bus
import FoundationEssentials
import Schemas
import TestSupport

/// What the tests of pictures and statuses do over the bus.
extension TestPerson {
    /// Uploads a picture.
    ///
    /// - Returns: Its id.
    func upload(_ bytes: [UInt8], forReport: Bool = false) async throws(CommandFailure) -> ObjectID {
        let command = AddPicture(forReport: forReport)
        return try await client.client.send(command, bytes: Data(bytes), timeout: .seconds(60), context: context).id
    }

    /// The bytes of a picture; `nil` if there is none for the person.
    func picture(of holder: PictureHolder, _ id: String) async throws -> [UInt8]? {
        try await client.picture(of: holder, id, for: context)
    }

    func picture(of holder: PictureHolder, _ id: ObjectID) async throws -> [UInt8]? {
        try await picture(of: holder, "\(id)")
    }

    @discardableResult
    func setStatus(_ text: String, key: String? = nil) async throws(CommandFailure) -> OwnStatus {
        try await request(SetStatus(StatusDraft(text: text), requestKey: key))
    }

    @discardableResult
    func setStatus(picture: ObjectID, key: String? = nil) async throws(CommandFailure) -> OwnStatus {
        try await request(SetStatus(StatusDraft(picture: picture), requestKey: key))
    }

    /// The statuses that the person sees, asked for on a new device, which has not polled yet.
    func statuses() async throws(CommandFailure) -> StatusList { try await request(ListStatuses(on: ObjectID())) }

    func see(_ statuses: ObjectID...) async throws(CommandFailure) {
        try await request(MarkStatusesSeen(SeenStatuses(statuses: statuses)))
    }

    func ownStatus() async throws(CommandFailure) -> OwnStatus? { try await request(ReadOwnStatus()).status }
}

extension PatientClient {
    /// The bytes of a picture; `nil` if there is none for the caller.
    func picture(
        of holder: PictureHolder, _ id: String, for context: CallerContext = .init()
    ) async throws -> [UInt8]? {
        do throws(CommandFailure) {
            let found = try await client.read(ReadPicture(of: holder, id), timeout: .seconds(60), context: context)
            return found.bytes.map { [UInt8]($0) }
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }
}
