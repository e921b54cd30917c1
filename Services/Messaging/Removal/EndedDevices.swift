import Base
import Bus
import Logging
import Schemas
import Store
import Synchronization

/// Forgets devices that were signed out. Messages would wait for them for seven days.
final class EndedDevices: Sendable {
    private struct State {
        /// The accounts, in lower case, that it was asked about.
        var asked = WindowCounts<String>(EndedDevices.period, max: 1)
        /// When the people service has last not answered.
        var failed: ContinuousClock.Instant?

        func isPausing(at now: ContinuousClock.Instant) -> Bool {
            guard let failed else { return false }
            return failed > now - EndedDevices.pause
        }
    }

    private let store: Storage
    private let people: CommandClient
    private let logger: Logger
    private let state = Mutex(State())

    private static let period = Duration.seconds(60)
    /// The removal of other messages waits for the answer, and while there is none, nobody asks for a while.
    private static let timeout = Duration.seconds(2)
    private static let pause = Duration.seconds(5)

    init(store: Storage, people: CommandClient, logger: Logger) {
        self.store = store
        self.people = people
        self.logger = logger
    }

    /// Whether the people service did not answer a moment ago.
    var cannotAsk: Bool { state.withLock { $0.isPausing(at: .now) } }

    /// Asks the people service about the devices of a person, about once a minute at most.
    ///
    /// - Returns: Whether one of them was forgotten.
    func forget(_ devices: [MessagingDeviceDocument], of account: AccountName) async -> Bool {
        guard mayAsk(about: account) else { return false }
        do {
            let known = try await known(of: account)
            let ended = devices.map(\.id).filter { !known.contains($0) }
            guard !ended.isEmpty else { return false }
            try await store.transaction { try $0.delete(ended, from: MessagingStore.devices) }
            return true
        } catch {
            // The devices may be there. A later look asks again.
            state.withLock { $0.failed = ContinuousClock.now }
            logger.debug("devices may have ended", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func known(of account: AccountName) async throws(CommandFailure) -> Set<ObjectID> {
        do throws(CommandFailure) {
            return Set(try await people.request(ListDevices(account), timeout: Self.timeout).devices.map(\.id))
        } catch {
            // The account was removed.
            guard error.status == .notFound else { throw error }
            return []
        }
    }

    private func mayAsk(about account: AccountName) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard !state.isPausing(at: now), state.asked.wait(of: account.key, now: now) <= .zero else { return false }
            state.asked.count(account.key, now: now)
            return true
        }
    }
}
