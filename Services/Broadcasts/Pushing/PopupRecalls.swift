import Bus
import Schemas
import Store
import Synchronization

/// Recalls the pop-ups of earlier versions that still wait in the outbox, such as while FCM is away: otherwise phones would sound for a
/// broadcast that was withdrawn or edited since.
///
/// One that is on its way to FCM at that moment may fail there and wait again, so it is asked for until it has ended.
final class PopupRecalls: Sendable {
    private let store: Storage
    private let messageLog: CommandClient
    private let context: CallerContext
    /// Ids of the broadcasts that have pop-ups to recall; `nil` until they are read from the store.
    private let open = Mutex<Set<Int64>?>(nil)

    init(store: Storage, messageLog: CommandClient, context: CallerContext) {
        self.store = store
        self.messageLog = messageLog
        self.context = context
    }

    /// A broadcast has pop-ups to recall.
    func add(_ id: Int64) { open.withLock { _ = $0?.insert(id) } }

    /// Tries again to recall the pop-ups that were being sent.
    func retry() async throws {
        for id in try await waiting().sorted() {
            guard let stored = try await store.get(id, from: BroadcastStore.all)?.document, stored.lasts > .now,
                let popups = stored.formerPopups
            else {
                open.withLock { _ = $0?.remove(id) }
                continue
            }
            let ended = try await recall(popups)
            guard !ended.isEmpty else { continue }
            let changed = try await store.update(id, in: BroadcastStore.all) { $0.noteRecall(of: ended) }
            if changed.document.formerPopups == nil { open.withLock { _ = $0?.remove(id) } }
        }
    }

    private func waiting() async throws -> Set<Int64> {
        if let known = open.withLock(\.self) { return known }
        // An earlier process may have left some.
        let lasting = try await store.snapshot { try $0.lastingBroadcasts(at: .now) }
        let found = Set(lasting.filter { $0.formerPopups != nil }.map(\.id))
        open.withLock { $0 = found }
        return found
    }

    /// - Returns: Those that have ended: recalled or sent.
    /// - Throws: ``CommandFailure`` if the message log is away.
    func recall(_ pushes: [ObjectID]) async throws -> [ObjectID] {
        var ended: [ObjectID] = []
        for id in pushes {
            if try await hasEnded(id) { ended.append(id) }
        }
        return ended
    }

    private func hasEnded(_ id: ObjectID) async throws(CommandFailure) -> Bool {
        do throws(CommandFailure) {
            _ = try await messageLog.request(RecallPush(pushID: id), context: context)
            return true
        } catch {
            if error.status == .notFound { return true }
            // A relay that hangs delays the message log's answer. A withdrawal must not wait for it.
            if error.status == .deadlineExceeded { return false }
            guard error.status == .conflict else { throw error }
        }
        do throws(CommandFailure) {
            switch try await messageLog.request(GetPush(pushID: id), context: context).relay.state {
            case .relayed, .failed, .expired, .recalled: return true
            default: return false
            }
        } catch {
            guard error.status == .notFound else { throw error }
            return true
        }
    }
}
