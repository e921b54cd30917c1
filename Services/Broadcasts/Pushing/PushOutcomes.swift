import CommandBus
import Schemas

/// What became of the last push of a broadcast: the message log knows it.
struct PushOutcomes: Sendable {
    let messageLog: CommandClient

    /// The answer about a broadcast waits no longer for the message log.
    private static let timeout = Duration.seconds(1)
    /// A push of several topics is in the worst state of them.
    private static let worstFirst: [RelayState] = [.failed, .expired, .recalled, .retrying, .held, .pending, .relayed]

    /// The broadcast with the outcome, for an answer.
    func add(to stored: StoredBroadcast) async -> Broadcast {
        var broadcast = stored.broadcast
        guard broadcast.pushed != nil else { return broadcast }
        guard broadcast.pushed?.failed == nil else {
            broadcast.pushed?.state = .failed
            return broadcast
        }
        let pushes = await pushes(stored.lastPushes ?? [])
        broadcast.pushed?.state = Self.worstFirst.first { state in pushes.contains { $0.relay.state == state } }
        let error = pushes.flatMap(\.relay.recipients).first { $0.state != .accepted && $0.error != nil }?.error
        broadcast.pushed?.failed = error.map { "\($0.code): \($0.message)" }
        return broadcast
    }

    /// Those that the message log still has; none if it does not answer.
    private func pushes(_ ids: [ObjectID]) async -> [Push] {
        var pushes: [Push] = []
        for id in ids {
            do throws(CommandFailure) {
                pushes.append(try await messageLog.request(GetPush(pushID: id), timeout: Self.timeout))
            } catch {
                guard error.status == .notFound else { return [] }
            }
        }
        return pushes
    }
}
