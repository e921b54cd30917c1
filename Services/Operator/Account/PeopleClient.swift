import Schemas

/// Sends commands to the people service.
typealias PeopleClient = ServiceClient

extension PeopleClient {
    /// Whether a credential is valid.
    func knows(_ hash: CredentialHash) async throws(CommandFailure) -> Bool {
        do throws(CommandFailure) {
            _ = try await request(FindCredential(hash: hash))
            return true
        } catch {
            if error.status == .notFound { return false }
            throw error
        }
    }
}
