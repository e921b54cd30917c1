import Schemas
import Synchronization

/// What the streams of one credential may carry.
struct StreamRights: Hashable, Sendable {
    let principal: Principal?
    /// The version of the cube that decided it.
    let cube: CubeVersion
    let view: EventView
}

/// Decides what the streams of a caller may carry.
struct EventAccess: Sendable {
    let cube: CubeService
    let credentials: Credentials

    /// The rights of a caller who opens a stream: messages of the subjects that it may send to, if it may read messages.
    ///
    /// - Throws: ``CommandFailure`` if the cube is not known.
    func rights(of principal: Principal?) async throws -> StreamRights {
        let copy = try await cube.current()
        return StreamRights(principal: principal, cube: copy.version, view: EventView(of: principal, in: copy))
    }

    /// The rights of a caller now, as far as the gateway's copies say. Unchanged ones are not determined again.
    func rights(after known: StreamRights) async -> Current {
        guard let hash = known.principal?.hash else { return .ended }
        switch credentials.copy(of: hash) {
        case .known(let credential): return await rights(after: known, with: credential)
        case .unknown: return .ended
        case .ask: return .unchecked
        }
    }

    /// The rights of a caller of whose credential there is no usable copy. While the people service does not answer, the previous ones
    /// count for the grace period, to the end of the credential.
    func requestedRights(after known: StreamRights) async -> Current {
        guard let principal = known.principal else { return .ended }
        do {
            guard let credential = try await credentials.find(principal.hash, within: Self.requestTimeout) else { return .ended }
            return await rights(after: known, with: credential)
        } catch {
            // Use may have postponed the end since.
            let latest = credentials.cache.withLock { $0.copies[principal.hash] } ?? principal.credential
            let hasExpired = latest.expires.map { $0 <= .now } ?? false
            return hasExpired || credentials.usableUntil == nil ? .ended : .are(known)
        }
    }

    private func rights(after known: StreamRights, with credential: Credential) async -> Current {
        guard let hash = known.principal?.hash else { return .ended }
        let principal = Principal(credential, hash: hash)
        // Where even the gateway's copy of the cube is too old, the history is not answered either.
        return (try? await rights(of: principal)).map(Current.are) ?? .ended
    }

    enum Current: Sendable {
        case are(StreamRights)
        /// The streams end.
        case ended
        /// The people service must be asked.
        case unchecked
    }

    private static let requestTimeout: Duration = .seconds(1)
}
